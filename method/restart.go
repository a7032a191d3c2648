package method

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// restart is one descent of a search: a part of a run whose steps are epochs.
type restart struct {
	*search
	number int

	descent          // the present state
	before  descent  // the state when the epoch began
	work    *scratch // while the restart is at work, else nil
}

// descent is the complete state of a restart. A restart that is saved and restored between two epochs ends with the same
// bits.
type descent struct {
	Theta    []float64    // the present parameters; nil: the restart has not begun
	Moments  nn.Moments   // of the optimiser
	Watch    nn.EarlyStop // of the validation NLL, where the best epoch is kept; Watch.Theta is its state
	Accuracy float64      // of the state that is kept so far on the validation examples; NaN without them and for regression
	Epochs   int          // epochs made
	Ended    bool

	Train, Val []float64 // NLL of the epochs: see Course
}

var (
	_ runs.Part = (*restart)(nil)
	_ worker    = (*restart)(nil)
)

// scratch is the working space of a restart.
type scratch struct {
	buffers
	outputs []float32 // of the network on the validation examples
}

func (b *search) scratch() *scratch {
	w := &scratch{buffers: b.newBuffers()}
	if b.labels != nil {
		w.outputs = make([]float32, len(b.labels)*b.train.Net().Outputs())
	}
	return w
}

// Done reports whether the restart has ended.
func (r *restart) Done() bool { return r.Ended }

// K is the number of epochs made.
func (r *restart) K() int { return r.Epochs }

// mark is a state by its scores on the validation examples.
type mark struct {
	epoch         int     // counted from 1; 0: the start
	nll, accuracy float64 // NaN without validation examples; the accuracy for regression, too
}

// kept returns the state that the restart would keep if it ended now; no parameters where none was scored yet.
func (r *restart) kept() (theta []float64, at mark) {
	switch {
	case r.validate == nil:
		return r.Theta, mark{r.Epochs, math.NaN(), r.Accuracy}
	case r.Keep == KeepBestEpoch:
		return r.Watch.Theta, mark{r.Watch.BestAt, r.Watch.Best, r.Accuracy}
	case len(r.Val) == 0:
		return nil, mark{}
	}
	return r.Theta, mark{r.Epochs, r.Val[len(r.Val)-1], r.Accuracy}
}

// given reports whether the restart begins at the given network.
func (r *restart) given() bool { return r.number == 0 && r.first != nil }

// spent counts an evaluation of the validation examples after every epoch, and one of all examples at a given start. Without validation
// examples the restarts are compared on the training examples at the end.
func (r *restart) spent() eval.Work {
	w, scored := eval.Work{Gradients: r.Epochs * r.train.Examples()}, r.Epochs
	if r.given() {
		scored, w.Values = scored+1, r.train.Examples()
	}
	if r.validate == nil {
		w.Values += r.train.Examples()
	} else {
		w.Validation = scored * r.validate.Examples()
	}
	return w
}

// Step makes one epoch. It leaves no line in the trace.
func (r *restart) Step(ctx context.Context) (runs.Line, error) {
	if r.work == nil {
		r.work = r.scratch()
	}
	if r.Theta == nil {
		if err := r.begin(ctx); err != nil {
			r.descent = descent{}
			return runs.Line{}, fmt.Errorf("MAP restart %d, at its start: %w", r.number, err)
		}
	}
	r.before.copy(&r.descent)
	var lost *lossError
	if err := r.epoch(ctx); errors.As(err, &lost) {
		r.end(lost)
	} else if err != nil {
		r.descent, r.before = r.before, r.descent
		return runs.Line{}, fmt.Errorf("MAP restart %d, epoch %d: %w", r.number, r.Epochs+1, err)
	}
	if r.Ended {
		r.work, r.before = nil, descent{}
	}
	return runs.Line{}, nil
}

// end ends a restart whose loss is not finite in this epoch. The parameters are those before it, and the course ends with the loss.
func (r *restart) end(by *lossError) {
	after := r.descent
	if len(after.Train) == len(r.before.Train) {
		after.Train = append(after.Train, -by.ll)
	}
	if r.validate != nil && len(after.Val) == len(r.before.Val) {
		after.Val = append(after.Val, math.NaN())
	}
	r.descent, r.before = r.before, descent{}
	r.Epochs, r.Train, r.Val, r.Ended = after.Epochs, after.Train, after.Val, true
}

// lost is the error of the loss that ended the restart, as its course shows it; nil: the restart ended otherwise, or goes on.
func (r *restart) lost() error {
	if !r.Ended || r.Epochs == 0 {
		return nil
	}
	rate := r.Rate * r.Schedule.Share(r.Epochs-1, r.search.Epochs)
	err := finite("log-likelihood of a batch", -r.Train[len(r.Train)-1], rate)
	if err == nil && r.validate != nil {
		err = finite("log-likelihood of the validation set", -r.Val[len(r.Val)-1], rate)
	}
	return err
}

// begin sets the parameters to a draw (Search.Start), but for outputs that are scales (nn.Tensor.Zero). The first restart begins at the
// given network instead, if there is one, and scores it.
func (r *restart) begin(ctx context.Context) (err error) {
	r.descent = descent{Theta: make([]float64, r.train.Dim()), Watch: nn.EarlyStop{Patience: r.Patience}, Accuracy: math.NaN()}
	if !r.given() {
		tensors := r.train.Net().Random()
		r.Start.Draw(tensors, r.prior, r.key(rng.Start, r.number, 0).Stream(), r.Theta)
		for _, t := range tensors {
			clear(r.Theta[t.Offset:][t.Size-t.Zero : t.Size])
		}
		return nil
	}
	copy(r.Theta, r.first)
	w := r.work
	if err := r.train.LogLik(ctx, nil, r.Theta, w.ll[:], nil); err != nil {
		return err
	}
	r.Train = append(r.Train, -w.ll[0]/float64(r.train.Examples()))
	if r.validate == nil {
		return nil
	}
	nll := 0.0
	if nll, r.Accuracy, err = r.score(ctx); err == nil {
		r.Val = append(r.Val, nll)
		if r.Keep == KeepBestEpoch {
			r.Watch.Start(nll, r.Theta)
		}
	}
	return err
}

// epoch passes once through the training examples, then scores the validation examples.
func (r *restart) epoch(ctx context.Context) error {
	w := r.work
	r.Epochs++
	rate := r.Rate * r.Schedule.Share(r.Epochs-1, r.search.Epochs)
	nll, err := r.pass(ctx, &w.buffers, r.key(rng.Batch, r.number, r.Epochs), r.Optimiser, &r.Moments, r.Theta, rate)
	if err != nil {
		return err
	}
	r.Train = append(r.Train, nll)
	r.Ended = r.Epochs == r.search.Epochs
	if r.validate == nil {
		return nil
	}
	nll, accuracy, err := r.score(ctx)
	if err != nil {
		return err
	}
	r.Val = append(r.Val, nll)
	if err := finite("log-likelihood of the validation set", w.ll[0], rate); err != nil {
		return err
	}
	if r.Keep == KeepBestEpoch {
		r.Ended = r.Watch.Observe(nll, r.Theta) || r.Ended
	}
	if _, at := r.kept(); at.epoch == r.Epochs {
		r.Accuracy = accuracy
	}
	return nil
}

// score returns the mean NLL and, for classification, the accuracy of the present parameters on the validation examples.
func (r *restart) score(ctx context.Context) (nll, accuracy float64, err error) {
	w := r.work
	if err := r.validate.LogLik(ctx, nil, r.Theta, w.ll[:], nil); err != nil {
		return 0, 0, err
	}
	nll = -w.ll[0] / float64(r.validate.Examples())
	if r.labels == nil {
		return nll, math.NaN(), nil
	}
	if err := r.validate.Outputs(ctx, nil, r.Theta, w.outputs); err != nil {
		return 0, 0, err
	}
	k := len(w.outputs) / len(r.labels)
	right := 0
	for i, y := range r.labels {
		if class(w.outputs[i*k:(i+1)*k]) == y {
			right++
		}
	}
	return nll, float64(right) / float64(len(r.labels)), nil
}

// class returns the most probable class, the first of equally probable ones. A single output is the logit of class 1 against
// class 0.
func class(outputs []float32) int32 {
	if len(outputs) == 1 {
		if outputs[0] > 0 {
			return 1
		}
		return 0
	}
	best := 0
	for c, z := range outputs {
		if z > outputs[best] {
			best = c
		}
	}
	return int32(best)
}

// copy makes s a deep copy of from, but for the course: it is only appended to.
func (s *descent) copy(from *descent) {
	theta, moments, best := s.Theta, s.Moments, s.Watch.Theta
	moments.Copy(&from.Moments)
	*s = *from
	s.Theta, s.Moments = append(theta[:0], from.Theta...), moments
	s.Watch.Theta = append(best[:0], from.Watch.Theta...)
}

const restartKind = "method.Restart/2"

// WriteTo packs the state. Errors are those of w.
func (s *descent) WriteTo(w io.Writer) (int64, error) {
	ended := 0
	if s.Ended {
		ended = 1
	}
	e := ckpt.NewEncoder(restartKind)
	e.Ints("epochs", s.Epochs, ended)
	e.Ints("moments", s.Moments.Steps)
	e.Ints("watch", s.Watch.Patience, s.Watch.Checks, s.Watch.BestAt)
	e.Float64s("scores", []float64{s.Watch.Best, s.Accuracy})
	e.Float64s("theta", s.Theta)
	e.Float64s("first", s.Moments.First)
	e.Float64s("second", s.Moments.Second)
	e.Float64s("best", s.Watch.Theta)
	e.Float64s("train_nll", s.Train)
	e.Float64s("val_nll", s.Val)
	return e.WriteTo(w)
}

// UnmarshalBinary is the inverse of WriteTo. It refuses a state of another network.
func (r *restart) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, restartKind)
	if err != nil {
		return err
	}
	var s descent
	var ended int
	d.Ints("epochs", &s.Epochs, &ended)
	d.Ints("moments", &s.Moments.Steps)
	d.Ints("watch", &s.Watch.Patience, &s.Watch.Checks, &s.Watch.BestAt)
	scores := d.Float64s("scores")
	s.Theta = d.Float64s("theta")
	s.Moments.First, s.Moments.Second = d.Float64s("first"), d.Float64s("second")
	s.Watch.Theta = d.Float64s("best")
	s.Train, s.Val = d.Float64s("train_nll"), d.Float64s("val_nll")
	if len(scores) != 2 {
		d.Fail("%d scores, want 2", len(scores))
	}
	if err := d.Err(); err != nil {
		return err
	}
	dim := r.train.Dim()
	if len(s.Theta) != dim || (s.Watch.BestAt > 0 || s.Watch.Theta != nil) && len(s.Watch.Theta) != dim {
		return fmt.Errorf("a restart of %d parameters, %d at its best; the network has %d", len(s.Theta), len(s.Watch.Theta), dim)
	}
	scored, judged := s.Epochs, 0
	if r.given() {
		scored++
	}
	if r.validate != nil {
		judged = scored
	}
	if len(s.Train) != scored || len(s.Val) != judged {
		return fmt.Errorf("a restart with the training NLL of %d epochs and the validation NLL of %d, want %d and %d", len(s.Train), len(s.Val), scored, judged)
	}
	s.Ended, s.Watch.Best, s.Accuracy = ended != 0, scores[0], scores[1]
	r.descent = s
	return nil
}
