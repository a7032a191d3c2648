package mcmc

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Walk is a random walk without accept/reject, the move of open-horizon SMC, OHSMC (guided-open-horizon-smc, section 3.3a):
//
//	θ' = θ + s ξ,  ξ ~ N(0, I).
//
// Its density is symmetric, so that with the walk back as backward kernel it cancels in a weight. Outcome.Energy is log π(θ) −
// log π(θ'): the weighting Momentum of package smc adds log π_k(θ') − log π_{k−1}(θ). It costs one value a move and no gradient.
//
// A walk to a place where the target is 0 or undefined has ΔH = +∞, weight 0: the particle is dead. It is put back to its start,
// as by Unadjusted.
type Walk struct {
	SD float64 `yaml:"sd,nonzero"` // s, must be set
}

func (Walk) String() string { return "a random walk" }

// Traits say that a weight corrects the walk, that it does not look where it is, and that its step is the setting sd.
func (Walk) Traits() Traits { return Traits{Corrected: ByWeight, Blind: true, Size: "sd"} }

// Memory is nothing.
func (Walk) Memory(int, int) (tuned, scratch int) { return 0, 0 }

// ForChains returns m unchanged: CheckForChains refuses the move.
func (m Walk) ForChains() Move { return m }

// ForPopulation returns m unchanged.
func (m Walk) ForPopulation(Mutations, bool) Move { return m }

// Check notes impossible settings.
func (m Walk) Check(f *config.Faults) { checkWalk(f, m.SD) }

// Tuning is nothing.
func (m Walk) Tuning(*Target, int) ([]float64, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("random walk: %w", err)
	}
	return nil, nil
}

// Mutate is one move of every particle. Outcome.Probability is the acceptance probability that accept/reject would have.
func (m Walk) Mutate(ctx context.Context, w *Work, t *Target, p *Population, _ []float64, now StepContext) (Outcome, error) {
	if err := w.walk(ctx, t, p, m.SD, now.Key); err != nil {
		return Outcome{}, err
	}
	q, out := &w.Proposal, w.outcome
	for j, energy := range out.Energy {
		if !isFinite(energy) {
			energy = math.Inf(1)
			q.Set(j, p, j)
			out.Divergent++
		}
		out.Energy[j], out.Probability[j] = energy, min(1, rng.Exp(-energy))
	}
	out.Step = m.SD
	out.took(0, t.Examples())
	*p, w.Proposal = w.Proposal, *p
	return out, nil
}
