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
		one.Start = start.place(job, i, s.Particles)
		part := &island{
			job: job, sampler: one, evidence: s.estimates(), every: s.lines(job.Data.Train.Len()),
			tested: s.Path.Batches() && job.Data.Validate == nil,
		}
		if job.Net.Partly() {
			phi := start.shared(job, i)
			one.Model = bnn.Learning{Model: job.Model.At(phi)}
			one.Psi, part.frozen = phi[:job.Net.Learned()], phi[job.Net.Learned():]
		}
		if job.Data.Validate != nil {
			one.Judge = part.judge
		}
		phase.Parts = append(phase.Parts, part)
	}
	watch := newWatch(s, job)
	watch.begin()
	phase.Watch, phase.Resumed = watch.step, watch.resumed
	return phase
}

// iterations is the number of iterations of so many lines of the trace, of which the last may have fewer than the others.
func (s *Sampling) iterations(lines, examples int) int {
	n := lines * s.lines(examples)
	if all := smc.Iterations(s.Path, examples); all > 0 {
		n = min(n, all)
	}
	return n
}

// made is what so many lines of the trace have: iterations or, on a path in epochs, epochs.
func (s *Sampling) made(lines, examples int) int {
	return ceil(s.iterations(lines, examples), max(1, s.Path.PerEpoch(examples)))
}

// unit is what a path counts: iterations or epochs.
func unit(path smc.Path) (long, short string) {
	if path.PerEpoch(1) > 0 {
		return "epoch", "ep"
	}
	return "iteration", "k"
}

// Line is what a line of the trace of islands is: an iteration, an epoch, or several of them.
func (s *Sampling) Line() string {
	line, _ := unit(s.Path)
	if s.every > 1 {
		line = "trace line"
	}
	return line
}

// lines is the number of iterations of a line of the trace, for a number of training examples.
func (s *Sampling) lines(examples int) int {
	return max(1, s.every) * max(1, s.Path.PerEpoch(examples))
}
