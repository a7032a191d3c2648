package smc

import (
	"cmp"

	"github.com/starling-smc/starling/mcmc"
)

// Targets decides which target comes next. It is a plain value: its state is in the State. A program's own path needs these
// methods only. It may also be a Rememberer, Counted, WarmedUp, Adaptive or Epochal.
type Targets interface {
	// Traits are what the path says of itself.
	Traits() PathTraits
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
}

// PathTraits are what a path says of itself (docs/adr/0026-traits.md). They depend on its settings alone. The zero value is that of a path
// whose targets see all examples, of which the last is the posterior; its weights may be any, and it has no budget.
type PathTraits struct {
	// Epochs are the passes over all examples that moves may make for a particle in the whole run; 0: no such limit.
	Epochs int

	// AnnealsIn: examples are annealed in (Stage.Annealed). Particles then carry the contribution of these examples.
	AnnealsIn bool

	// Batches: targets see batches of examples. Particles may then start anywhere, also by a TemperedStart.
	Batches bool

	// Gradual: the likelihood comes in little by little. Weights of the population after the move alone would count it in every iteration.
	Gradual bool

	// Prepares: iterations without progress only lead to the path's first target. They do not count where the weights on the path are
	// judged.
	Prepares bool

	// Share is the share of the particles that an adaptive step leaves effective; 0: the path has no such steps.
	Share float64

	// Resampling is the default of when to resample; nil: BelowHalf.
	Resampling Occasion

	// Mutations is how often a move that accepts or rejects is made in an iteration, where nothing else says it; zero: once.
	Mutations mcmc.Mutations

	// Evidence describes which evidence the log-evidence at the end estimates.
	Evidence Evidence

	// Caption says what the target of an iteration is, beside a curve of the log evidence so far. If it is empty, that is the iteration's own
	// target, scaled or not as Evidence says.
	Caption string
}

// Rememberer is a path that keeps something in State.Memory, after every iteration: numbers of iterations, at most st.K.
type Rememberer interface{ Remember(st *State) []int }

// Counted is a path that knows how many iterations it has. Keepers choose states by them.
type Counted interface {
	// Count returns the iterations made at st, and in all.
	Count(st *State) (made, all int)
}

// WarmedUp is a path with a budget, of chains, that knows when their warm-up ended (mcmc.WarmUp). Calls counts by it.
type WarmedUp interface {
	// WarmedUp is the number of iterations of the warm-up, 0 while it lasts.
	WarmedUp(st *State) int
}

// Adaptive is a path whose steps the particles decide.
type Adaptive interface {
	// LadderBias is the change of the mean of log Z that the step from st to the stage next makes.
	LadderBias(st *State, next Stage) float64
}

// Epochal is a path, or a Rule, whose iterations make epochs.
type Epochal interface {
	// PerEpoch is the number of iterations that see all n examples about once; 0: by these settings it is not in epochs.
	PerEpoch(n int) int
}

// Path is a row of the table Paths. It has the further methods that package method, configs and reports need.
type Path interface {
	Targets

	// String is the title, as in "data annealing (linear)".
	String() string

	// Curves are the path's own curves in a report, in addition to the curves of every sampler; n is the number of examples, 0 where it is not known.
	Curves(n int) []Curve

	// Work returns the work that an island has done at an iteration, and its total work, in the same unit. first is λ of the
	// island's first iteration, n the number of examples.
	Work(info Info, first float64, n int) (done, all float64)
}

// Evidence describes which evidence the log-evidence at the end of a path estimates. The product of the weights estimates the
// normaliser of the last target. If the last target is the posterior of all examples, this is the model's evidence. The logarithm of an
// estimate is too low by about half the variance that it has, so that a path of Fresh batches leads to no log evidence.
type Evidence struct {
	Every  bool   // every target is the posterior of all examples
	Unsure string // why the last target may not be the posterior of all examples; the text follows the path's name. Empty: it always is
	Batch  int    // if positive, the last target sees a batch of this many examples only
	Scaled bool   // likelihoods of batches are scaled to all examples
	Fresh  bool   // fresh batches lead there, whose changes cost more than weights carry (Schedule): a run shows no evidence
	Cold   bool   // the last target is a cold posterior (Coolable): its normaliser is no evidence, and a run shows none
}

// Sure reports whether the last target is always the posterior of all examples, so that islands' evidences are comparable.
func (e Evidence) Sure() bool { return e.Unsure == "" }

// ownTarget is the caption of several paths.
const ownTarget = "Of the iteration's own target."

// Captioned is Caption or, where that is empty, the words that Evidence gives.
func (t PathTraits) Captioned() string {
	switch {
	case t.Caption != "":
		return t.Caption
	case t.Evidence.Scaled:
		return ownTarget + " Its likelihood is scaled to all examples."
	}
	return ownTarget
}

// DefaultMutations is how often a move that accepts or rejects is made in an iteration on a path, where the move does not say it.
func DefaultMutations(path Targets) mcmc.Mutations {
	return cmp.Or(path.Traits().Mutations, mcmc.Mutations{Count: 1})
}

// Power is λ of an iteration as reports show it, without the factor that scales the likelihood of annealed examples to all n.
func (t PathTraits) Power(info Info, n int) float64 {
	if t.AnnealsIn && t.Evidence.Scaled {
		return info.Lambda * float64(info.Examples) / float64(n)
	}
	return info.Lambda
}

// budgetOf is the number of examples that moves may evaluate for a particle in the whole run; 0: no such limit.
func budgetOf(path Targets, st *State) int { return path.Traits().Epochs * st.Examples }

// PerEpoch is the number of iterations of an epoch of n examples; 0 if the path or rule is not in epochs.
func PerEpoch(of any, n int) int {
	if of, ok := of.(Epochal); ok {
		return of.PerEpoch(n)
	}
	return 0
}

// counted returns how many iterations of a path are made at st, and how many it has in all, 0 where that is not known. Before a
// TemperedStart has reached its path, none is made.
func counted(path Targets, st *State) (made, all int) {
	if path, ok := path.(Counted); ok {
		return path.Count(st)
	}
	return 0, 0
}
