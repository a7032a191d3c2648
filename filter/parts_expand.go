package filter

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/ssm"
)

// seriesOf returns the Taylor series of a likelihood that bind returned, if it has one; dim is the length of a state.
func seriesOf(like ssm.Likelihood, dim int) (e ssm.Expandable, ok bool) {
	if w, ok := like.(*whole); ok {
		like = w.Likelihood
	}
	t, parted := like.(*together)
	if !parted {
		e, ok = like.(ssm.Expandable)
		return e, ok
	}
	whole, ok := t.Likelihood.(ssm.Expandable)
	parts, also := t.parts.(ssm.Expandable)
	if !ok || !also {
		return nil, false
	}
	return &togetherSeries{together: t, whole: whole, parts: parts, dim: dim}, true
}

// togetherSeries is the Taylor series of a likelihood of whole measurements and of parts. Its rows are those of the first and then those of the
// second.
type togetherSeries struct {
	*together
	whole, parts ssm.Expandable
	dim          int     // of a state
	first, other []int32 // scratch of Residuals: rows
	d            []float64
}

// Expand implements ssm.Expandable. Where a row of the whole measurements has no bound, none of the parts has: rows with a bound come first.
func (t *togetherSeries) Expand(at []float64, order int) (e ssm.Expansion, ok bool) {
	e, ok = t.whole.Expand(at, order)
	p, also := t.parts.Expand(at, order)
	if !ok || !also {
		return e, false
	}
	e.Value += p.Value
	e.Terms += p.Terms
	if e.Bounded == t.whole.Len() {
		e.Bounded += p.Bounded
	}
	for i, v := range p.Gradient {
		e.Gradient[i] += v
	}
	for i, v := range p.Hessian {
		e.Hessian[i] += v
	}
	return e, true
}

// Residuals implements ssm.Expandable.
func (t *togetherSeries) Residuals(from, to []float64, rows []int32, d []float64) {
	n := int32(t.whole.Len())
	t.first, t.other = t.first[:0], t.other[:0]
	for _, i := range rows {
		if i < n {
			t.first = append(t.first, i)
		} else {
			t.other = append(t.other, i-n)
		}
	}
	t.d = slices.Grow(t.d[:0], len(rows))[:len(rows)]
	first, other := t.d[:len(t.first)], t.d[len(t.first):]
	t.whole.Residuals(from, to, t.first, first)
	t.parts.Residuals(from, to, t.other, other)
	for j, i := range rows {
		if i < n {
			d[j], first = first[0], first[1:]
		} else {
			d[j], other = other[0], other[1:]
		}
	}
}

// Curvature implements ssm.Expandable: the larger bound of the two.
func (t *togetherSeries) Curvature(order int, radius float64) float64 {
	return math.Max(t.whole.Curvature(order, radius), t.parts.Curvature(order, radius))
}

// Informed implements ssm.Informed: what one of the two depends on.
func (t *togetherSeries) Informed() []int {
	list := append(coordinatesOf(t.whole, t.dim), coordinatesOf(t.parts, t.dim)...)
	slices.Sort(list)
	return slices.Compact(list)
}

// coordinatesOf returns the coordinates of a state of dim numbers that a likelihood depends on; all of them if it does not say.
func coordinatesOf(like ssm.Likelihood, dim int) (list []int) {
	if n, ok := like.(ssm.Informed); ok {
		return slices.Clone(n.Informed())
	}
	for i := range dim {
		list = append(list, i)
	}
	return list
}
