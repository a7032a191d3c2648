package smc

import (
	"errors"
	"math"

	"github.com/starling-smc/starling/mcmc"
)

// Weighting answers what a change of target and a move are worth: the increments of the log-weights, of which
// change[j] = log π_k(θ_j) − log π_{k−1}(θ_j) is what the change is worth where particle j stands, nil if the target is
// the one before.
type Weighting interface {
	// Early says when a change counts: before resampling, or when the particles have moved. In the second case
	// they are evaluated on a new batch after resampling, those of one parent once.
	Early() bool
	// After gives the increments due when the particles have moved, nil for none; energy[j] is the energy error ΔH of the
	// move, summed over the mutations. change is nil if it has counted already. It may return one of its arguments.
	After(change, energy []float64) []float64
}

// Reversal is the weight of moves that leave the new target invariant, with the time reversal of the move as backward
// kernel (Del Moral, Doucet, Jasra 2006): the move cancels, and what counts is the change of target at the place
// before it, for tempering (λ_k − λ_{k−1})·l(θ).
type Reversal struct{}

// Early is true.
func (Reversal) Early() bool { return true }

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

// Early is false.
func (Momentum) Early() bool { return false }

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

// weighting is what was set, or what belongs to the move.
func (s *Sampler) weighting() Weighting {
	if s.Weighting != nil {
		return s.Weighting
	}
	switch s.Move.(type) {
	case mcmc.Unadjusted, *mcmc.Unadjusted:
		return Momentum{}
	}
	return Reversal{}
}

// checkWeighting refuses the weight that belongs to moves of the other kind, and the literal one behind tempering. Of a
// user's own moves nothing is known.
func (s *Sampler) checkWeighting() error {
	var momentum, reversal, literal bool
	switch w := s.weighting().(type) {
	case Momentum:
		momentum, literal = true, w.Literal
	case *Momentum:
		momentum, literal = true, w.Literal
	case Reversal, *Reversal:
		reversal = true
	}
	if _, warm := s.Path.(Warm); warm && literal {
		return errors.New("weighting: Literal leaves out changes of target, and tempering to the first target is nothing else: " +
			"no likelihood would ever be weighed; want a path without Warm")
	}
	switch s.Move.(type) {
	case mcmc.Unadjusted, *mcmc.Unadjusted:
		if reversal {
			return errors.New("weighting: Reversal forgets the energy error of moves without accept/reject: want Momentum, or nil for it")
		}
	case mcmc.HMC, *mcmc.HMC, mcmc.PCN, *mcmc.PCN:
		if momentum {
			return errors.New("weighting: Momentum counts the energy errors of proposals that were rejected: " +
				"want Reversal, or nil for it, with moves of accept/reject")
		}
	}
	return nil
}
