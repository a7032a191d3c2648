package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/runs"
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

// islands is the phase of a sampler's islands. sampler returns the settings of island i; what all methods set alike is added.
func (s *Sampling) islands(job *Job, sampler func(i int) *smc.Sampler) runs.Phase {
	phase := runs.Phase{Name: "islands"}
	for i := range s.Islands {
		one := sampler(i)
		one.Model, one.Prior, one.Seed, one.Island, one.Pool = job.Model, job.Prior, job.Seed, i, job.Pool
		phase.Parts = append(phase.Parts, &island{
			job: job, sampler: one, evidence: s.Evidence,
			tested: s.Path.Batches() && job.Data.Validate == nil,
		})
	}
	watch := newWatch(s, job)
	watch.begin()
	phase.Watch, phase.Resumed = watch.step, watch.resumed
	return phase
}
