package scans

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/ssm"
)

// walkers are two targets on a line; the measurements of a scan are their places. Their state becomes NaN at the end.
type walkers struct {
	ssm.Model
	end float64
}

func (walkers) Dim() int                         { return 4 }
func (walkers) Targets() int                     { return 2 }
func (walkers) Coordinates() []string            { return []string{"x", "vx"} }
func (walkers) Period() float64                  { return 0.5 }
func (walkers) Start(_ *ssm.Stream, x []float64) { copy(x, []float64{0, 1, 10, 2}) }

func (w walkers) Transition(dt float64) (ssm.Transition, error) {
	if dt != 0.5 {
		return nil, errors.New("another interval")
	}
	return w, nil
}

func (w walkers) Sample(_ *ssm.Stream, from, x []float64) {
	copy(x, []float64{from[0] + from[1]/2, from[1], from[2] + from[3]/2, from[3]})
	if x[0] > w.end {
		x[0] /= x[0] - x[0]
	}
}

func (walkers) LogDensity(_, _ []float64) float64 { return 0 }

func (walkers) Measure(s *ssm.Stream, x []float64, scan *ssm.Scan) {
	scan.Width = 1
	scan.Values = append(scan.Values, x[0]+s.Normal(), x[2])
}

func TestSimulated(t *testing.T) {
	s := NewSimulated(walkers{end: 9}, 4, 3)
	short := NewSimulated(walkers{end: 9}, 4, 2)
	for k := range 3 {
		r, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		now := float64(k+1) / 2
		if r.Time != now || r.Text != []string{"0.5", "1", "1.5"}[k] || r.Len() != 2 || r.Line != 0 || len(r.Truth) != 2 {
			t.Errorf("scan %d: %+v", k, r)
		}
		if a, b := r.Truth[0], r.Truth[1]; a.ID != "1" || b.ID != "2" || !slices.Equal(a.State, []float64{now, 1}) || !slices.Equal(b.State, []float64{10 + 2*now, 2}) {
			t.Errorf("scan %d: the truth is %+v", k, r.Truth)
		}
		if again, err := short.Next(); k < 2 && (err != nil || !slices.Equal(again.Values, r.Values)) || k == 2 && err != io.EOF {
			t.Errorf("scan %d of fewer: %+v, %v", k, again, err)
		}
	}
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("error %v at the end", err)
	}
	broken := NewSimulated(walkers{end: 0.7}, 4, 3)
	broken.Next()
	if _, err := broken.Next(); err == nil || !strings.HasPrefix(err.Error(), "simulated scans: scan 2: ") {
		t.Errorf("error %v", err)
	}
}
