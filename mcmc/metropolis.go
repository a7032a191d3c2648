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

// Invariant is true.
func (Metropolis) Invariant() bool { return true }

// Biased is false.
func (Metropolis) Biased() bool { return false }

// Needs is nothing.
func (Metropolis) Needs() Needs { return Needs{} }

// Repeats is left to the path.
func (Metropolis) Repeats() Mutations { return Mutations{} }

// Varies is false.
func (Metropolis) Varies() bool { return false }

// Selects is false.
func (Metropolis) Selects() bool { return false }

// NeedsGaussian is false.
func (Metropolis) NeedsGaussian() bool { return false }

// Aim is 0: the step is fixed.
func (Metropolis) Aim() float64 { return 0 }

// Subsample is 0.
func (Metropolis) Subsample() int { return 0 }

// Fewest is 0.
func (Metropolis) Fewest() int { return 0 }

// Memory is nothing.
func (Metropolis) Memory(int, int) (tuned, scratch int) { return 0, 0 }

// ForChains returns m unchanged.
func (m Metropolis) ForChains() Move { return m }

// ForPopulation returns m unchanged.
func (m Metropolis) ForPopulation(Mutations, bool) Move { return m }

// CheckForChains refuses nothing.
func (Metropolis) CheckForChains(*config.Faults) {}

// CheckForPopulation refuses nothing.
func (Metropolis) CheckForPopulation(bool, *config.Faults) {}

// CheckForData refuses nothing.
func (Metropolis) CheckForData(int, int, *config.Faults) {}

// Check notes impossible settings.
func (m Metropolis) Check(f *config.Faults) { checkWalk(f, m.SD) }

// Evaluations is 1.
func (Metropolis) Evaluations() int { return 1 }

// Shortest is 1.
func (Metropolis) Shortest(int) int { return 1 }

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
