package smc

import (
	"errors"

	"github.com/starling-smc/starling/mcmc"
)

// Weigher gives the increments of the log-weights for a change of target and a move. The change of target at particle j is
// change[j] = log π_k(θ_j) − log π_{k−1}(θ_j); change is nil if the target stays the same.
//
// A Weigher may also have the other methods of Weighting, and these, which a sampler uses if they are there:
//
//	Afresh() bool           After uses neither Change nor a finite Energy, but only the population after the move. After is also
//	                        called on the first draws, as if a move had put them there; not where shared parameters are
//	                        learned: then the first weights are equal. The likelihood under a new target is evaluated only
//	                        where the move needs it
//	Weighs() bool           false: all weights are equal
//	Resampling() Occasion   the default of when to resample, in place of the path's
type Weigher interface {
	// Early reports whether a change of target enters the weights before resampling. If not, it enters after the move, and a
	// new batch is evaluated after resampling, once for all copies of one parent.
	Early() bool
	// After returns the increments after the move, nil for none. It may write to m.Change and m.Energy, and may return one of them.
	After(m Moved) []float64
}

// Moved is an iteration after its move, as a Weigher sees it.
type Moved struct {
	Population *mcmc.Population // after the move; it must not be changed
	Change     []float64        // of the target at the particles before the move; nil if it entered before resampling
	Energy     []float64        // energy errors ΔH of the particles, summed over the mutations
	Iteration  int              // k, from 1
	Warmup     int              // iterations of the warm-up: those before the states that Sampler.Keep keeps (After); else 0
	Examples   int              // N of the model, whatever the batch
}

// Weighting is a row of the table Weightings.
type Weighting interface {
	Weigher

	// Suits says why the weighting cannot go with moves that leave their target invariant, or with those that do not. What it
	// says follows the weighting's name.
	Suits(invariant bool) error
	// FollowsTargets reports whether changes of target enter the weights. If not, the product of the weights estimates no
	// evidence.
	FollowsTargets() bool
	// CountsEnergy reports whether the energy errors of moves without accept or reject enter the weights. If not, nothing corrects them.
	CountsEnergy() bool
	// ForPopulation returns the weighting with defaults applied. learns: parameters that the particles share are learned.
	ForPopulation(learns bool) Weighting
}

// afresh reports whether weights depend on the population after the move alone.
func afresh(w Weigher) bool {
	weigher, ok := w.(interface{ Afresh() bool })
	return ok && weigher.Afresh()
}

// refuseAfresh refuses weights of the population after the move alone, for paths on which the likelihood enters little by little.
func refuseAfresh(w Weigher) error {
	if afresh(w) {
		return errors.New("leaves out the change of target, and this path lets the likelihood in little by little: take path constant or full")
	}
	return nil
}

// weighs reports whether weights may differ.
func weighs(w Weigher) bool {
	weigher, ok := w.(interface{ Weighs() bool })
	return !ok || weigher.Weighs()
}
