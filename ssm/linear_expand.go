package ssm

import "github.com/starling-smc/starling/internal/dense"

// linearSeries is the Taylor series of terms log N(z; H x, L Lᵀ). With G = L⁻¹ H and u = L⁻¹(z − H x⁺) it is
//
//	l(x) = l(x⁺) + (Gᵀu)·δ − |G δ|²/2,
//
// exactly. What the series of order 1 leaves is −|G δ|²/2, in which the measurement has no part: it is the same for all (section 5, A8), and is
// computed so, since measurements far away have no digits left for it. The series of order 2 leaves nothing.
type linearSeries struct {
	order int
	at    []float64 // x⁺
}

// gaussianSum is Σ G_iᵀ u_i and Σ G_iᵀ G_i of such terms.
type gaussianSum struct{ gradient, information []float64 }

func newGaussianSum(d int) *gaussianSum {
	return &gaussianSum{make([]float64, d), make([]float64, d*d)}
}

// add adds n terms with the same G, w × d, and the sum of their u.
func (s *gaussianSum) add(g, u []float64, n int) {
	d := len(s.gradient)
	for c, v := range u {
		row := g[c*d : (c+1)*d]
		for i, a := range row {
			s.gradient[i] += float64(a * v)
			for j, b := range row {
				s.information[i*d+j] += float64(float64(n) * float64(a*b))
			}
		}
	}
}

// expansion is that of terms whose log-likelihood at x⁺ is value.
func (s *gaussianSum) expansion(value float64, order, terms int) (e Expansion, ok bool) {
	e = Expansion{Value: value, Gradient: s.gradient, Bounded: terms, Terms: int64(2 * terms)}
	ok = isFinite(value)
	for _, v := range s.gradient {
		ok = ok && isFinite(v)
	}
	for i, v := range s.information {
		s.information[i] = -v
		ok = ok && isFinite(v)
	}
	if order == 2 {
		e.Hessian = s.information
	}
	return e, ok
}

// whitened is G = L⁻¹ H, w × d.
func whitened(h, l []float64, w int) []float64 {
	d := len(h) / w
	g, column := make([]float64, len(h)), make([]float64, w)
	for j := range d {
		for c := range column {
			column[c] = h[c*d+j]
		}
		dense.Forward(l, column)
		for c, v := range column {
			g[c*d+j] = v
		}
	}
	return g
}

// largestSquare is the largest |G x|² of unit vectors x.
func largestSquare(g []float64, d int) float64 {
	s := newGaussianSum(d)
	s.add(g, make([]float64, len(g)/d), 1)
	values, _ := dense.Eigen(s.information, d)
	return values[d-1]
}

// left returns −(|G (to − x⁺)|² − |G (from − x⁺)|²)/2 = −G (to − from)·(G (to − x⁺) + G (from − x⁺))/2 of a term.
func (s *linearSeries) left(g, from, to []float64) float64 {
	sum, d := 0.0, len(s.at)
	for ; len(g) > 0; g = g[d:] {
		step, both := 0.0, 0.0
		for i, v := range g[:d] {
			step += float64(v * (to[i] - from[i]))
			both += float64(v * ((to[i] - s.at[i]) + (from[i] - s.at[i])))
		}
		sum += float64(step * both)
	}
	return -0.5 * sum
}

// informed returns the coordinates on which H x depends.
func informed(h []float64, d int, seen []bool) {
	for i, v := range h {
		seen[i%d] = seen[i%d] || v != 0
	}
}

// indices returns those of the values that are true.
func indices(seen []bool) (list []int) {
	for i, v := range seen {
		if v {
			list = append(list, i)
		}
	}
	return list
}

// Informed implements Informed.
func (t *linearTerms) Informed() []int {
	d := len(t.h) / len(t.m)
	seen := make([]bool, d)
	informed(t.h, d, seen)
	return indices(seen)
}

// Expand implements Expandable.
func (t *linearTerms) Expand(x []float64, order int) (Expansion, bool) {
	t.series = linearSeries{order, append(t.series.at[:0], x...)}
	value := t.LogLik(x, nil)
	dense.MulVec(t.m, t.h, x)
	sum := make([]float64, len(t.m))
	for i := range t.Len() {
		t.whiten(t.z, t.scan.Row(i), t.m)
		for c, v := range t.z {
			sum[c] += v
		}
	}
	s := newGaussianSum(len(x))
	s.add(t.g(), sum, t.Len())
	return s.expansion(value, order, t.Len())
}

// g is L⁻¹ H.
func (t *linearTerms) g() []float64 {
	if t.white == nil {
		t.white = whitened(t.h, t.l, len(t.m))
	}
	return t.white
}

// Residuals implements Expandable.
func (t *linearTerms) Residuals(from, to []float64, rows []int32, d []float64) {
	left := 0.0
	if t.series.order == 1 {
		left = t.series.left(t.g(), from, to)
	}
	for j := range rows {
		d[j] = left
	}
}

// Curvature implements Expandable.
func (t *linearTerms) Curvature(order int, _ float64) float64 {
	if order == 2 || t.Len() == 0 {
		return 0
	}
	if t.steepest == 0 {
		t.steepest = largestSquare(t.g(), len(t.h)/len(t.m))
	}
	return t.steepest
}

// Informed implements Informed.
func (t *partTerms) Informed() []int {
	if len(t.terms) == 0 {
		return nil
	}
	p := &t.terms[0]
	d := len(p.h) / len(p.z)
	seen := make([]bool, d)
	for i := range t.terms {
		informed(t.terms[i].h, d, seen)
	}
	return indices(seen)
}

// Expand implements Expandable.
func (t *partTerms) Expand(x []float64, order int) (Expansion, bool) {
	t.series = linearSeries{order, append(t.series.at[:0], x...)}
	s := newGaussianSum(len(x))
	for i := range t.terms {
		p := &t.terms[i]
		s.add(p.g, t.whiten(p, x), 1)
	}
	return s.expansion(t.LogLik(x, nil), order, t.Len())
}

// Residuals implements Expandable.
func (t *partTerms) Residuals(from, to []float64, rows []int32, d []float64) {
	for j, i := range rows {
		d[j] = 0
		if t.series.order == 1 {
			d[j] = t.series.left(t.terms[i].g, from, to)
		}
	}
}

// Curvature implements Expandable: the largest of those of the terms.
func (t *partTerms) Curvature(order int, _ float64) float64 {
	if order == 2 {
		return 0
	}
	most := 0.0
	var last []float64
	for i := range t.terms {
		p := &t.terms[i]
		if len(last) > 0 && &last[0] == &p.g[0] {
			continue // the terms of a part have one G
		}
		last = p.g
		most = max(most, largestSquare(p.g, len(p.g)/len(p.z)))
	}
	return most
}
