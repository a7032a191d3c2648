package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
)

// islands is the phase of a sampler's islands, whose particles begin at a start. sampler returns the settings of island i; islands
// adds the settings that all methods have in common.
func (s *Sampling) islands(job *Job, start start, sampler func(i int) *smc.Sampler) runs.Phase {
	phase := runs.Phase{Name: s.Unit + "s"}
	for i := range s.Islands {
		one := sampler(i)
		one.Model, one.Prior, one.Seed, one.Island, one.Pool = job.Model, job.Prior, job.Seed, i, job.Pool
		theta, psi := start.begin(job, i, s.Particles)
		one.Start = theta
		part := &island{
			job: job, sampler: one, evidence: s.estimates(), every: s.lines(job.Data.Train.Len()),
			tested: s.Path.Traits().Batches && job.Data.Validate == nil, follows: s.unlearning, patience: s.patience,
		}
		if job.Net.Learned() > 0 {
			one.Model, one.Psi = bnn.Learning{Training: job.Model.At(psi)}, psi
		}
		if job.Data.Validate != nil {
			one.Judge = part.judge
		}
		phase.Parts = append(phase.Parts, part)
	}
	watch := newWatch(s, job)
	if !s.Pilot { // which begins first
		watch.begin()
	}
	phase.Watch, phase.Resumed = watch.step, watch.resumed
	return phase
}
