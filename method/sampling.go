package method

import (
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
	Move      mcmc.Move
	Resample  smc.Resampler
	Combine   bnn.Combination // how islands are weighed in what is shown and saved

	Start      string // where particles begin
	Tempered   bool   // draws of the prior are led to the first target by tempering
	Literal    bool   // the weights leave out the change of target, for comparison only
	Evidence   bool   // islands estimate an evidence: particles begin at draws of the prior
	Comparable bool   // islands' evidences are the posterior's, whatever the data, so that islands can be weighed by them

	words func(figures) (long, short string) // say how far it is, for a wide terminal and for a narrow one
}

// Chains says that each island is a chain, which spends a budget of epochs.
func (s *Sampling) Chains() bool { return s.Unit == "chain" }

// figures are means over the islands that run; lambda is the lowest power of the likelihood, epochs the mean over all islands.
type figures struct {
	epochs, lambda, iteration, examples, ess, acceptance, step, ancestors float64
}
