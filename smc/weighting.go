package smc

import "github.com/starling-smc/starling/mcmc"

// Weigher answers what a change of target and a move are worth: it gives the increments of the log-weights. The change of
// target at particle j is change[j] = log π_k(θ_j) − log π_{k−1}(θ_j); change is nil if the target stays the same.
//
// A Weigher may say more about itself, by the methods of Weighting. A sampler asks for them and does not insist.
type Weigher interface {
	// Early says whether a change of target counts before resampling, or else when the particles have moved. In the second
	// case a new batch is evaluated after resampling, once for all copies of one parent.
	Early() bool
	// After gives the increments that are due when the particles have moved, nil for none. p is the population after the
	// move, only to be read; energy[j] is the energy error ΔH of particle j, summed over the mutations; change is nil if it
	// counted before resampling. After may return change or energy, and may write to them.
	After(p *mcmc.Population, change, energy []float64) []float64
}

// Weighting is a Weigher of the table Weightings.
type Weighting interface {
	Weigher

	// Suits says why the weighting cannot go with moves that leave their target invariant, or with those that do not. What it
	// says follows the weighting's name.
	Suits(invariant bool) error
	// FollowsTargets says whether changes of target count. If not, the weights follow no path, and their product is no evidence.
	FollowsTargets() bool
}

// DefaultWeighting is the weighting of moves by whether they leave their target invariant. A move that does not say so counts
// as one that does.
func DefaultWeighting(move mcmc.Kernel) Weighting {
	if move, ok := move.(invariant); ok && !move.Invariant() {
		return Momentum{}
	}
	return Reversal{}
}

type invariant interface{ Invariant() bool }
