package method

import (
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
)

// islands is the phase of a sampler's islands, whose particles begin at a start. sampler returns the settings of island i; islands
// adds the settings that all methods have in common.
func (s *Sampling) islands(job *Job, start start, sampler func(i int) *smc.Sampler) runs.Phase {
	phase := runs.Phase{Name: s.Unit + "s"}
	for i := range s.Islands {
		one := sampler(i)
		model, shared := job.Model, start.shared(job, i)
		if shared != nil {
			model = model.At(shared)
		}
		one.Model, one.Prior, one.Seed, one.Island, one.Pool = model, job.Prior, job.Seed, i, job.Pool
		one.Start = start.place(job, i, s.Particles)
		phase.Parts = append(phase.Parts, &island{
			job: job, sampler: one, shared: shared, evidence: s.Evidence, every: max(1, s.every),
			tested: s.Path.Batches() && job.Data.Validate == nil,
		})
	}
	watch := newWatch(s, job)
	watch.begin()
	phase.Watch, phase.Resumed = watch.step, watch.resumed
	return phase
}
