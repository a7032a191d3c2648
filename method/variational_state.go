package method

import (
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/ckpt"
)

// copy makes s a deep copy of from.
func (s *approximation) copy(from *approximation) {
	at, moments, best := s.At, s.Moments, s.Watch.Theta
	moments.Copy(&from.Moments)
	*s = *from
	s.At, s.Moments = append(at[:0], from.At...), moments
	s.Watch.Theta = append(best[:0], from.Watch.Theta...)
}

const variationalKind = "method.Variational/1"

// WriteTo packs the state. Errors are those of w.
func (s *approximation) WriteTo(w io.Writer) (int64, error) {
	e := ckpt.NewEncoder(variationalKind)
	e.Ints("epochs", s.Epochs, s.Moments.Steps)
	e.Ints("watch", s.Watch.Checks, s.Watch.BestAt)
	e.Float64s("score", []float64{s.Watch.Best})
	e.Float64s("at", s.At)
	e.Float64s("first", s.Moments.First)
	e.Float64s("second", s.Moments.Second)
	e.Float64s("best", s.Watch.Theta)
	return e.WriteTo(w)
}

// UnmarshalBinary is the inverse of WriteTo. It refuses a state of another network, or of more epochs.
func (v *variational) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, variationalKind)
	if err != nil {
		return err
	}
	var s approximation
	d.Ints("epochs", &s.Epochs, &s.Moments.Steps)
	d.Ints("watch", &s.Watch.Checks, &s.Watch.BestAt)
	score := d.Float64s("score")
	s.At, s.Moments.First, s.Moments.Second, s.Watch.Theta = d.Float64s("at"), d.Float64s("first"), d.Float64s("second"), d.Float64s("best")
	if len(score) != 1 {
		d.Fail("%d scores, want 1", len(score))
	}
	if err := d.Err(); err != nil {
		return err
	}
	if s.Epochs < 0 || s.Epochs > v.VI.Epochs {
		return fmt.Errorf("an approximation of %d epochs, at most %d are made", s.Epochs, v.VI.Epochs)
	}
	for _, vector := range [][]float64{s.At, s.Moments.First, s.Moments.Second, s.Watch.Theta} {
		if n := len(vector); n != len(v.first) && (n > 0 || s.Watch.BestAt > 0) || s.Epochs > 0 && len(s.At) != len(v.first) {
			return fmt.Errorf("an approximation of %d parameters; that of the network has %d", n, len(v.first))
		}
	}
	s.Watch.Best = score[0]
	v.approximation = s
	return nil
}
