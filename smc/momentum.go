package smc

import (
	"math"
)

// Momentum is the weight of moves without accept/reject (data-annealing-smc, eq. 12; mcmc.Unadjusted has the proof):
//
//	log w += log π_k(θ') − log π_{k−1}(θ) + log N(−p'; 0, I) − log N(p; 0, I)
//	       = −ΔH + log π_k(θ) − log π_{k−1}(θ),
//
// minus the energy error of the move, plus the change of target at the position before it. Both are added after the move, so
// resampling uses the weights of earlier iterations.
type Momentum struct {
	// Literal takes π_k in numerator and denominator, as the paper prints eq. (12): the change of target is left out,
	// and the weights follow no path of targets (section 5, A3). For comparison only.
	Literal bool `yaml:"-"`
}

// Traits say that Literal does not follow the targets.
func (m Momentum) Traits() WeightTraits {
	return WeightTraits{
		Energy: true, Untargeted: m.Literal,
		NotInvariant: "would also count the energy errors of rejected proposals: use it with moves without accept or reject",
	}
}

// After returns the change minus the energy error. A particle whose move has infinite energy gets weight 0, whatever the
// change.
func (m Momentum) After(moved Moved) []float64 {
	increments := make([]float64, len(moved.Energy))
	for j, e := range moved.Energy {
		if increments[j] = -e; moved.Change != nil && !m.Literal && !math.IsInf(e, 1) {
			increments[j] += moved.Change[j]
		}
	}
	return increments
}

// ForPopulation returns m unchanged.
func (m Momentum) ForPopulation(bool) Weighting { return m }
