package method

import (
	"cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Sampling describes a sampler: islands of particles on a path. Chains are islands of one particle on a path that stays at the
// posterior.
type Sampling struct {
	Unit      string // what an island is called: island, chain
	Islands   int
	Particles int // of an island
	Path      smc.Path
	Pilot     bool // a run before the islands chose the temperatures of Path
	Move      mcmc.Move
	Step      string // the path of the move's step size in a config
	Resample  smc.Resampler
	Combine   bnn.Combination // how islands are weighted in the posterior

	Start      string   // the start of the particles, by its name in a config
	Whole      smc.Path // Path, with what leads to its first target
	Weighted   bool     // the weights count the energy errors of the moves
	NoPath     string   // the name of a weighting that leaves out the change of target, so that weights follow no path of targets; empty: of no such one
	Drawn      bool     // particles begin at draws of the prior, whose weights are known
	Learned    bool     // layers that are not random are learned, so that no one model has the evidence
	Comparable bool     // the final target is always the posterior, so islands can be weighted by their evidences

	WasteFree int // chains of a waste-free sampler, whose states its particles are; 0: none

	couldWasteFree bool // the sampler could be waste-free
	anchored       bool // the prior has an anchor

	at          string                             // the path of the method in a config
	chains      bool                               // each island is a chain
	budget      int                                // epochs of a chain
	temperature float64                            // of a cold posterior; 0: it is the posterior
	apart       bool                               // each island has a prior of its own
	patience    int                                // of the rule that stops islands early; 0: there is none
	unlearning  bool                               // lines of the trace have Unlearning
	every       int                                // of a line of the trace: epochs on a path in epochs, else iterations; 0: 1
	words       func(figures) (long, short string) // describes progress, for a wide terminal and for a narrow one
}

// estimates reports whether islands estimate an evidence.
func (s *Sampling) estimates() bool {
	facts := s.Path.Traits().Evidence
	return s.Drawn && !s.Learned && !s.apart && s.NoPath == "" && !facts.Fresh && !facts.Cold
}

// Series is how many series the states are of that an island ends with: state j is of series j mod Series, and the states of one series depend on
// each other.
func (s *Sampling) Series() int {
	if s.WasteFree > 0 {
		return s.WasteFree
	}
	return s.Particles
}

// Chains reports whether each island is a chain, which has a budget of epochs.
func (s *Sampling) Chains() bool { return s.chains }

// figures are means over the islands at work; but lambda is their lowest power of the likelihood, and epochs the mean over
// all islands. iteration counts epochs on a path in epochs (unit).
type figures struct {
	epochs, lambda, iteration, examples, ess, acceptance, step, ancestors float64
}

// stepOf is the path of a move's step size in a config, below that of its method; empty where nothing moves.
func stepOf(at string, move mcmc.Move) string {
	if move == nil {
		return ""
	}
	return at + ".move." + mcmc.Moves.Name(move) + "." + cmp.Or(move.Traits().Size, "step")
}
