package method

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// Of the linear regressions of tests: the sd of the noise, and the prior variance of each weight.
const (
	noiseSD       = 0.5
	priorVariance = 4.0
)

// linearJob is a job on n examples of regression, whose evidence has a closed form.
func linearJob(t *testing.T, n int) *Job {
	t.Helper()
	net := linear(t, nn.Gaussian{SD: noiseSD})
	j := &Job{Seed: 3, Net: net, Pool: pool.New(2), Run: without(t), Data: &data.Problem{Name: "linear", Train: regression(n)}, Prior: prior(t, net, priorVariance)}
	var err error
	if j.Model, err = nn.NewTraining(net, j.Data, j.Pool); err != nil {
		t.Fatal(err)
	}
	return j
}

// linearEvidence is log ∫ N(y; Xθ, s² I) N(θ; 0, v I) dθ. With A = XᵀX/s² + I/v and b = Xᵀy/s² it is
// −½ (n log 2πs² + d log v + log det A + yᵀy/s² − bᵀA⁻¹b).
func linearEvidence(set *data.Set) float64 {
	const s2 = noiseSD * noiseSD
	d, n := set.Shape[0], len(set.Values)
	a, b, y2 := make([]float64, d*d), make([]float64, d), 0.0
	for i, y := range set.Values {
		x := set.F32[i*d : (i+1)*d]
		for k := range d {
			for l := range d {
				a[k*d+l] += float64(x[k]) * float64(x[l]) / s2
			}
			b[k] += float64(x[k]) * float64(y) / s2
		}
		y2 += float64(y) * float64(y) / s2
	}
	for k := range d {
		a[k*d+k] += 1 / priorVariance
	}
	dense.Cholesky(a, d)
	x := slices.Clone(b)
	dense.Solve(a, x)
	fit := 0.0
	for k := range d {
		fit += b[k] * x[k]
	}
	return -0.5 * (float64(n)*math.Log(2*math.Pi*s2) + float64(d)*math.Log(priorVariance) + dense.LogDet(a, d) + y2 - fit)
}

// piloted are islands after a pilot. Their move is fixed.
func piloted(islands, particles int) SMC {
	return SMC{
		Particles: particles, Islands: islands, Pilot: true, Move: mcmc.HMC{Steps: 3, Step: 0.15, Mutations: mcmc.Mutations{Count: 2}},
	}.Settle(Around{}, unheard()).(SMC)
}

// temperatures are those of each island.
func temperatures(trace []TraceLine) (all [][]float64) {
	for _, lines := range byIsland(trace) {
		var one []float64
		for _, l := range lines {
			one = append(one, l.Lambda)
		}
		all = append(all, one)
	}
	return all
}

// All islands follow the temperatures of the pilot, which are those that an island of its own seed chooses. No island has the pilot's
// random numbers.
func TestIslandsFollowThePilot(t *testing.T) {
	m := piloted(3, 20)
	job := linearJob(t, 30)
	phases, err := m.Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	p := phases[0].Parts[0].(*pilot)
	out := do(t, linearJob(t, 30), m)
	followed := temperatures(out.Trace)
	for i, one := range followed {
		if !slices.Equal(one, followed[0]) || one[len(one)-1] != 1 {
			t.Errorf("island %d is at the temperatures %v, island 0 at %v", i, one, followed[0])
		}
	}
	m.Pilot, m.Islands = false, 1
	itself := linearJob(t, 30)
	itself.Seed = p.sampler.Seed
	if chosen := temperatures(do(t, itself, m).Trace)[0]; !slices.Equal(chosen, followed[0]) {
		t.Errorf("the islands follow %v, and the pilot chooses %v", followed[0], chosen)
	}
	without := do(t, linearJob(t, 30), m)
	if own := temperatures(without.Trace)[0]; slices.Equal(own, followed[0]) {
		t.Error("island 0 chooses the temperatures of the pilot: they have the same random numbers")
	}
	if names := []string{out.Cost.Phases[0].Name, out.Cost.Phases[1].Name}; names[0] != "pilot" || names[1] != "islands" ||
		!(out.Cost.Phases[0].Gradients > 0) || out.Cost.Gradients != out.Cost.Phases[0].Gradients+out.Cost.Phases[1].Gradients {
		t.Errorf("the cost is %+v", out.Cost)
	}
}

// A pilot by itself, stopped after any number of steps and resumed, ends with the same bytes, and puts the islands on the same ladder.
func TestPilotResumes(t *testing.T) {
	phases := func() (runs.Part, []*smc.Sampler) {
		all, err := piloted(2, 6).Phases(linearJob(t, 30))
		if err != nil {
			t.Fatal(err)
		}
		p := all[0].Parts[0].(*pilot)
		return p, p.followers
	}
	whole, _ := phases()
	if _, err := whole.WriteTo(new(bytes.Buffer)); err == nil {
		t.Error("a pilot that has not begun is written")
	}
	want, err := runs.RunPart(t.Context(), whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	ladder := whole.(*pilot).followers[1].Path
	if err := config.Check(ladder); err != nil {
		t.Errorf("the islands cannot follow the pilot: %v", err)
	}
	for k := 1; k <= whole.K(); k++ {
		begun, _ := phases()
		for range k {
			if _, err := begun.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		resumed, followers := phases()
		got, err := runs.RunPart(t.Context(), resumed, packed(t, begun))
		if err != nil || !bytes.Equal(got, want) || resumed.(*pilot).work != whole.(*pilot).work {
			t.Errorf("resumed after %d of %d steps, the pilot ends with other bytes: %v", k, whole.K(), err)
		}
		for _, s := range followers {
			if !reflect.DeepEqual(s.Path, ladder) {
				t.Errorf("resumed after %d of %d steps, the islands follow %+v, not %+v", k, whole.K(), s.Path, ladder)
			}
		}
	}
	for _, damaged := range [][]byte{nil, []byte("STARLING"), want[:len(want)-1]} {
		if other, _ := phases(); other.UnmarshalBinary(damaged) == nil {
			t.Errorf("took %d damaged bytes for a pilot", len(damaged))
		}
	}
}

// On the temperatures of a pilot, with a fixed move, Z is unbiased for any number of particles: its mean over 500 islands is the exact
// one. log Z is nearly normal, of standard deviation s, so that the mean is tested by mean log Z + s²/2, whose standard error is
// s √((1 + s²/2)/n), .05 with 24 particles. It fails once in 1e6 seeds, by a normal bound. Errors of half a nat are found for sure, as a step of
// the ladder that is not weighted. Such islands have no bias by their ladder, and say so.
func TestEvidenceAfterAPilot(t *testing.T) {
	testkit.Statistics(t)
	exact := linearEvidence(regression(30))
	out := do(t, linearJob(t, 30), piloted(500, 24))
	logZ := out.Posterior.LogEvidence
	mean, square, n := uq.Mean(logZ), 0.0, float64(len(logZ))
	for _, l := range logZ {
		square += (l - mean) * (l - mean) / (n - 1)
	}
	off := mean + square/2 - exact
	bound := 4.9 * math.Sqrt(square*(1+square/2)/n)
	if !(math.Abs(off) <= bound) {
		t.Errorf("the logarithm of the mean of Z is off by %v, more than %v", off, bound)
	}
	if !(2*bound <= 0.5) {
		t.Errorf("an error of %v of log Z would be found: the test is too weak", 2*bound)
	}
	m := piloted(500, 24)
	for i, bias := range m.Sampling().Precision(out.Trace).Ladder {
		if bias != 0 {
			t.Fatalf("island %d states a bias of %v by its ladder, want 0", i, bias)
		}
	}
}

// What a pilot cannot be for.
func TestPilotIsRefused(t *testing.T) {
	full := smc.Schedule[smc.Full]{Iterations: 3}
	for want, c := range map[string]struct {
		m      SMC
		around Around
	}{
		"": {SMC{Pilot: true}, Around{}},
		"method.smc.pilot: a pilot chooses the temperatures of path tempering, and path full has none to choose: leave pilot out":   {SMC{Pilot: true, Path: full}, Around{}},
		"method.smc.pilot: a pilot chooses the temperatures of path tempering, and path ladder has none to choose: leave pilot out": {SMC{Pilot: true, Path: smc.Ladder{Temperatures: []float64{1}}}, Around{}},
		"method.smc.pilot: a pilot goes from the prior to the posterior, and start init begins elsewhere: leave pilot out":          {SMC{Pilot: true}, Around{Init: true}},
	} {
		m := c.m.Settle(c.around, unheard()).(SMC)
		said := faults(func(f *config.Faults) { m.Settle(c.around, f) })
		if strings.Join(said, "\n") != want {
			t.Errorf("%s, %+v: %q, want %q", m.Title(), c.around, said, want)
		}
	}
}
