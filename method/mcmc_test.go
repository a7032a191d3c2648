package method

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// chains are such that each epoch is one move.
func chains(n, epochs int, step float64) MCMC {
	return MCMC{Chains: n, Start: "prior", Epochs: epochs, Keep: KeepLast, Move: mcmc.HMC{Steps: 1, Step: step}}
}

// Steps that are far too long are never accepted, and the findings say which chains they are;
// ones that are far too short lead nowhere; others are no trouble.
func TestStuckChains(t *testing.T) {
	found := do(t, newJob(t, 2), chains(2, 20, 1000)).Findings
	if got := sentences(found); !slices.Equal(kinds(found), []string{"chains-end", "chain-stuck", "chains-diverged"}) ||
		!strings.Contains(got, "The run failed, as chains 0 and 1 are stuck: they accepted at most 0.00") {
		t.Errorf("chains that cannot move: %q", got)
	}
	if found := do(t, newJob(t, 2), chains(2, 20, 1e-4)).Findings; !slices.Equal(kinds(found), []string{"chains-end", "chains-still"}) {
		t.Errorf("chains that hardly move: %q", words(found))
	}
	if found := do(t, newJob(t, 2), chains(2, 20, 1e-2)).Findings; !slices.Equal(kinds(found), []string{"chains-end"}) {
		t.Errorf("chains that move: %q", words(found))
	}
}

// A chain that accepted well until its step was frozen, and not after, is stuck; the other way round it is not. A tenth is
// enough. What would mend it depends on whether the step is written.
func TestStuckInTheSecondHalf(t *testing.T) {
	m := chains(3, 20, 0.1)
	var trace []TraceLine
	for c, acceptance := range [][]float64{{1, 1, 0.0625, 0.0625}, {0, 0, 1, 1}, {0, 0, 0.05, 0.15}} {
		for k, a := range acceptance {
			l := TraceLine{}
			l.Island, l.K, l.Mutations, l.Progress, l.Acceptance, l.Displacement, l.LogLikelihood = c, k+1, 1, float64(k+1)/4, numeral.Number(a), 1, numeral.Number(-10*(c+1))
			trace = append(trace, l)
		}
	}
	for step, mend := range map[float64]string{0.1: ". Take a smaller step (", 0: ". Take a higher accept, as 0.9"} {
		m.Move = mcmc.HMC{Steps: 1, Step: step}
		want := []finding.Finding{
			finding.Of(finding.ChainsEnd{Chains: 3, Lowest: -30, Highest: -10, Least: finding.Known(0.0625), Most: finding.Known(1)}),
			finding.Of(finding.ChainStuck{Chains: finding.Numbered([]int{0}), Acceptance: 0.0625, Step: "method.mcmc.move.hmc.step", Adapted: step == 0, Aim: m.Move.Traits().Aim}),
		}
		if got := words(m.Sampling().Findings(trace, &bnn.Ensemble{LogWeights: []float64{0}}, 60)); got != words(want) || !strings.Contains(got, mend) {
			t.Errorf("step %v: %q, want %q with %q", step, got, words(want), mend)
		}
	}
}

// A line of many moves weighs as much as its moves.
func TestAcceptanceIsOfMoves(t *testing.T) {
	line := func(moves int, acceptance numeral.Number) (l TraceLine) {
		l.Mutations, l.Acceptance = moves, acceptance
		return l
	}
	if got := acceptance([]TraceLine{line(99, 0), line(1, 1)}); !(math.Abs(got-0.01) < 1e-15) {
		t.Errorf("one move of 100 was accepted: %v", got)
	}
}

// Against the trace: the range over chains of their last log-likelihoods and of their mean acceptance in the second half.
func TestChainsEnd(t *testing.T) {
	m := chains(3, 200, 0)
	m.Move = mcmc.HMC{Steps: 1, Accept: 0.574}
	out := do(t, newJob(t, 1), m)
	of := make([][]TraceLine, 3)
	for _, l := range out.Trace {
		of[l.Island] = append(of[l.Island], l)
	}
	var end, acceptance []float64
	for c := range 3 {
		chain := of[c]
		end = append(end, float64(chain[len(chain)-1].LogLikelihood))
		sum, late := 0.0, 0.0
		for _, l := range chain {
			if l.Epochs > 100 {
				sum, late = sum+float64(l.Acceptance), late+1
			}
		}
		acceptance = append(acceptance, sum/late)
	}
	slices.Sort(end)
	slices.Sort(acceptance)
	want := fmt.Sprintf("log-likelihoods of %s to %s; they accepted %.2f to %.2f of", numeral.Fixed(end[0], 1), numeral.Fixed(end[2], 1), acceptance[0], acceptance[2])
	if !strings.Contains(out.Findings[0].Words(), want) {
		t.Errorf("found %q, want %q", out.Findings[0].Words(), want)
	}
}

// Chains of SGHMC have no acceptance to report: the findings say where they end and that they are biased. They are never stuck, but
// may stand still. The budget pays for gradients alone.
func TestChainsOfSGHMC(t *testing.T) {
	for step, want := range map[float64][]string{1e-3: {"chains-end", "biased"}, 1e-12: {"chains-end", "biased", "chains-still"}} {
		m := chains(2, 6, 0)
		m.Move = mcmc.SGHMC{Batch: 7, Step: step}.ForChains()
		out := do(t, newJob(t, 2), m)
		if got := words(out.Findings); !slices.Equal(kinds(out.Findings), want) || strings.Contains(got, "accepted") ||
			!strings.Contains(got, "SGHMC (batches of 7 examples) has no accept step, so its draws are biased") || !strings.Contains(got, "(method.mcmc.move.sghmc.step)") {
			t.Errorf("step %v: found %q", step, got)
		}
		n := 0
		for _, l := range out.Trace {
			if a := float64(l.Acceptance); a == a || l.Gradients != 60*l.K || l.Values != 60*(l.K+1) || l.Epochs != float64(l.K) {
				t.Errorf("step %v: %+v", step, l)
			}
			n++
		}
		if n != 2*6 {
			t.Errorf("step %v: %d lines", step, n)
		}
	}
}

// States that are kept are shared out over the chains; of the last ones each chain has one. The step of a chain learns in its
// first half, that of islands all along.
func TestSamplersOfChains(t *testing.T) {
	for _, c := range []struct {
		m    MCMC
		keep int
		move mcmc.Move
	}{
		{MCMC{}, 10, mcmc.HMC{Length: mcmc.AutoLength, Accept: 0.75, Jitter: 0.2}},
		{MCMC{Keep: KeepLast, Move: mcmc.PCN{}}, 0, mcmc.PCN{Accept: 0.25}},
		{MCMC{Chains: 3, Keep: 6, Epochs: 70, Start: "prior", Move: mcmc.HMC{Steps: 4, Step: 0.01}}, 2, mcmc.HMC{Steps: 4, Step: 0.01, Jitter: 0.2}},
	} {
		m := c.m.Settle(Around{}, unheard()).(MCMC)
		job := newJob(t, 1)
		job.Search = &Search{Restarts: 8, Rate: 0.1, Batch: 60, Epochs: 1}
		job.Search.Complete(0, true, nil)
		if err := job.search(t.Context(), newOutcome()); err != nil {
			t.Fatal(err)
		}
		phases, err := m.Phases(job)
		if err != nil {
			t.Fatal(err)
		}
		if len(phases) != 1 || len(phases[0].Parts) != m.Chains {
			t.Fatalf("%d phases", len(phases))
		}
		for i, part := range phases[0].Parts {
			s := part.(*island).sampler
			want := smc.Sampler{Path: smc.Fixed{Epochs: m.Epochs}, Particles: 1, Keep: smc.Spread{States: c.keep}, Seed: job.Seed, Island: i}
			if c.keep == 0 {
				want.Keep = nil
			}
			if s.Path != want.Path || s.Particles != 1 || s.Keep != want.Keep || s.Seed != job.Seed || s.Island != i || s.Weighting != nil || s.Resample.When != (smc.Never{}) {
				t.Errorf("%s: chain %d is %+v", m.Title(), i, s)
			}
			if fmt.Sprintf("%#v", s.Move) != fmt.Sprintf("%#v", c.move) {
				t.Errorf("%s: move %#v, want %#v", m.Title(), s.Move, c.move)
			}
		}
	}
}

// Where chains are to begin: chain c at restart c, at draws of the prior that differ, or at the trained network. With steps
// that hardly move they stay there.
func TestChainsStart(t *testing.T) {
	m := chains(3, 2, 1e-9)
	m.Start = "map"
	job := newJob(t, 2).provide(m)
	out := do(t, job, m)
	d := job.Net.Dim()
	for i, x := range out.Posterior.Theta {
		if !(math.Abs(float64(x)-job.Points.Theta[i]) <= 1e-5) {
			t.Fatalf("parameter %d of the chains is %v, of the restarts %v", i, x, job.Points.Theta[i])
		}
	}
	m.Start = "prior"
	drawn := do(t, newJob(t, 2), m).Posterior.Theta
	for i := range d {
		if drawn[i] == out.Posterior.Theta[i] || drawn[i] == drawn[d+i] {
			t.Fatalf("parameter %d of chain 0 is that of restart 0 or of chain 1", i)
		}
	}
	m.Start = "init"
	job = newJob(t, 2).provide(m)
	if out := do(t, job, m); out.Posterior.Size() != 3 || !(away(out.Posterior, job.Init) <= 1e-6) {
		t.Errorf("%d states, %v from the network", out.Posterior.Size(), away(out.Posterior, job.Init))
	}
}

// A run fails where more than half of its chains did not leave their place in the second half, whether their moves were refused or led
// nowhere. A chain that moves by few moves is stuck, and the run does not fail; nor does one whose chains make too few moves to tell.
func TestChainsThatNeverMovedFail(t *testing.T) {
	type chain struct{ acceptance, displacement float64 }
	moving, slow, refused, still := chain{1, 1}, chain{0.05, 1}, chain{0, 0}, chain{1, 1e-5}
	for _, c := range []struct {
		chains []chain
		failed bool
	}{
		{[]chain{refused, refused}, true}, {[]chain{still, still}, true}, {[]chain{refused, still, moving}, true},
		{[]chain{refused, moving}, false}, {[]chain{still, moving}, false}, {[]chain{slow, slow}, false}, {[]chain{slow, refused}, false},
	} {
		m := chains(len(c.chains), 20, 0.1)
		m.Move = mcmc.HMC{Steps: 1, Step: 0.1}
		var trace []TraceLine
		for i, chain := range c.chains {
			for k := range 4 {
				l := TraceLine{}
				l.Island, l.K, l.Mutations, l.Progress, l.LogLikelihood = i, k+1, 3, float64(k+1)/4, -10
				l.Acceptance, l.Displacement = numeral.Number(chain.acceptance), numeral.Number(chain.displacement)
				trace = append(trace, l)
			}
		}
		fails := func(trace []TraceLine) bool {
			return slices.ContainsFunc(m.Sampling().chainFindings(trace), finding.Finding.Failure)
		}
		if got := fails(trace); got != c.failed {
			t.Errorf("chains of acceptance and displacement %v: failed %v, want %v", c.chains, got, c.failed)
		}
		for i := range trace { // four moves in the second half of a chain
			trace[i].Mutations = 2
		}
		if fails(trace) {
			t.Errorf("chains of acceptance and displacement %v fail by four moves each", c.chains)
		}
	}
}
