package method

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// TestForesee: what cannot work is told from the settings, with the epochs that would do; what may work is not.
func TestForesee(t *testing.T) {
	for _, c := range []struct {
		what   string
		m      MCMC
		d      int
		want   string // "": nothing
		epochs int    // that would do
	}{
		{"20 trajectories", MCMC{Chains: 8, Epochs: 1600, Move: mcmc.HMC{Steps: 80}}, 1000, "", 0},
		{"one less", MCMC{Chains: 8, Epochs: 1599, Move: mcmc.HMC{Steps: 80}}, 1000, "1,599 epochs are 19 trajectories of 80 leapfrogs", 1600},
		{"two", MCMC{Chains: 1, Epochs: 40, Move: mcmc.HMC{Steps: 20}}, 10, "the chain makes too few moves (40 epochs are 2 trajectories of 20 leapfrogs", 400},
		{"single leapfrogs", MCMC{Chains: 2, Epochs: 19, Move: mcmc.HMC{Steps: 1}}, 10, "each chain makes too few moves (19 epochs are 19 moves", 20},
		{"a given length of given steps", MCMC{Chains: 2, Epochs: 300, Move: mcmc.HMC{Length: 2, Step: 0.125}}, 10, "300 epochs are 18 trajectories of 16 leapfrogs", 320},
		// A trajectory of length 2.2 at 1.65·d^(−1/4) has (4/3)·d^(1/4) leapfrogs.
		{"adapted, ten thousand parameters", MCMC{Chains: 2, Epochs: 500, Move: mcmc.HMC{}}, 10_000, "", 0},
		{"adapted, a million", MCMC{Chains: 2, Epochs: 500, Move: mcmc.HMC{}}, 1_000_000, "the budget is too small (500 epochs make at most 11 trajectories)", 1300},
		{"mini-batches", MCMC{Chains: 2, Epochs: 5, Move: mcmc.SGHMC{Batch: 10, Step: 1e-4, Friction: 0.1}}, 10, "", 0},
	} {
		c.m = c.m.Settle(Around{}, unheard()).(MCMC)
		found := c.m.Sampling().Foresee(c.d)
		if c.want == "" {
			if found != nil {
				t.Errorf("%s: %q", c.what, words(found))
			}
			continue
		}
		if len(found) != 1 || !strings.Contains(found[0].Words(), c.want) || float64(found[0].Numbers["need"]) != float64(c.epochs) {
			t.Errorf("%s: %q of %d epochs, want %q", c.what, words(found), c.epochs, c.want)
			continue
		}
		c.m.Epochs = c.epochs
		if again := c.m.Sampling().Foresee(c.d); again != nil {
			t.Errorf("%s: the epochs that would do are too few, too: %q", c.what, words(again))
		}
	}
}

// TestBudgetCounted: trajectories whose length is adapted are counted after the warm-up, chain by chain.
func TestBudgetCounted(t *testing.T) {
	s := MCMC{Chains: 3, Epochs: 1000, Start: "prior", Move: mcmc.HMC{Length: mcmc.AutoLength}}.Sampling()
	trace := func(leapfrogs ...int) (trace []TraceLine) {
		for chain, late := range leapfrogs {
			l := TraceLine{}
			l.Island, l.Examples = chain, 50
			for l.Gradients < 1000*50 {
				took := late
				if l.Progress < mcmc.WarmUp {
					took = 5
				}
				l.K, l.Mutations = l.K+1, 1
				l.Gradients += 50 * min(took, 1000-l.Gradients/50)
				l.Progress = float64(l.Gradients) / (1000 * 50)
				trace = append(trace, l)
			}
		}
		return trace
	}
	if found := s.budgetFindings(trace(20, 50, 1)); found != nil {
		t.Errorf("20 trajectories: %q", words(found))
	}
	found := s.budgetFindings(trace(20, 125, 100))
	want := "2 of 3 chains make too few moves (1,000 epochs are 8 trajectories of 125 leapfrogs"
	if len(found) != 1 || !strings.Contains(words(found), want) || !strings.Contains(words(found), "Take at least 3,800 epochs (method.mcmc.epochs)") {
		t.Errorf("%q, want %q", words(found), want)
	}
	if got := s.budgetFindings(trace(500, 500, 500)); len(got) != 1 || !strings.Contains(words(got), "each chain makes too few moves (1,000 epochs are 2 trajectories of 500 leapfrogs") {
		t.Errorf("%q", words(got))
	}
	whole := TraceLine{}
	whole.Island, whole.K, whole.Mutations, whole.Examples, whole.Gradients, whole.Progress = 0, 1, 1, 50, 1000*50, 1
	if got := meanLeapfrogs([]TraceLine{whole}); !(math.Abs(got-1000) < 1e-9) {
		t.Errorf("a chain of one move has %v leapfrogs, want 1000", got)
	}
}
