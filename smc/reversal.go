package smc

// Reversal is the weight of moves that leave the new target invariant, with the time reversal of the move as backward
// kernel (Del Moral, Doucet, Jasra 2006): the move cancels, and the change of target at the position before it remains; for
// tempering it is (λ_k − λ_{k−1})·l(θ).
type Reversal struct{}

// Traits say that the change of target, and nothing else, is in the weights before the move.
func (Reversal) Traits() WeightTraits {
	return WeightTraits{
		Early:     true,
		NotOthers: "leaves out the energy errors of moves without accept or reject: use it with moves that accept or reject",
	}
}

// After returns nil.
func (Reversal) After(Moved) []float64 { return nil }

// ForPopulation returns w unchanged.
func (w Reversal) ForPopulation(bool) Weighting { return w }
