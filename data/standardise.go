package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Standard centres and scales inputs, feature by feature: x ↦ To · (x − Mean) / SD. Mean and population SD (divided by
// n, not n − 1) come from training examples alone. A feature that is constant in training has SD 0 and becomes 0 everywhere,
// because nothing can be learnt about its effect.
type Standard struct {
	Mean []float64 `json:"mean"`
	SD   []float64 `json:"sd"`
	To   float64   `json:"to"` // standard deviation of the result; 1 is usual

	// Log says that x is the logarithm of a positive target: y ↦ To · (ln y − Mean) / SD. Inputs have no logarithms.
	Log bool `json:"log,omitempty"`
}

// FitStandard measures a training set, pixels as a network sees them.
func FitStandard(train *Set, to float64) *Standard {
	return fitStandard(train.Len(), train.Features(), to, train.Row)
}

// fitStandard takes two passes over n rows of p values, and another one if the scale of a feature is extreme.
func fitStandard(n, p int, to float64, row func(i int, dst []float64)) *Standard {
	s := &Standard{Mean: make([]float64, p), SD: make([]float64, p), To: to}
	x, first, top := make([]float64, p), make([]float64, p), make([]float64, p)
	varies := make([]bool, p)
	for i := range n {
		row(i, x)
		if i == 0 {
			copy(first, x)
		}
		for j, v := range x {
			s.Mean[j] += v
			varies[j] = varies[j] || v != first[j]
			top[j] = max(top[j], math.Abs(v))
		}
	}
	exponents := extreme(top)
	if exponents != nil {
		plain := row
		row = func(i int, dst []float64) {
			plain(i, dst)
			for j, e := range exponents {
				dst[j] = math.Ldexp(dst[j], -e)
			}
		}
		clear(s.Mean)
		for i := range n {
			row(i, x)
			for j, v := range x {
				s.Mean[j] += v
			}
		}
	}
	for j := range s.Mean {
		s.Mean[j] /= float64(n)
	}
	for i := range n {
		row(i, x)
		for j, v := range x {
			d := v - s.Mean[j]
			s.SD[j] += float64(d * d)
		}
	}
	for j, v := range s.SD {
		s.SD[j] = math.Sqrt(v / float64(n))
		if exponents != nil {
			s.Mean[j], s.SD[j] = math.Ldexp(s.Mean[j], exponents[j]), math.Ldexp(s.SD[j], exponents[j])
		}
		const normal = 0x1p-1022 // below it numbers lose digits
		switch {
		case !varies[j]: // the mean of equal values need not equal them in floating point
			s.Mean[j], s.SD[j] = first[j], 0
		case s.SD[j] < normal:
			s.SD[j] = math.NaN()
		}
	}
	return s
}

// extreme returns the exponents of two by which features are to be divided before their squares are summed, so that these
// neither overflow nor vanish; nil if no feature needs it. It rounds nothing that counts. top has their largest magnitudes.
func extreme(top []float64) []int {
	const low, high = 0x1p-400, 0x1p400
	var exponents []int
	for j, v := range top {
		if v == 0 || v >= low && v <= high {
			continue
		}
		if exponents == nil {
			exponents = make([]int, len(top))
		}
		_, exponents[j] = math.Frexp(v)
	}
	return exponents
}

// tooSmall says what is wrong with a feature that undefined returns.
const tooSmall = "its numbers are too small for a float64 to hold their standard deviation: change the unit"

// undefined returns the first feature whose deviation is not known; −1 if there is none.
func (s *Standard) undefined() int { return slices.IndexFunc(s.SD, math.IsNaN) }

// Constant lists the features that are constant in training.
func (s *Standard) Constant() []int {
	var c []int
	for j, sd := range s.SD {
		if sd == 0 {
			c = append(c, j)
		}
	}
	return c
}

// Apply returns the set with standardised float32 inputs; its targets are shared. Inputs of F16 or Stored stay as they are, and are standardised
// when a network loads them. It fails if the number of features differs or a result is beyond float32.
func (s *Standard) Apply(set *Set) (*Set, error) {
	p := set.Features()
	if p != len(s.Mean) {
		return nil, fmt.Errorf("data set %q has %d features, the standardisation was made for %d", set.Name, p, len(s.Mean))
	}
	t, keep := *set, set.U8 != nil || set.F32 != nil
	next := func(i int, x []float64) { set.Row(i, x); s.row(x) }
	if keep {
		t.U8, t.F32 = nil, make([]float32, 0, set.Len()*p)
	} else {
		t.Inputs = s
		next = t.lazyPass()
	}
	x := make([]float64, p)
	for i := range set.Len() {
		next(i, x)
		for j, v := range x {
			if !(math.Abs(v) <= math.MaxFloat32) {
				return nil, fmt.Errorf("data set %q: example %d, feature %d is %g when standardised, too large for a float32", set.Name, i, j, v)
			}
			if keep {
				t.F32 = append(t.F32, float32(v))
			}
		}
	}
	return &t, nil
}

// Restore is the inverse for one row, in place: it returns values to their own units. A constant feature becomes its mean.
func (s *Standard) Restore(x []float64) {
	s.Unscale(x)
	if s.Log {
		for j, v := range x {
			x[j] = rng.Exp(v)
		}
	}
}

// Unscale is Restore up to the logarithms, if there are any.
func (s *Standard) Unscale(x []float64) {
	for j, v := range x {
		x[j] = s.Mean[j] + float64(s.SD[j]*v)/s.To
	}
}

// of reports whether s is a valid standardisation of p features.
func (s *Standard) of(p int) bool {
	if len(s.Mean) != p || len(s.SD) != p || !(s.To > 0 && s.To <= math.MaxFloat64) {
		return false
	}
	for j, m := range s.Mean {
		if !(math.Abs(m) <= math.MaxFloat64 && s.SD[j] >= 0 && s.SD[j] <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// row standardises one row in place.
func (s *Standard) row(x []float64) {
	for j, v := range x {
		if s.SD[j] == 0 {
			x[j] = 0
			continue
		}
		if s.Log {
			v = rng.Log(v)
		}
		d := (v - s.Mean[j]) / s.SD[j]
		if math.IsInf(d, 0) { // perhaps v and the mean alone are too far apart
			d = (float64(v/2) - float64(s.Mean[j]/2)) / (s.SD[j] / 2)
		}
		x[j] = s.To * d
	}
}
