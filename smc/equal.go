package smc

import (
	"math"
)

// Equal keeps the weights equal after moves without accept or reject, whose errors nothing then corrects: the ablation of
// smc-sghmc-ensembles, section 5, where tempered weights are nearly equal anyway. Only a particle whose move has infinite energy gets
// weight 0.
type Equal struct{}

// Traits of Equal refuse moves that leave their target invariant.
func (Equal) Traits() WeightTraits {
	return WeightTraits{
		Afresh: true, Untargeted: true,
		NotInvariant: "leaves out the weights of moves without accept or reject, and moves with it, on path full, have equal weights as it is",
	}
}

// After returns 0, or minus infinity for the dead.
func (Equal) After(m Moved) []float64 {
	increments := make([]float64, len(m.Energy))
	for j, e := range m.Energy {
		if math.IsInf(e, 1) {
			increments[j] = math.Inf(-1)
		}
	}
	return increments
}

// ForPopulation returns w unchanged.
func (w Equal) ForPopulation(bool) Weighting { return w }
