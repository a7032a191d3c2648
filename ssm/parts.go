package ssm

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/dense"
)

// Observe returns the rows of H and the block of R of a linear model that belong to some columns of a measurement: such a part is
// itself z ~ N(H·x, R), exactly, since what is left of a normal law is its margin.
func Observe(m Linear, columns []int) (h, r []float64, err error) {
	wholeH, wholeR := m.Observation()
	d := m.Dim()
	w := len(wholeH) / d
	if n := len(columns); n == 0 || !slices.IsSorted(columns) || columns[0] < 0 || columns[n-1] >= w {
		return nil, nil, fmt.Errorf("a measurement with the numbers %v: want some of %d", columns, w)
	}
	for _, i := range columns {
		h = append(h, wholeH[i*d:(i+1)*d]...)
		for _, j := range columns {
			r = append(r, wholeR[i*w+j])
		}
	}
	return h, r, nil
}

// BindParts returns the likelihood of the scan's Parts under a linear model: Σ log N(z; H x, R) over them, each with its own rows of H
// and R.
func BindParts(m Linear, scan *Scan) (Likelihood, error) {
	t := &partTerms{}
	for _, p := range scan.Parts {
		h, l, err := Observe(m, p.Columns)
		if err != nil {
			return nil, &MeasurementError{Row: scan.Len(), Err: err}
		}
		w := len(p.Columns)
		if !dense.Cholesky(l, w) {
			return nil, fmt.Errorf("the covariance R of the numbers %v of a measurement is not positive definite", p.Columns)
		}
		g := whitened(h, l, w)
		for i := 0; i+w <= len(p.Values); i += w {
			z := p.Values[i : i+w]
			for _, v := range z {
				if !isFinite(v) {
					return nil, refuse(scan.Len()+len(t.terms), "a number is %v, want a finite number", v)
				}
			}
			y := append([]float64(nil), z...)
			if dense.Forward(l, y); !(norm(y) < largest) {
				return nil, refuse(scan.Len()+len(t.terms), "%v is too far from 0, by the noise r: want less than %.0e standard deviations", z, float64(largest))
			}
			t.terms = append(t.terms, partTerm{h, l, g, z, -0.5 * (float64(float64(w)*log2Pi) + dense.LogDet(l, w))})
		}
		t.y = make([]float64, max(len(t.y), w))
	}
	return t, nil
}

// partTerms is the likelihood of BindParts.
type partTerms struct {
	terms  []partTerm
	y      []float64 // scratch
	series linearSeries
}

// Difference implements Relative, as that of linearTerms.
func (t *partTerms) Difference(x, from []float64) float64 {
	step, delta, sum := make([]float64, len(x)), make([]float64, len(t.y)), 0.0
	for i, v := range x {
		step[i] = v - from[i]
	}
	for i := range t.terms {
		p := &t.terms[i]
		d := delta[:len(p.z)]
		dense.MulVec(d, p.h, step)
		dense.Forward(p.l, d)
		t.whiten(p, from)
		for c, v := range d {
			sum += float64(v * t.y[c])
		}
		sum -= float64(0.5 * square(d))
	}
	return sum
}

type partTerm struct {
	h, l, g  []float64 // L Lᵀ = R, G = L⁻¹ H
	z        []float64
	constant float64
}

// Len implements Likelihood.
func (t *partTerms) Len() int { return len(t.terms) }

// LogLik implements Likelihood.
func (t *partTerms) LogLik(x []float64, rows []int32) float64 {
	sum := 0.0
	if rows == nil {
		for i := range t.terms {
			sum += t.term(i, x)
		}
	}
	for _, i := range rows {
		sum += t.term(int(i), x)
	}
	if math.IsNaN(sum) {
		return math.Inf(-1)
	}
	return sum
}

func (t *partTerms) term(i int, x []float64) float64 {
	p := &t.terms[i]
	return p.constant - float64(0.5*square(t.whiten(p, x)))
}

// whiten is L⁻¹(z − H x) of a term, which is scratch.
func (t *partTerms) whiten(p *partTerm, x []float64) []float64 {
	y := t.y[:len(p.z)]
	dense.MulVec(y, p.h, x)
	for c, v := range p.z {
		y[c] = v - y[c]
	}
	dense.Forward(p.l, y)
	return y
}
