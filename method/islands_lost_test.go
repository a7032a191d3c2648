package method

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// relus is newJob with a network whose gradients grow with its weights, so that too long a step has no bound.
func relus(t testing.TB, threads int) *Job {
	t.Helper()
	j := newJob(t, threads)
	var err error
	if j.Net, err = nn.New([]int{5}, []nn.Layer{nn.Dense{Units: 8}, nn.ReLU, nn.Dense{Units: 8}, nn.ReLU, nn.Dense{Units: 3}}, nn.Categorical{}); err != nil {
		t.Fatal(err)
	}
	j.Prior = prior(t, j.Net, 0.5)
	if j.Model, err = nn.NewTraining(j.Net, j.Data, j.Pool); err != nil {
		t.Fatal(err)
	}
	return j
}

// losing are chains whose step is too long for some of them, on relus.
func losing(chains, epochs int, step float64) MCMC {
	return MCMC{
		Chains: chains, Start: "prior", Epochs: epochs, Keep: 2 * chains, Move: mcmc.SGHMC{Batch: 20, Step: step},
	}.Settle(Around{}, unheard()).(MCMC)
}

// losingIslands are islands of which one loses all its particles in its seventh and last iteration, and two more in an eighth. They keep
// states before, and a stopping rule judges them.
func losingIslands(iterations int) SMC {
	return SMC{
		Particles: 2, Islands: 4, Move: mcmc.Unadjusted{Steps: 10, Step: 0.14}, Path: smc.Schedule[smc.Full]{Iterations: iterations},
		Keep: smc.After{Iterations: 1}, Stop: Patience(50),
	}.Settle(Around{Judged: true}, unheard()).(SMC)
}

// one and most are runs of four of which one, and three, are lost.
var one, most = []Method{losing(4, 24, 0.016), losingIslands(7)}, []Method{losing(4, 60, 0.01), losingIslands(8)}

// A chain that diverges is left out: all that is said of the run is what is said of the others, which are those of a run without it.
func TestChainsLeftOut(t *testing.T) {
	out, want := do(t, relus(t, 2), losing(4, 24, 0.016)), do(t, relus(t, 2), losing(3, 24, 0.016))
	lost := finding.IslandsLost{Unit: "chain", Islands: finding.Numbered([]int{3}), Of: 4, Step: "method.mcmc.move.sghmc.step"}
	if !slices.EqualFunc(out.Findings, append([]finding.Finding{finding.Of(lost)}, want.Findings...), finding.Finding.Equal) {
		t.Errorf("found\n%s\nof the others\n%s", words(out.Findings), words(want.Findings))
	}
	if !slices.Equal(out.Posterior.Theta, want.Posterior.Theta) || len(out.Posterior.LogEvidence) != 3 || !slices.Equal(out.Posterior.LogWeights, want.Posterior.LogWeights) {
		t.Error("the posterior is not that of the other chains")
	}
	if d := cmp.Diff(want.Chains, out.Chains); d != "" {
		t.Errorf("the record of the chains (-want +got): %s", d)
	}
	for i := range out.Trace {
		out.Trace[i].Seconds = want.Trace[i].Seconds
	}
	if len(out.Trace) != len(want.Trace) || Islands(out.Trace) != 3 || marshalled(t, out.Trace) != marshalled(t, want.Trace) {
		t.Error("the trace is not that of the other chains")
	}
}

func marshalled(t *testing.T, trace []TraceLine) string {
	t.Helper()
	b, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// So is an island whose particles are all dead. The first chain of several is left out as the last is: numbers are those of the trace.
func TestIslandsLeftOut(t *testing.T) {
	out := do(t, relus(t, 1), one[1])
	said := words(out.Findings)
	if !strings.Contains(said, "island 2 (of 4) diverged and was left out. Take a smaller step (method.smc.move.leapfrog.step)") || Islands(out.Trace) != 3 ||
		len(out.Posterior.LogEvidence) != 3 || out.Posterior.Size() != 3*6*2 {
		t.Errorf("%d islands, %d networks: %s", len(out.Posterior.LogEvidence), out.Posterior.Size(), said)
	}
	if slices.ContainsFunc(out.Trace, func(l TraceLine) bool { return l.Island == 2 || l.Lost != "" }) {
		t.Error("the trace has lines of the island that was lost")
	}
	for _, c := range []struct {
		epochs int
		step   float64
		want   string
	}{
		{40, 0.008, "chain 0 (of 4) diverged and was left out"}, {60, 0.008, "chains 0 and 2 (of 4) diverged and were left out"},
	} {
		if said := words(do(t, relus(t, 1), losing(4, c.epochs, c.step)).Findings); !strings.Contains(said, c.want) {
			t.Errorf("step %v: %s", c.step, said)
		}
	}
}

// Chains that end far from the others have the numbers of the trace, whichever were lost before them.
func TestOutlyingAmongTheRemaining(t *testing.T) {
	var trace []TraceLine
	for _, c := range []int{0, 2, 3, 4, 5} {
		l := TraceLine{}
		l.Island, l.K, l.Mutations, l.Progress, l.Displacement, l.LogLikelihood = c, 1, 1, 1, 1, -10
		if c == 4 {
			l.LogLikelihood = -1e6
		}
		trace = append(trace, l)
	}
	found := losing(6, 24, 0.016).Sampling().Findings(trace, &bnn.Ensemble{LogWeights: []float64{0}}, 60)
	if !has(found, "chains-outlying") || !strings.Contains(words(found), "chain 4") {
		t.Error(words(found))
	}
}

// Where fewer than half remain, the run ends with an error that counts them, and says what to do and what became of the first.
func TestTooManyLost(t *testing.T) {
	for i, c := range []struct {
		m    Method
		want string
	}{
		{most[0], "3 of the 4 chains were lost, and at least half must remain: take a smaller step (method.mcmc.move.sghmc.step). The first of them: chain 1, iteration 60: SGHMC diverged in epoch 60: particle 0 ends at"},
		{most[1], "3 of the 4 islands were lost, and at least half must remain: take a smaller step (method.smc.move.leapfrog.step). The first of them: island 1, iteration 8: all 2 particles are dead"},
		{losing(1, 40, 0.05), "the only chain was lost: take a smaller step (method.mcmc.move.sghmc.step). chain 0, iteration 8: SGHMC diverged in epoch 8"},
	} {
		for threads := range 2 {
			if _, err := relus(t, threads+1).Do(t.Context(), c.m); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%d: %v, want %s", i, err, c.want)
			}
		}
	}
}

// A lost island is a state like any other: restored from its bytes after any step, it ends with the same ones, on any number of threads. Its
// last line of the trace says why, and what it took is that of the state that it keeps.
func TestLostIsAState(t *testing.T) {
	for n, m := range slices.Concat(one, most) {
		part := func(threads, i int) *island {
			phases, err := m.Phases(relus(t, threads))
			if err != nil {
				t.Fatal(err)
			}
			return phases[0].Parts[i].(*island)
		}
		lost := 0
		for i := range 4 {
			p := part(2, i)
			var saved [][]byte
			var last runs.Line
			for !p.Done() {
				var err error
				if last, err = p.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
				saved = append(saved, packed(t, p))
			}
			if p.K() != len(saved) || last.Progress != 1 {
				t.Errorf("%s: part %d counts %d steps of %d, at progress %v", m.Title(), i, p.K(), len(saved), last.Progress)
			}
			why := last.Fields.(Iteration).Lost
			if (why == "") != (p.lost == nil) {
				t.Errorf("%s: part %d ends with %q", m.Title(), i, why)
			}
			if p.lost == nil {
				continue
			}
			lost++
			end, work := saved[len(saved)-1], p.spent()
			if steps := len(saved) - 1; work.Validation != steps*p.state.J*30 || steps > 0 && work.Gradients == 0 {
				t.Errorf("%s: part %d took %+v in %d steps", m.Title(), i, work, steps)
			}
			for k := 0; k < len(saved); k += 1 + k/2 {
				again := part(1, i)
				if got, err := runs.RunPart(t.Context(), again, saved[k]); err != nil || !bytes.Equal(got, end) || again.lost.Why != why {
					t.Errorf("%s: part %d, resumed after step %d, ends otherwise: %v", m.Title(), i, k+1, err)
				}
			}
			if p.state.Kept != nil { // files of what it kept are checked with those of the others
				p.state.Unload([32]byte{7})
				if sums := StoredSums(packed(t, p)); len(sums) != 1 || sums[0] != [32]byte{7} {
					t.Errorf("%s: part %d counts files of sums %x", m.Title(), i, sums)
				}
			}
			again := part(1, i)
			if err := again.UnmarshalBinary(end); err != nil || !again.Done() || again.K() != len(saved) || again.spent() != work || !bytes.Equal(packed(t, again), end) {
				t.Errorf("%s: restored: %v, done %v after %d steps", m.Title(), err, again.Done(), again.K())
			}
			for _, cut := range []int{4, 8, 40, len(end) / 2, len(end) - 1} {
				if part(1, i).UnmarshalBinary(end[:cut]) == nil {
					t.Errorf("%d bytes of %d are taken for an island", cut, len(end))
				}
			}
		}
		if want := 1 + n/2*2; lost != want {
			t.Errorf("%s: %d were lost, want %d", m.Title(), lost, want)
		}
	}
}
