package smc

import "github.com/starling-smc/starling/mcmc"

// Targets decides which target comes next. It is a plain value: its state is in the State. A program's own path needs these
// methods only.
//
// A path may also have these methods, which a sampler uses if they are there:
//
//	Remember(st *State) []int           what to keep in State.Memory, after every iteration: numbers of iterations, at most st.K
//	Share() float64                     as in Path
//	Mutations() mcmc.Mutations          as in Path
//	Resampling() Occasion               as in Path; without it, below an effective sample size of half the particles
//	PerEpoch(n int) int                 as in Path; without it, 0
//	Count(st *State) (made, all int)    the iterations made at st, and in all: Keepers choose states by them
//	WarmedUp(st *State) int             the iterations of a chain's warm-up (mcmc.WarmUp), 0 while it lasts: Calls counts by them
//	LadderBias(st, next) float64        by how much the step from st to the stage next moves the mean of log Z, as the particles decide it
//	SuitsWeighting(w Weigher) error     why a weighting cannot go with it; the text follows the weighting's name
type Targets interface {
	// Start returns the target of the first particles for n examples, and whether draws from the prior must be weighted for
	// it. If not, the distribution of the first particles does not matter, as with chains. Particles are evaluated on this
	// target.
	Start(n int) (stage Stage, weigh bool)
	// Next returns the target of the iteration after st.
	Next(st *State) (Stage, error)
	// Done reports whether st is the end of the path.
	Done(st *State) bool
	// Progress is the share of the path that is done at st, 0…1.
	Progress(st *State) float64
	// Budget is the number of examples that moves may evaluate for a particle in the whole run; 0: no such limit.
	Budget(st *State) int
	// AnnealsIn reports whether examples are annealed in (Stage.Annealed). Particles then carry the contribution of these
	// examples.
	AnnealsIn() bool
}

// Path is a row of the table Paths. It has the further methods that package method, configs and reports need.
type Path interface {
	Targets

	// String is the title, as in "data annealing (linear)".
	String() string

	// PerEpoch is the number of iterations of an epoch of n examples; 0 if the path is not in epochs.
	PerEpoch(n int) int

	// Batches reports whether targets see batches of examples. Particles may then start anywhere, also by a TemperedStart.
	Batches() bool

	// Evidence describes which evidence the log-evidence at the end estimates.
	Evidence() Evidence

	// Share is the share of the particles that an adaptive step leaves effective; 0 if the path has no such steps.
	Share() float64

	// Resampling is the default of when to resample.
	Resampling() Occasion

	// Mutations is the default of how often a move that accepts or rejects is made in an iteration.
	Mutations() mcmc.Mutations

	// Power is λ as reports show it, without the factor that scales the likelihood of annealed examples to all n.
	Power(info Info, n int) float64

	// Curves are the path's own curves in a report, in addition to the curves of every sampler; n is the number of examples, 0 where it is not known.
	Curves(n int) []Curve

	// Prepares reports whether an iteration only leads to the path's first target. Such iterations do not count where the weights
	// on the path are judged.
	Prepares(info Info) bool

	// Caption says what the target of an iteration is, beside a curve of the log evidence so far.
	Caption() string

	// Work returns the work that an island has done at an iteration, and its total work, in the same unit. first is λ of the
	// island's first iteration, n the number of examples.
	Work(info Info, first float64, n int) (done, all float64)
}

var oneMove = mcmc.Mutations{Count: 1}

// Evidence describes which evidence the log-evidence at the end of a path estimates. The product of the weights estimates the
// normaliser of the last target. If the last target is the posterior of all examples, this is the model's evidence. The logarithm of an
// estimate is too low by about half the variance that it has, so that a path of Fresh batches leads to no log evidence.
type Evidence struct {
	Every  bool   // every target is the posterior of all examples
	Sure   bool   // the last target is always the posterior of all examples, so islands' evidences are comparable
	Unsure string // if not Sure, why the last target may be another; the text follows the path's name
	Batch  int    // if positive, the last target sees a batch of this many examples only
	Scaled bool   // likelihoods of batches are scaled to all examples
	Fresh  bool   // fresh batches lead there, whose changes cost more than weights carry (Schedule): a run shows no evidence
}

// Captions of several paths.
const (
	ownTarget    = "Of the iteration's own target."
	scaledTarget = ownTarget + " Its likelihood is scaled to all examples."
)
