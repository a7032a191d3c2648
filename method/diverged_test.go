package method

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/mcmc"
)

// Of trajectories that find their own length, those that diverged in the second half are told. In a warm-up some do. The chains are warned of
// where at least half of them did.
func TestTrajectoriesDiverged(t *testing.T) {
	s := MCMC{Chains: 2, Epochs: 100, Move: mcmc.NUTS{}, Start: "prior"}.Sampling()
	for _, c := range []struct {
		at   int // of 20 moves
		want string
	}{{3, ""}, {9, ""}, {10, "2 of 20 trajectories of the second half diverged"}, {19, "2 of 20 trajectories"}} {
		trace := lines(2, 20, 1)
		trace[20+c.at].Divergent = 2
		said := ""
		for _, f := range s.Findings(trace, &bnn.Ensemble{LogWeights: make([]float64, 2)}, 60) {
			if strings.Contains(f.Kind, "diverge") {
				said += f.Words()
			}
		}
		if (c.want == "") != (said == "") || !strings.Contains(said, c.want) {
			t.Errorf("move %d diverged: %q, want %q", c.at+1, said, c.want)
		}
	}
}

// TestMostDiverged: where half of the trajectories or more diverged, there is a warning, with the mend.
func TestMostDiverged(t *testing.T) {
	s := MCMC{Chains: 2, Epochs: 1000, Move: mcmc.HMC{Steps: 10, Step: 0.1}, Start: "prior"}.Sampling()
	for _, c := range []struct {
		of    int // in the second half of each chain of 20 moves
		warns bool
	}{{4, false}, {5, true}, {10, true}} {
		trace := lines(2, 20, 1)
		for i := range c.of {
			trace[10+i].Divergent, trace[30+i].Divergent = 1, 1
		}
		warned := ""
		for _, f := range s.Findings(trace, &bnn.Ensemble{LogWeights: make([]float64, 2)}, 60) {
			if f.Warning() && f.Kind == "chains-diverged" {
				warned = f.Words()
			}
		}
		if strings.Contains(warned, "smaller step (method.mcmc.move.hmc.step)") != c.warns {
			t.Errorf("%d of 10 diverged: warned of %q, want a warning: %v", c.of, warned, c.warns)
		}
	}
}

// TestShortDiverged: where too few trajectories look for a step, more of them are the mend; a fixed step is not looked for.
func TestShortDiverged(t *testing.T) {
	for what, c := range map[string]struct {
		move mcmc.HMC
		want string
	}{
		"adapted": {mcmc.HMC{Steps: 10}, "3 of 5 trajectories of the second half diverged. Take more epochs first"},
		"fixed":   {mcmc.HMC{Steps: 10, Step: 0.1}, "Take a smaller step (method.mcmc.move.hmc.step)"},
	} {
		s := MCMC{Chains: 1, Epochs: 100, Move: c.move, Start: "prior"}.Sampling()
		trace := lines(1, 10, 1)
		for i := range 3 {
			trace[9-i].Divergent = 1
		}
		found := s.Findings(trace, &bnn.Ensemble{LogWeights: make([]float64, 1)}, 60)
		if got := words(found); !strings.Contains(got, "the chain makes too few moves") ||
			!strings.Contains(got, "3 of 5 trajectories of the second half diverged") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
