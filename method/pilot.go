package method

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/smc"
)

// pilot is a run of an island before the others, with other random numbers: the part of a phase. Its path chooses the temperatures.
// The samplers of the islands then follow these as a ladder (smc.Ladder), in which their particles have no say. Nothing else of the
// pilot is used.
type pilot struct {
	job          *Job
	sampler      *smc.Sampler
	state        *smc.State // nil: the pilot has not begun, or is done
	temperatures []float64  // so far; the last is 1 once the pilot is done
	work         eval.Work  // so far
	followers    []*smc.Sampler
}

var (
	_ runs.Part = (*pilot)(nil)
	_ worker    = (*pilot)(nil)
)

// pilotPhase is the phase of the pilot of some islands.
func (m SMC) pilotPhase(job *Job, islands runs.Phase) runs.Phase {
	p := &pilot{job: job}
	for _, part := range islands.Parts {
		p.followers = append(p.followers, part.(*island).sampler)
	}
	first := p.followers[0]
	p.sampler = m.sampler()
	p.sampler.Keep = nil
	p.sampler.Model, p.sampler.Prior, p.sampler.Pool, p.sampler.Psi = first.Model, first.Prior, first.Pool, first.Psi
	p.sampler.Seed = rng.Key{Seed: job.Seed, Purpose: rng.Pilot}.Stream().Uint64()
	p.report(false)
	phase := runs.Phase{Name: "pilot", Parts: []runs.Part{p}}
	phase.Watch = func(runs.TraceLine) error { p.report(false); return nil }
	phase.Resumed = func([]runs.TraceLine) error { p.report(true); return nil }
	return phase
}

// checkPilot refuses a pilot that has no temperatures to choose. in returns the paths of fields in the config.
func (m SMC) checkPilot(around Around, in func(fields ...string) []string, f *config.Faults) {
	if !m.Pilot {
		return
	}
	const mends = "a pilot takes the bias of adaptive temperatures from the log evidence, and %s: leave pilot out"
	if cold(m.Temperature) {
		f.Conflict(in("pilot", "temperature"), mends, "a cold posterior has none")
	}
	if around.Prior.Anchor.Apart() {
		f.Conflict(append(in("pilot"), "prior.anchor.per"), mends, "islands with priors of their own have none in common")
	}
	if m.Path.Traits().Batches || m.Path.Traits().Share == 0 {
		f.Conflict(in("pilot", "path"), "a pilot chooses the temperatures of path tempering, and path %s has none to choose: leave pilot out", smc.Paths.Name(m.Path))
	}
	if !m.start().drawn {
		f.Conflict(in("pilot", "start"), "a pilot goes from the prior to the posterior, and start %s begins elsewhere: leave pilot out", m.start().name)
	}
}

// Done reports whether the pilot has reached the posterior.
func (p *pilot) Done() bool { return p.K() > 0 && p.temperatures[p.K()-1] >= 1 }

// K is the number of temperatures so far.
func (p *pilot) K() int { return len(p.temperatures) }

// Step makes an iteration. It leaves no line in the trace.
func (p *pilot) Step(ctx context.Context) (line runs.Line, err error) {
	if p.state == nil {
		if p.state, err = p.sampler.Init(ctx); err != nil {
			p.state = nil
			return line, fmt.Errorf("the pilot: %w", err)
		}
	}
	info, err := p.sampler.Step(ctx, p.state)
	if err != nil {
		return line, fmt.Errorf("the pilot: %w", err)
	}
	p.temperatures = append(p.temperatures, info.Lambda)
	p.work = eval.Work{Gradients: info.Gradients, Values: info.Values}
	if p.Done() {
		p.state = nil
		p.sampler.Release()
		p.lead()
	}
	return runs.Line{Progress: info.Progress}, nil
}

// lead puts the islands on the ladder of a pilot that is done.
func (p *pilot) lead() {
	for _, s := range p.followers {
		s.Path = smc.Ladder{Temperatures: p.temperatures}
	}
}

// spent counts the evaluations.
func (p *pilot) spent() eval.Work { return p.work }

func (p *pilot) report(resumed bool) {
	if p.job.Tell == nil {
		return
	}
	s := Status{Phase: "pilot", Ended: p.Done(), Resumed: resumed}
	if n := p.K(); n > 0 {
		if s.Share = 1; !s.Ended {
			done, all := p.sampler.Path.(smc.Path).Work(smc.Info{K: n, Lambda: p.temperatures[n-1]}, p.temperatures[0], p.job.Data.Train.Len())
			s.Share = done / all
		}
		s.Long = fmt.Sprintf("λ %.2g, step %d", p.temperatures[n-1], n)
		s.Short = s.Long
	}
	p.job.Tell(s)
}

const pilotKind = "method.pilot/1"

// WriteTo packs the temperatures, and the state while there is one.
func (p *pilot) WriteTo(w io.Writer) (int64, error) {
	if p.K() == 0 {
		return 0, errors.New("a pilot that has not begun has no state")
	}
	e := ckpt.NewEncoder(pilotKind)
	e.Ints("work", p.work.Gradients, p.work.Values)
	e.Float64s("temperatures", p.temperatures)
	return writeBefore(w, e.Encode(), p.state)
}

// UnmarshalBinary is the inverse of WriteTo.
func (p *pilot) UnmarshalBinary(b []byte) error {
	own, rest, err := cutBefore(b)
	if err != nil {
		return err
	}
	d, err := ckpt.NewDecoder(bytes.Clone(own), pilotKind)
	if err != nil {
		return err
	}
	var work eval.Work
	d.Ints("work", &work.Gradients, &work.Values)
	temperatures := slices.Clone(d.Float64s("temperatures"))
	if err := d.Err(); err != nil {
		return err
	}
	was := pilot{temperatures: temperatures}
	if !was.Done() {
		was.state = new(smc.State)
		if err := was.state.UnmarshalBinary(rest); err != nil {
			return err
		}
		if was.state.K != was.K() {
			return fmt.Errorf("a pilot of %d temperatures after %d iterations", was.K(), was.state.K)
		}
	}
	p.temperatures, p.work, p.state = temperatures, work, was.state
	if p.Done() {
		p.lead()
	}
	return nil
}
