package method

import (
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/ckpt"
)

// copy makes s a deep copy of from.
func (s *approximation) copy(from *approximation) {
	at, moments, best, third, last := s.At, s.Moments, s.Watch.Theta, s.Third, s.Last
	moments.Copy(&from.Moments)
	*s = *from
	s.At, s.Moments = append(at[:0], from.At...), moments
	s.Watch.Theta = append(best[:0], from.Watch.Theta...)
	s.Third, s.Last = append(third[:0], from.Third...), append(last[:0], from.Last...)
}

const variationalKind = "method.Variational/2"

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
	e.Float64s("third", s.Third)
	e.Float64s("last", s.Last)
	e.Float64s("rise", []float64{s.Rise, s.Error})
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
	s.Third, s.Last = d.Float64s("third"), d.Float64s("last")
	rise := d.Float64s("rise")
	if len(score) != 1 || len(rise) != 2 {
		d.Fail("%d scores and %d numbers of the rise, want 1 and 2", len(score), len(rise))
	}
	if err := d.Err(); err != nil {
		return err
	}
	if s.Epochs < 0 || s.Epochs > v.VI.Epochs {
		return fmt.Errorf("an approximation of %d epochs, at most %d are made", s.Epochs, v.VI.Epochs)
	}
	means, n := v.Keep == KeepMean, v.quarter()
	left := v.steps(v.model.Examples()) - s.Epochs*ceil(v.model.Examples(), v.Batch)
	for _, c := range []struct {
		vector []float64
		there  bool
	}{
		{s.At, s.Epochs > 0}, {s.Moments.First, s.Epochs > 0}, {s.Moments.Second, s.Epochs > 0}, {s.Watch.Theta, s.Watch.BestAt > 0},
		{s.Third, means && s.Epochs > 0 && left < 2*n && v.steps(v.model.Examples()) > n}, {s.Last, means && left < n},
	} {
		want := 0
		if c.there {
			want = len(v.first)
		}
		if len(c.vector) != want {
			return fmt.Errorf("an approximation of %d parameters; that of the network has %d", len(c.vector), want)
		}
	}
	s.Watch.Best, s.Rise, s.Error = score[0], rise[0], rise[1]
	v.approximation = s
	return nil
}
