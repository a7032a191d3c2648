package smc

import (
	"errors"
	"math"

	"github.com/starling-smc/starling/mcmc"
)

// Bootstrap is the weight of particles that move blindly (Gordon, Salmond, Smith 1993; guided-open-horizon-smc, section 3.3a): the
// likelihood of the iteration's batch where they went, not scaled,
//
//	log w += Σ_{i ∈ B_k} log p(y_i | x_i, θ', ψ_{k−1}).
//
// Particles are resampled in every iteration, so that one likelihood counts at a time. Draws from the prior have equal weights. The
// weights follow no path of targets: every batch is new data of a parameter that wanders, as a random walk makes it.
type Bootstrap struct{}

// Early is false.
func (Bootstrap) Early() bool { return false }

// After returns the log-likelihoods. A particle that an infinite energy put back to its start gets weight 0.
func (Bootstrap) After(p *mcmc.Population, _, energy []float64) []float64 {
	increments := make([]float64, p.J)
	for j := range increments {
		if increments[j] = p.LL[j]; math.IsInf(energy[j], 1) {
			increments[j] = math.Inf(-1)
		}
	}
	return increments
}

// Suits refuses moves that leave their target invariant.
func (Bootstrap) Suits(invariant bool) error {
	if invariant {
		return errors.New("counts the likelihood that moves with accept or reject know already: use it with moves without")
	}
	return nil
}

// FollowsTargets is false.
func (Bootstrap) FollowsTargets() bool { return false }

// Afresh is true.
func (Bootstrap) Afresh() bool { return true }

// Resampling is in every iteration.
func (Bootstrap) Resampling() Occasion { return Always{} }
