package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// islands is the phase of a sampler's islands, whose particles begin at a start. sampler returns the settings of island i; islands
// adds the settings that all methods have in common.
func (s *Sampling) islands(job *Job, start start, sampler func(i int) *smc.Sampler) (runs.Phase, error) {
	phase := runs.Phase{Name: s.Unit + "s"}
	var prior mcmc.Prior
	for i := range s.Islands {
		if s.apart || i == 0 {
			var err error
			if prior, err = s.prior(job, i); err != nil {
				return phase, err
			}
		}
		one := sampler(i)
		one.Model, one.Prior, one.Seed, one.Island, one.Pool = job.Model, prior, job.Seed, i, job.Pool
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
	return phase, nil
}

// prior is the prior of an island: where each has an anchor, about the restart of the island's number; of a cold posterior, to the power 1/T.
func (s *Sampling) prior(job *Job, island int) (prior mcmc.Prior, err error) {
	prior = job.Prior
	if s.apart {
		if prior, err = job.About.Apply(prior, job.Points.starts(island, 1)); err != nil {
			return nil, err
		}
	}
	if cold(s.temperature) {
		return bnn.Cold(prior, s.temperature)
	}
	return prior, nil
}
