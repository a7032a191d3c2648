package smc

import (
	"errors"
	"math"
)

// Equal keeps the weights equal after moves without accept or reject, whose errors nothing then corrects: the ablation of
// smc-sghmc-ensembles, section 5, where tempered weights are nearly equal anyway. Only a particle whose move has infinite energy gets
// weight 0.
type Equal struct{}

// Early is false.
func (Equal) Early() bool { return false }

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

// Suits refuses moves that leave their target invariant.
func (Equal) Suits(invariant bool) error {
	if invariant {
		return errors.New("is for moves without accept/reject; on path full the others have equal weights already")
	}
	return nil
}

// FollowsTargets is false.
func (Equal) FollowsTargets() bool { return false }

// Afresh is true.
func (Equal) Afresh() bool { return true }

// CountsEnergy is false.
func (Equal) CountsEnergy() bool { return false }

// ForPopulation returns w unchanged.
func (w Equal) ForPopulation(bool) Weighting { return w }
