package mcmc

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
)

// Metropolis is the random walk of Metropolis et al. (1953):
//
//	θ' = θ + s ξ,  ξ ~ N(0, I),   accepted with probability min(1, π(θ')/π(θ)).
//
// It leaves the target invariant and costs one value a move and no gradient. s is not adapted. In dimension D a good one is about
// 2.4/√D of the target's standard deviation.
type Metropolis struct {
	SD float64 `yaml:"sd,nonzero"` // s, must be set
}

func (Metropolis) String() string { return "a Metropolis walk" }

// Traits say that the step is fixed, and is the setting sd.
func (Metropolis) Traits() Traits { return Traits{Size: "sd"} }

// Memory is nothing.
func (Metropolis) Memory(int, int) (tuned, scratch int) { return 0, 0 }

// ForChains returns m unchanged.
func (m Metropolis) ForChains() Move { return m }

// ForPopulation returns m unchanged.
func (m Metropolis) ForPopulation(Mutations, bool) Move { return m }

// Check notes impossible settings.
func (m Metropolis) Check(f *config.Faults) { checkWalk(f, m.SD) }

// Tuning is nothing.
func (m Metropolis) Tuning(*Target, int) ([]float64, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("metropolis: %w", err)
	}
	return nil, nil
}

// Mutate is one move of every particle.
func (m Metropolis) Mutate(ctx context.Context, w *Work, t *Target, p *Population, _ []float64, now StepContext) (Outcome, error) {
	if err := w.walk(ctx, t, p, m.SD, now.Key); err != nil {
		return Outcome{}, err
	}
	q := &w.Proposal
	out := w.metropolis(t.Pool, p, now.Key, func(j int) bool { return isFinite(t.LogDensity(q, j)) })
	out.Step = m.SD
	out.took(0, t.Examples())
	return out, nil
}
