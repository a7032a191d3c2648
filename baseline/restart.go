package baseline

import (
	"encoding"
	"io"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/nn"
)

// Restart is the state of one descent, complete and plain: one that was saved and restored between two epochs goes on
// with the same bits.
type Restart struct {
	Theta    []float64    // the parameters now
	Moments  nn.Moments   // of the optimiser
	Watch    nn.EarlyStop // of the validation NLL; Watch.Theta is the best state
	Accuracy float64      // of the best state on the validation set; NaN without one and for regression
	Epochs   int          // done
	Done     bool
}

// copy makes s equal to from, deeply.
func (s *Restart) copy(from *Restart) {
	theta, first, second, best := s.Theta, s.Moments.First, s.Moments.Second, s.Watch.Theta
	*s = *from
	s.Theta = append(theta[:0], from.Theta...)
	s.Moments.First = append(first[:0], from.Moments.First...)
	s.Moments.Second = append(second[:0], from.Moments.Second...)
	s.Watch.Theta = append(best[:0], from.Watch.Theta...)
}

const restartKind = "baseline.Restart/1"

var (
	_ io.WriterTo                = (*Restart)(nil)
	_ encoding.BinaryUnmarshaler = (*Restart)(nil)
)

// WriteTo packs the state. Errors are those of w.
func (s *Restart) WriteTo(w io.Writer) (int64, error) {
	done := 0
	if s.Done {
		done = 1
	}
	e := ckpt.NewEncoder(restartKind)
	e.Ints("epochs", s.Epochs, done)
	e.Ints("moments", s.Moments.Steps)
	e.Ints("watch", s.Watch.Patience, s.Watch.Checks, s.Watch.BestAt)
	e.Float64s("scores", []float64{s.Watch.Best, s.Accuracy})
	e.Float64s("theta", s.Theta)
	e.Float64s("first", s.Moments.First)
	e.Float64s("second", s.Moments.Second)
	e.Float64s("best", s.Watch.Theta)
	return e.WriteTo(w)
}

// UnmarshalBinary is the inverse of WriteTo.
func (s *Restart) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, restartKind)
	if err != nil {
		return err
	}
	var r Restart
	var done int
	d.Ints("epochs", &r.Epochs, &done)
	d.Ints("moments", &r.Moments.Steps)
	d.Ints("watch", &r.Watch.Patience, &r.Watch.Checks, &r.Watch.BestAt)
	scores := d.Float64s("scores")
	r.Theta = d.Float64s("theta")
	r.Moments.First, r.Moments.Second = d.Float64s("first"), d.Float64s("second")
	r.Watch.Theta = d.Float64s("best")
	if len(scores) != 2 {
		d.Fail("%d scores, want 2", len(scores))
	}
	if err := d.Err(); err != nil {
		return err
	}
	r.Done, r.Watch.Best, r.Accuracy = done != 0, scores[0], scores[1]
	*s = r
	return nil
}
