package smc

import "github.com/starling-smc/starling/mcmc"

// Weigher gives the increments of the log-weights for a change of target and a move. The change of target at particle j is
// change[j] = log π_k(θ_j) − log π_{k−1}(θ_j); change is nil if the target stays the same.
type Weigher interface {
	// Traits are what the weighting says of itself.
	Traits() WeightTraits
	// After returns the increments after the move, nil for none. It may write to m.Change and m.Energy, and may return one of them.
	After(m Moved) []float64
}

// WeightTraits are what a weighting says of itself (docs/adr/0026-traits.md). The zero value is that of weights that follow the targets, and
// leave out the energy errors of moves.
type WeightTraits struct {
	// Early: a change of target enters the weights before resampling. If not, it enters after the move, and a new batch is evaluated after
	// resampling, once for all copies of one parent.
	Early bool

	// Afresh: After uses neither Change nor a finite Energy, but only the population after the move. Draws from the prior are weighted in the
	// same way, as if they had moved there. Where parameters that all particles share are learned, they have equal weights instead. Their
	// likelihood under a new target is evaluated only where the move needs it.
	Afresh bool

	// Equal: all weights are equal.
	Equal bool

	// Untargeted: changes of target do not enter the weights, whose product then estimates no evidence.
	Untargeted bool

	// Energy: the energy errors of moves without accept or reject enter the weights. If not, nothing corrects them.
	Energy bool

	// WarmsUp: the iterations of a warm-up have a rule of their own.
	WarmsUp bool

	// Resampling is the default of when to resample; nil: the path's.
	Resampling Occasion

	// NotInvariant says why the weighting cannot go with moves that leave their target invariant, NotOthers why it cannot go with the others;
	// empty: it can. The text follows the weighting's name.
	NotInvariant, NotOthers string
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

	// ForPopulation returns the weighting with defaults applied. learns: parameters that the particles share are learned.
	ForPopulation(learns bool) Weighting
}
