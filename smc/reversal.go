package smc

import "errors"

// Reversal is the weight of moves that leave the new target invariant, with the time reversal of the move as backward
// kernel (Del Moral, Doucet, Jasra 2006): the move cancels, and the change of target at the position before it remains; for
// tempering it is (λ_k − λ_{k−1})·l(θ).
type Reversal struct{}

// Early is true.
func (Reversal) Early() bool { return true }

// After returns nil.
func (Reversal) After(Moved) []float64 { return nil }

// Suits refuses moves that do not leave their target invariant.
func (Reversal) Suits(invariant bool) error {
	if !invariant {
		return errors.New("leaves out the energy errors of moves without accept or reject: use it with moves that accept or reject")
	}
	return nil
}

// FollowsTargets is true.
func (Reversal) FollowsTargets() bool { return true }

// CountsEnergy is false: accept or reject has corrected them.
func (Reversal) CountsEnergy() bool { return false }

// ForPopulation returns w unchanged.
func (w Reversal) ForPopulation(bool) Weighting { return w }
