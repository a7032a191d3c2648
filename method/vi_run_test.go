package method

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Saved and restored after any epoch, and on any number of threads, an approximation ends with the same bytes.
func TestVIResumes(t *testing.T) {
	early := false
	for name, role := range roles {
		for _, keep := range []string{KeepMean, KeepValidation} {
			fresh := func(threads int) *variational {
				return approximated(t, partly(t, threads, role), VI{Epochs: 8, Batch: 7, Rate: 0.8, Keep: keep})
			}
			whole := fresh(1)
			want, err := runs.RunPart(t.Context(), whole, nil)
			if err != nil {
				t.Fatal(err)
			}
			early = early || keep == KeepValidation && whole.Watch.BestAt < 8
			v := fresh(3)
			for !v.Done() {
				if _, err := v.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
				again := fresh(2)
				if err := again.UnmarshalBinary(packed(t, v)); err != nil {
					t.Fatal(err)
				}
				for !again.Done() {
					if _, err := again.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if !bytes.Equal(packed(t, again), want) || !slices.Equal(again.kept(), whole.kept()) || again.Rise != whole.Rise {
					t.Fatalf("%s, %s: restored after epoch %d, it ends with another state", name, keep, v.K())
				}
			}
			other := approximated(t, partly(t, 1, role), VI{Epochs: 4, Keep: keep})
			if err := other.UnmarshalBinary(want); err == nil || !strings.Contains(err.Error(), "8 epochs, at most 4") {
				t.Errorf("%s: takes a state of more epochs: %v", name, err)
			}
		}
	}
	if !early {
		t.Error("the best epoch is always the last")
	}
	first, last := roles["first"], roles["last"]
	v := approximated(t, partly(t, 1, first), VI{Epochs: 5})
	if _, err := v.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := approximated(t, partly(t, 1, last), VI{Epochs: 5}).UnmarshalBinary(packed(t, v)); err == nil || !strings.Contains(err.Error(), "that of the network has") {
		t.Errorf("takes a state of another network: %v", err)
	}
}

// If validation chooses, the ensemble is drawn at the epoch of lowest validation NLL, with m, ρ and ψ of that epoch: with as many draws
// as judge an epoch it has the NLL of the trace's best line. The run says so.
func TestVIKeepsTheBest(t *testing.T) {
	for name, role := range roles {
		job := partly(t, 2, role)
		m := VI{Epochs: 12, Batch: 20, Rate: 0.15, Draws: judgedBy, Keep: KeepValidation}
		out := do(t, job, m)
		best, last := math.Inf(1), out.Trace[len(out.Trace)-1]
		at := 0
		for i, l := range out.Trace {
			if nll := float64(*l.ValNLL); nll < best {
				best, at = nll, i+1
			}
		}
		got, accuracy, err := eval.Validation(t.Context(), out.Posterior, job.Data.Validate, job.Data, job.Pool)
		if err != nil {
			t.Fatal(err)
		}
		if at == len(out.Trace) || float64(got) != best || *accuracy != *out.Trace[at-1].ValAccuracy || last.Epochs != 12 || last.Progress != 1 {
			t.Errorf("%s: NLL %v, best of the trace %v in epoch %d", name, got, best, at)
		}
		if work := out.Cost.Phases[0].Work; work.Gradients != 12*60 || work.Validation != 12*30*judgedBy || last.Gradients != 12*60 {
			t.Errorf("%s: %+v", name, work)
		}
		if found := kinds(out.Findings); !slices.Equal(found, []string{"chosen-by-validation", "mean-field"}) {
			t.Errorf("%s: finds %q", name, found)
		}
	}
}

// By default the ensemble is drawn at the mean of m, ρ and ψ over the last quarter of the steps, whether there are validation examples
// or not, and the quarter before is that which the end is compared with. Three steps an epoch make quarters that begin within epochs.
func TestVIKeepsTheMean(t *testing.T) {
	for name, role := range roles {
		for _, epochs := range []int{1, 2, 14} {
			job := partly(t, 2, role)
			m := VI{Rate: 0.15, Epochs: epochs, Batch: 20, Draws: 5, Keep: KeepMean}
			v := approximated(t, job, m)
			for !v.Done() {
				if _, err := v.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			all := steps(t, partly(t, 1, role), m)
			n := max(1, len(all)/4)
			wantNear(t, name+": the last quarter", v.Last, meanOfAll(all[len(all)-n:]), 1e-12)
			wantNear(t, name+": the third quarter", v.Third, meanOfAll(all[len(all)-2*n:len(all)-n]), 1e-12)
			want, err := v.ensemble(v.Last, 5)
			if err != nil {
				t.Fatal(err)
			}
			for _, judged := range []bool{true, false} {
				job := partly(t, 1, role)
				if !judged {
					job.Data.Validate = nil
				}
				if got := do(t, job, m).Posterior; !slices.Equal(got.Theta, want.Theta) || !slices.Equal(got.Shared, want.Shared) {
					t.Errorf("%s, with validation examples %v: the ensemble is not drawn at the mean", name, judged)
				}
			}
		}
	}
}

// steps are m, ρ and ψ after each step, by gradients and steps of Adam one after another.
func steps(t testing.TB, job *Job, m VI) (all [][]float64) {
	t.Helper()
	v := approximated(t, job, m)
	v.At, v.work = slices.Clone(v.first), v.newEstimate()
	for epoch := range m.Epochs {
		v.key(rng.Batch, epoch+1, job.Seed).Stream().Perm(v.work.order)
		for rows := range data.Batches(v.work.order, m.Batch) {
			v.key(rng.Proposal, len(all), job.Seed).Stream().Normals(v.work.xi)
			if err := v.gradient(t.Context(), rows); err != nil {
				t.Fatal(err)
			}
			nn.Adam{}.Step(&v.Moments, v.At, v.work.of, m.Rate)
			all = append(all, slices.Clone(v.At))
		}
	}
	return all
}

func meanOfAll(all [][]float64) []float64 {
	mean := make([]float64, len(all[0]))
	for _, at := range all {
		for i, x := range at {
			mean[i] += x / float64(len(all))
		}
	}
	return mean
}

// Draws have the means and spreads of q: of 400 draws of each parameter, a mean beyond 6 standard errors, or a spread beyond 6 of
// its own, happens by chance once in 1e6 seeds for all 75.
func TestVIDraws(t *testing.T) {
	const draws = 400
	job := newJob(t, 1)
	v := approximated(t, job, VI{Draws: draws})
	d := job.Net.Dim()
	at := slices.Clone(v.first)
	for i := range d {
		at[i], at[d+i] = math.Sin(float64(i)), unsoftplus(0.1+0.01*float64(i))
	}
	e, err := v.ensemble(at, draws)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		mean, square, sigma := 0.0, 0.0, 0.1+0.01*float64(i)
		for k := range draws {
			z := (float64(e.Theta[k*d+i]) - at[i]) / sigma
			mean, square = mean+z/draws, square+z*z/draws
		}
		if !(math.Abs(mean) <= 6/math.Sqrt(draws)) || !(math.Abs(square-1) <= 6*math.Sqrt(2./draws)) {
			t.Errorf("parameter %d: mean %v, square %v of standard normals", i, mean, square)
		}
	}
}

// The ELBO of a line is the log-likelihood of the epoch's batches less the divergence; and what is learned raises it.
func TestVITrace(t *testing.T) {
	job := partly(t, 1, roles["first"])
	v := approximated(t, job, VI{Epochs: 40, Batch: 60, Rate: 1e-9})
	line, err := v.Step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	random, shared := job.Net.Split(v.work.theta) // the network of the only step
	ll := make([]float64, 1)
	if err := job.Model.At(shared).LogLik(t.Context(), nil, random, ll, nil); err != nil {
		t.Fatal(err)
	}
	first := float64(line.Fields.(variationalLine).ELBO)
	wantNear(t, "ELBO", []float64{first}, []float64{ll[0] - v.divergence(v.At)}, 1e-3)
	v = approximated(t, job, VI{Epochs: 60, Batch: 20})
	for !v.Done() {
		if line, err = v.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if elbo := float64(line.Fields.(variationalLine).ELBO); !(elbo > first+50) {
		t.Errorf("ELBO %v in the first epoch, %v in the last", first, elbo)
	}
}

// A rate that is too large ends with the epoch and the parameter that is no longer finite, and the state is that of the epoch before.
func TestVIDiverges(t *testing.T) {
	job := partly(t, 1, roles["first"])
	for _, c := range []struct {
		broken int // place of what becomes NaN: m, ρ, ψ
		want   string
	}{
		{1, "VI, epoch 2: the mean of 0.weight[0, 1] is NaN; try a rate below 0.01"},
		{job.Net.Dim() + 2, "VI, epoch 2: the spread of 0.weight[0, 2] is NaN; try a rate below 0.01"},
		{2*job.Net.Dim() + 8, "VI, epoch 2: 2.weight[1, 0] is NaN; try a rate below 0.01"},
	} {
		v := approximated(t, job, VI{Epochs: 9})
		if _, err := v.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		was := packed(t, v)
		v.Moments.First[c.broken] = math.NaN()
		broken := packed(t, v)
		if _, err := v.Step(t.Context()); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if !bytes.Equal(packed(t, v), broken) || bytes.Equal(broken, was) {
			t.Errorf("%s: the state is another one", c.want)
		}
	}
	// The parameters are finite, but not where the network has them, in float32.
	v := approximated(t, job, VI{Epochs: 9, Rate: 1e300})
	if _, err := v.Step(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "VI, epoch 1: the mean of 0.weight[0, 0] is ") ||
		!strings.HasSuffix(err.Error(), "e+299; try a rate below 1e+300") || v.K() != 0 {
		t.Errorf("rate 1e300: %v", err)
	}
	v.At = make([]float64, len(v.first))
	if err := v.broken(); err.Error() != "the ELBO is not finite, but all parameters are; try a rate below 1e+300" {
		t.Errorf("finite parameters: %v", err)
	}
}

// A prior that is not normal, and settings that make no sense, are refused.
func TestVIRefuses(t *testing.T) {
	job := newJob(t, 1)
	job.Prior = struct{ mcmc.Prior }{job.Prior}
	if _, err := (VI{Epochs: 1, Batch: 1}).Phases(job); err == nil || !strings.Contains(err.Error(), "want prior: {normal: {variance: 1}}") {
		t.Errorf("another prior: %v", err)
	}
	nan := math.NaN()
	for _, c := range []struct {
		m    VI
		want string
	}{
		{VI{0, 1, 1, 1, KeepMean}, "rate: want a number above 0"}, {VI{-1, 1, 1, 1, KeepMean}, "rate: want a number above 0"},
		{VI{nan, 1, 1, 1, KeepMean}, "rate: want a number above 0"}, {VI{1, -1, 1, 1, KeepMean}, "epochs: want at least 1"},
		{VI{1, 1, 0, 1, KeepMean}, "batch: want at least 1"}, {VI{1, 1, 1, 0, KeepMean}, "draws: want at least 1"},
		{VI{1, 0, 1, 1, "best"}, "keep: unknown name \"best\""},
	} {
		if said := faults(func(f *config.Faults) { c.m.Check(f) }); len(said) != 1 || !strings.Contains(said[0], c.want) {
			t.Errorf("%+v: %q, want %q", c.m, said, c.want)
		}
	}
}
