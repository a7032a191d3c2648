package smc

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// Chains of SGHMC from draws of the prior: each epoch is an iteration and spends the budget of one gradient of all
// examples, whatever the log-likelihood costs that is looked at after it. Moves without accept or reject have no
// acceptance, and without energies the weights stay equal and estimate no evidence. With full batches the moments at the end are
// those of the recursion, with the bias of its step: the variance is (1/c)/(1 − ηc/(4−2a)). The bound is 5.3 standard
// deviations of 10,000 independent chains, exceeded with probability 1e-6 by one of six; 8 % of a variance would be found, and the
// bias is 13 %.
func TestChainsOfSGHMC(t *testing.T) {
	testkit.Statistics(t)
	const epochs, chains, d = 100, 10000, 3
	m := newLocation(d)
	p, n := m.problem(), len(m.y)
	move := mcmc.SGHMC{Batch: n, Step: 0.03, Friction: 0.2}
	s := Sampler{Model: m, Prior: p.prior, Path: Fixed{Epochs: epochs}, Move: move, Particles: chains, Keep: Spread{States: 2 * chains}, Seed: 3}
	st, infos := run(t, &s)
	if len(infos) != epochs || st.Spent != epochs*n || st.Gradients != chains*epochs*n || st.Values != chains*(epochs+1)*n || len(st.KeptLL) != 2*chains {
		t.Errorf("%d iterations, %d examples a chain, %d gradients, %d values, %d states kept", len(infos), st.Spent, st.Gradients, st.Values, len(st.KeptLL))
	}
	for _, info := range infos {
		if a := float64(info.Acceptance); a == a || info.Step != move.Step || info.Stuck || info.Divergent > 0 || info.ESS < chains*(1-1e-9) || math.Abs(float64(info.LogZ)) > 1e-9 {
			t.Fatalf("iteration %d: %+v", info.K, info)
		}
	}
	for i := range d {
		var mean, square float64
		for j := range chains {
			x := st.Theta[j*d+i] - p.mean[i]
			mean, square = mean+x/chains, square+x*x/chains
		}
		want := p.vars[i] / (1 - move.Step/p.vars[i]/(4-2*move.Friction))
		if !(math.Abs(mean) <= 5.3*math.Sqrt(want/chains)) || !(math.Abs(square/want-1) <= 5.3*math.Sqrt(2./chains)) {
			t.Errorf("coordinate %d: mean %v from the posterior's, variance %v, want %v", i, mean, square, want)
		}
	}
}

// A population has no use for SGHMC, which has no weight. An error of a chain calls it a chain.
func TestSGHMCIsForChains(t *testing.T) {
	m := newLocation(3)
	s := Sampler{Model: m, Prior: m.problem().prior, Path: Tempering{}, Move: mcmc.SGHMC{Batch: 9, Step: 0.01}, Particles: 50}
	if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), "SGHMC (batches of 9 examples): belongs to mcmc: it has no accept step") {
		t.Errorf("a population: error %v", err)
	}
	s.Path, s.Move, s.Particles, s.Island = Fixed{Epochs: 900}, mcmc.SGHMC{Batch: 9, Step: 10, Friction: 0.5}, 1, 4
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), st, nil); err == nil || !strings.HasPrefix(err.Error(), "chain 4, iteration ") || !strings.Contains(err.Error(), "try a smaller step") {
		t.Errorf("a step that is too large: error %v", err)
	}
}
