package method

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// Chains that share a step are islands of the posterior and of the trace, and chains everywhere else: in titles, in the record that compares
// them, and in findings, which number them over all islands. together: 1 is the run without it, bit for bit.
func TestChainsTogether(t *testing.T) {
	of := func(together int) *Outcome {
		m := MCMC{Chains: 6, Together: together, Start: "prior", Epochs: 300, Keep: 12, Move: mcmc.HMC{Steps: 3}}.Settle(Around{}, unheard())
		return do(t, newJob(t, 2), m)
	}
	alone, one, shared := of(0), of(1), of(3)
	if !slices.Equal(alone.Posterior.Theta, one.Posterior.Theta) {
		t.Error("together: 1 gives other draws")
	}
	if slices.Equal(alone.Posterior.Theta, shared.Posterior.Theta) {
		t.Error("together: 3 changes nothing")
	}
	if got := shared.Posterior.Island; !slices.Equal(got, []int32{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("draws are of the islands %v", got)
	}
	if n := len(shared.Chains.LogLikelihoods); n != 6 || Islands(shared.Trace) != 2 {
		t.Errorf("a record of %d chains, a trace of %d islands", n, Islands(shared.Trace))
	}
	last := shared.Trace[len(shared.Trace)-1]
	for c, l := range shared.Chains.LogLikelihoods[3:] {
		if l[len(l)-1] != float64(last.Info.Chains[c].LogLikelihood) {
			t.Errorf("chain %d ends at %v, the trace says %v", 3+c, l[len(l)-1], last.Info.Chains[c].LogLikelihood)
		}
	}
	if g := shared.Chains.Gradients; !(g > 6*140 && g < 6*160) {
		t.Errorf("the second halves of 6 chains of 300 epochs took %v gradients", g)
	}
	if ends := finding.All[finding.ChainsEnd](shared.Findings); len(ends) != 1 || ends[0].Chains != 6 || finding.Is(shared.Findings[0], finding.SingleAncestor{}) {
		t.Errorf("found %s", words(shared.Findings))
	}
	m := MCMC{Chains: 80, Together: 10, Epochs: 26, Start: "prior", Keep: KeepLast, Move: mcmc.HMC{Steps: 1}}
	if got, want := m.Title(), "80 chains of HMC (1 leapfrog), 26 epochs each, in islands of 10 that share a step"; got != want {
		t.Errorf("the title is %q, want %q", got, want)
	}
	if s := m.Sampling(); s.Islands != 8 || s.Particles != 10 || s.Unit != "island" || !s.Chains() {
		t.Errorf("%+v", s)
	}
}

// Of an island's chains those are named that are stuck, that do not move, or that end far from the others, although their means look well.
func TestAStuckChainAmongOthers(t *testing.T) {
	s := MCMC{Chains: 8, Together: 4, Epochs: 100, Move: mcmc.HMC{Steps: 1, Step: 0.1}}.Sampling()
	var trace []TraceLine
	for island := range 2 {
		for k := range 20 {
			l := TraceLine{Iteration: Iteration{Info: smc.Info{
				Island: island, K: k + 1, Progress: float64(k+1) / 20, Mutations: 1, Acceptance: 0.6, LogLikelihood: -100, Displacement: 0.2, Examples: 10, Gradients: 400 * (k + 1), Ancestors: 4,
			}}}
			for c := range 4 {
				one := smc.ChainInfo{Acceptance: 0.7, Displacement: 0.2, LogLikelihood: numeral.Number(-100 - c%2)}
				switch {
				case island == 1 && c == 2:
					one.Acceptance, one.Displacement = 0.01, 0.3
				case island == 0 && c == 1:
					one.LogLikelihood = -5000
				case island == 0 && c == 3:
					one.Displacement = 0
				}
				l.Info.Chains = append(l.Info.Chains, one)
			}
			trace = append(trace, l)
		}
	}
	found := s.chainFindings(trace)
	stuck, still, odd := finding.All[finding.ChainStuck](found), finding.All[finding.ChainsStill](found), finding.All[finding.ChainsOutlying](found)
	if len(stuck) != 1 || stuck[0].Chains != finding.Numbered([]int{6}) {
		t.Errorf("stuck: %+v, want chain 6", stuck)
	}
	if len(still) != 1 || still[0].Chains != finding.Numbered([]int{3}) {
		t.Errorf("still: %+v, want chain 3", still)
	}
	if len(odd) != 1 || odd[0].Chains != finding.Numbered([]int{1}) {
		t.Errorf("outlying: %+v, want chain 1", odd)
	}
	for _, f := range s.Findings(trace, &bnn.Ensemble{LogWeights: []float64{0}}, 10) {
		if finding.Is(f, finding.Ancestors{}) || finding.Is(f, finding.IslandsEnd{}) {
			t.Errorf("chains are called a population: %s", f.Words())
		}
	}
}

// What chains that share a step cannot be is refused, with the mend; and their memory is that of one chain's tuning for each island.
func TestBadTogether(t *testing.T) {
	usual, partly := around(MCMC{}), around(MCMC{})
	partly.Partly = true
	for _, c := range []struct {
		m      MCMC
		around Around
		want   string
	}{
		{MCMC{Chains: 80, Together: 12}, usual, "method.mcmc.together: 80 chains are no multiple of the 12 that share a step: want islands of equal size, as in chains: 84"},
		{MCMC{Chains: 2, Together: 4}, usual, "as in chains: 4"},
		{MCMC{Together: 3}, usual, "8 chains are no multiple of the 3"},
		{MCMC{Together: -1}, usual, "together: want at least 1, have -1"},
		{MCMC{Chains: 4, Together: 2, Move: mcmc.NUTS{}}, usual, "together: NUTS moves each chain alone"},
		{MCMC{Chains: 4, Together: 2, Start: "map", Learning: Learning{smc.By[nn.Adam]{Rate: 0.1}}}, partly, "leave together out, or take start: prior or init"},
	} {
		said := strings.Join(faults(func(f *config.Faults) {
			m := c.m.Settle(c.around, unheard()).(MCMC)
			m.Settle(c.around, f)
			m.Check(f)
		}), "\n")
		if !strings.Contains(said, c.want) {
			t.Errorf("%+v: %q, want %s", c.m, said, c.want)
		}
	}
	m := MCMC{Chains: 40, Together: 10, Start: "prior"}.Settle(Around{}, unheard()).(MCMC)
	job := newJob(t, 2)
	memory := m.Memory(job)
	scale := memory.Scales[0]
	if scale.Bytes(40) != memory.Bytes || scale.Bytes(41) <= memory.Bytes || scale.Takes(9) || !scale.Takes(10) || scale.Fits(29) != "20 chains would fit" {
		t.Errorf("%d bytes, %d for 40, %d for 41; 29 fit: %s", memory.Bytes, scale.Bytes(40), scale.Bytes(41), scale.Fits(29))
	}
	tuned, scratch := m.Sampling().moveMemory(10, 500)
	once, one := m.Move.Memory(1, 500)
	if _, all := m.Move.Memory(10, 500); tuned != once || scratch < one || scratch < all {
		t.Errorf("the move of 10 chains holds %d and %d numbers, that of one %d and %d", tuned, scratch, once, one)
	}
}
