package method

import (
	"context"
	"errors"
	"io"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// island is one island of particles, or one chain: a part of a run whose steps are iterations of a sampler, or several of
// them.
type island struct {
	job      *Job
	sampler  *smc.Sampler
	state    *smc.State // nil: the island has not begun
	evidence bool       // the weights estimate an evidence; if not, the trace has 0
	tested   bool       // the island is evaluated on the test examples every TestedEvery iterations
	follows  bool       // lines of the trace have Unlearning
	every    int        // iterations of a step, which leaves one line in the trace
	lost     *Lost      // nil: it was not lost

	patience int      // of the stopping rule; 0: there is none
	stopping Stopping // its state

	judged   int // the iteration of the scores below
	losses   []float64
	nll      *uq.Number
	accuracy *uq.Number
}

var (
	_ runs.Part = (*island)(nil)
	_ worker    = (*island)(nil)
)

// TestedEvery is the number of iterations from one evaluation on the test examples to the next.
const TestedEvery = 20

// Done reports whether the island is at the end of its path, was stopped or was lost.
func (p *island) Done() bool {
	return p.state != nil && (p.lost != nil || p.stopping.Stopped || p.sampler.Done(p.state))
}

// K is the number of steps made. The last may have fewer iterations than the others, and so may the last of a warm-up.
func (p *island) K() int {
	switch {
	case p.state == nil:
		return 0
	case p.lost != nil:
		return p.lost.Step
	}
	return smc.Calls(p.sampler.Path, p.state, p.every)
}

// spent counts an evaluation of the validation examples by every particle at every line of the trace, and what Unlearning costs. What led
// to a loss is not counted.
func (p *island) spent() eval.Work {
	w, scored := eval.Work{Gradients: p.state.Gradients, Values: p.state.Values}, p.K()
	if p.lost != nil {
		scored--
	}
	if set := p.job.Data.Validate; set != nil {
		w.Validation = scored * p.state.J * set.Len()
	}
	if p.follows { // by itself and in the ensemble, and once before the first iteration
		w.Values += (scored + 1) * p.state.J * p.job.Data.Train.Len()
		if set := p.job.Data.Validate; set != nil {
			w.Validation += (scored + 2) * p.state.J * set.Len()
		}
	}
	return w
}

// Step makes the iterations of a step, and scores the particles after them.
func (p *island) Step(ctx context.Context) (line runs.Line, err error) {
	if p.state == nil {
		if p.state, err = p.sampler.Init(ctx); err != nil {
			p.state = nil
			return line, err
		}
	}
	var it Iteration
	if p.follows && p.state.K == 0 {
		if it.AtStart, err = p.unlearned(ctx); err != nil {
			return line, err
		}
	}
	info, err := p.sampler.Steps(ctx, p.state, p.every)
	if diverged := (*mcmc.Diverged)(nil); errors.As(err, &diverged) {
		return p.lose(err), nil
	}
	if err != nil {
		return line, err
	}
	defer func() {
		if err != nil { // the trace would lack these iterations
			p.sampler.Undo(p.state)
		}
	}()
	if !p.evidence {
		info.LogZ, info.LogZSD, info.LadderBias = 0, nil, nil
	}
	it.Info = info
	ctx = context.WithoutCancel(ctx) // a run that is stopped still completes this step
	if set := p.job.Data.Validate; set != nil {
		if p.judged != p.state.K {
			if _, err = p.judge(ctx, p.state); err != nil {
				return line, err
			}
		}
		it.ValNLL, it.ValAccuracy = p.nll, p.accuracy
	}
	if p.follows {
		if it.Unlearning, err = p.unlearned(ctx); err != nil {
			return line, err
		}
	}
	if set := p.job.Data.Test; p.tested && set != nil && (info.K%TestedEvery == 0 || p.Done()) {
		err = p.job.Run.Aside(func() (err error) {
			_, it.TestNLL, it.TestAccuracy, err = p.score(ctx, p.state, set)
			return err
		})
		if err != nil {
			return line, err
		}
	}
	if err = p.store(); err != nil {
		return line, err
	}
	if kept, ok := p.sampler.Keep.(after); ok && p.patience > 0 && kept.Keeps(p.sampler.Path, p.state) {
		if p.stopping.Observe(p.losses, p.patience) {
			it.Progress = 1
		}
		now, best := eval.MeanNLL(p.stopping.Losses(), p.job.Data.Validate, p.job.Data), eval.MeanNLL(p.stopping.Best, p.job.Data.Validate, p.job.Data)
		it.KeptNLL, it.BestKeptNLL = &now, &best
	}
	if p.Done() {
		p.sampler.Release()
	}
	return runs.Line{Progress: it.Progress, Fields: it}, nil
}

// judge is the loss of a state: the validation NLL of its weighted ensemble. The line of the trace shows it too.
func (p *island) judge(ctx context.Context, st *smc.State) (loss float64, err error) {
	p.judged = 0
	if p.losses, p.nll, p.accuracy, err = p.score(ctx, st, p.job.Data.Validate); err != nil {
		return 0, err
	}
	p.judged = st.K
	return float64(*p.nll), nil
}

// score evaluates the weighted ensemble of a state on a set. accuracy is nil for regression.
func (p *island) score(ctx context.Context, st *smc.State, set *data.Set) (losses []float64, nll, accuracy *uq.Number, err error) {
	e, err := bnn.Combine(p.job.Net, []bnn.Island{{Theta: st.Theta, LogWeights: st.LogW, Shared: st.Psi}}, bnn.Equal{})
	if err != nil {
		return nil, nil, nil, err
	}
	losses, accuracy, err = eval.Losses(ctx, e, set, p.job.Pool)
	value := eval.MeanNLL(losses, set, p.job.Data)
	return losses, &value, accuracy, err
}

// WriteTo packs the state. Errors are those of w.
func (p *island) WriteTo(w io.Writer) (int64, error) {
	if p.state == nil {
		return 0, errors.New("an island that has not begun has no state")
	}
	var before int64
	if p.lost != nil {
		var err error
		if before, err = p.lost.writeTo(w); err != nil {
			return before, err
		}
	}
	write := p.state.WriteTo
	if p.patience > 0 {
		write = func(w io.Writer) (int64, error) { return p.stopping.writeTo(w, p.state) }
	}
	n, err := write(w)
	return before + n, err
}

// UnmarshalBinary is the inverse of WriteTo.
func (p *island) UnmarshalBinary(b []byte) error {
	lost, b := cutLost(b)
	var stopping Stopping
	if p.patience > 0 {
		var err error
		if b, err = stopping.unpack(b, p.job.Data.Validate.Len()); err != nil {
			return err
		}
	}
	st := new(smc.State)
	if err := st.UnmarshalBinary(b); err != nil {
		return err
	}
	p.state, p.stopping, p.lost = st, stopping, lost
	_, err := p.stored() // a file that is missing or damaged is named now, not at the end
	return err
}

// gather joins the islands of the last phase that were not lost in one ensemble, and tells of the others. s becomes the sampling of those
// that remain. by weights the islands.
func (s *Sampling) gather(job *Job, phases []runs.Phase, by bnn.Combination) (*bnn.Ensemble, []finding.Finding, error) {
	var parts []bnn.Island
	files, phase := false, phases[len(phases)-1]
	found, err := s.leaveOut(phase)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range remaining(phase) {
		kept := p.state.Ensemble()
		one := bnn.Island{Theta: kept.Theta, LogWeights: kept.LogW, Shared: kept.Psi, Format: p.format()}
		if p.evidence {
			one.LogEvidence = p.state.LogZ
		}
		if one.Members, err = p.stored(); err != nil {
			return nil, nil, err
		}
		files = files || one.Members != nil
		parts = append(parts, one)
	}
	for i := range parts {
		if !files {
			break
		}
		if err := parts[i].Store(job.Net); err != nil {
			return nil, nil, err
		}
	}
	e, err := bnn.Combine(job.Net, parts, by)
	return e, found, err
}
