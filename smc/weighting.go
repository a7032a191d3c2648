package smc

import "math"

// Weighting answers what a change of target and a move are worth. Both methods return the increments of the
// log-weights, nil for none; they may return one of their arguments.
type Weighting interface {
	// Before gives the increments due before resampling. change[j] = log π_k(θ_j) − log π_{k−1}(θ_j) where particle j
	// stands, nil if the target is the one before.
	Before(change []float64) []float64
	// After gives those due when the particles have moved. change is that of the particles' ancestors; energy[j] is
	// the energy error ΔH of the move, summed over the mutations.
	After(change, energy []float64) []float64
}

// Reversal is the weight of moves that leave the new target invariant, with the time reversal of the move as backward
// kernel (Del Moral, Doucet, Jasra 2006): the move cancels, and what counts is the change of target at the place
// before it, for tempering (λ_k − λ_{k−1})·l(θ).
type Reversal struct{}

// Before returns the change.
func (Reversal) Before(change []float64) []float64 { return change }

// After returns nil.
func (Reversal) After(change, energy []float64) []float64 { return nil }

// Momentum is the weight of moves without accept/reject (data-annealing-smc, eq. 12; mcmc.Unadjusted has the proof):
//
//	log w += log π_k(θ') − log π_{k−1}(θ) + log N(−p'; 0, I) − log N(p; 0, I)
//	       = −ΔH + log π_k(θ) − log π_{k−1}(θ),
//
// minus the energy error of the move, plus the change of target at the place before it. Both are due after the move:
// resampling looks at what the iterations before were worth.
type Momentum struct {
	// Literal takes π_k in numerator and denominator, as the paper prints eq. (12): the change of target is left out,
	// and the weights follow no path of targets (section 5, A3). For comparison only.
	Literal bool
}

// Before returns nil.
func (Momentum) Before(change []float64) []float64 { return nil }

// After returns the change less the energy error. A move of infinite energy leaves no weight, whatever the change.
func (m Momentum) After(change, energy []float64) []float64 {
	increments := make([]float64, len(energy))
	for j, e := range energy {
		if increments[j] = -e; change != nil && !m.Literal && !math.IsInf(e, 1) {
			increments[j] += change[j]
		}
	}
	return increments
}
