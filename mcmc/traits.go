package mcmc

// Traits are what a move says of itself (docs/adr/0026-traits.md). They depend on its settings alone. A field that is left at its zero value
// is a statement, too: that the move leaves its target invariant, for one, and makes one evaluation. A move without accept or
// reject must set Corrected: else nothing corrects its error, and no check notices.
type Traits struct {
	// Corrected says what corrects the error of the move.
	Corrected Correction

	// Needs are the values that populations must carry.
	Needs Needs

	// Blind: Mutate reads none of the values cached at the particles, except to give a finite Outcome.Energy. They may then be those of
	// another target.
	Blind bool

	// Augments: gradients may be those of changed examples (Augmented). What corrects the error of the move holds whatever field they are of.
	Augments bool

	// Costs is the largest number of evaluations of the model that one mutation makes for a particle; 0: 1.
	Costs int

	// Varies: the number of evaluations of a mutation depends on the states, or on what the move learns. Then a sampler must not choose the
	// states that it keeps by evaluations: the states at long moves would be chosen too often.
	Varies bool

	// Selects: the cost of a mutation depends on the states. Then the end of a budget comes after some states more often than after others,
	// and the last state of a chain is no draw.
	Selects bool

	// Repeats is the number of times that the move is made in one iteration of a sampler. Zero: a move that leaves its target invariant is made
	// as often as the path says, another one once.
	Repeats Mutations

	// Gaussian: the move works with a GaussianPrior alone.
	Gaussian bool

	// Together: particles move by where the others are. A chain, which has one, cannot have the move.
	Together bool

	// Alone says why populations cannot have the move, and what to take in its place; empty: they can have it.
	Alone string

	// Learns says what is wrong with the step where nothing is learned while particles move; empty: nothing is.
	Learns string

	// Aim is the acceptance that the step size is adapted to; 0: the step size is fixed.
	Aim float64

	// Size is the setting of the step size, which a config must give; empty: it is step, and can be left out.
	Size string

	// Subsample is the number of examples in the mini-batch for a trajectory's gradients; 0: the gradients are the target's.
	Subsample int

	// Fewest is the least number of evaluations in which a chain learns what it must; 0: there is nothing that it must learn.
	Fewest int
}

// Correction is what corrects the error of a move.
type Correction int

const (
	ByAcceptance Correction = iota // accept or reject, or the move has none: it leaves its target invariant
	ByWeight                       // a weight: see package smc
	// ByNothing: draws have another law than the target's. Populations take the move without weights only (smc.Unweighted), and
	// Outcome.Probability is NaN.
	ByNothing
)

// Invariant reports whether the move leaves its target invariant.
func (t Traits) Invariant() bool { return t.Corrected == ByAcceptance }

// Biased reports whether nothing corrects the move.
func (t Traits) Biased() bool { return t.Corrected == ByNothing }

// Evaluations is the largest number of evaluations of the model that one mutation makes for a particle.
func (t Traits) Evaluations() int { return max(1, t.Costs) }
