package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// studentSeries is the Taylor series of the terms of Student about x⁺ = [μ, log s]. With k = 1/(s √ν), u = (z − μ) k and h = (ν+1)/2 a term is
// l = constant − log s − h log(1 + u²). With the first two derivatives G₁ and G₂ of log(1 + u²) by u
//
//	∂l/∂μ = h k G₁,   ∂l/∂log s = h u G₁ − 1,
//	∂²l/∂μ² = −h k² G₂,   ∂²l/∂μ ∂log s = −h k (G₁ + u G₂),   ∂²l/∂log s² = −h (u G₁ + u² G₂).
type studentSeries struct {
	order        int
	mean, logS   float64 // x⁺
	width, scale float64 // k at x⁺; h
}

// logOneAnd returns the first three derivatives of log(1 + u²), G₁, G₂ and G₃.
func logOneAnd(u float64) (g1, g2, g3 float64) {
	q := 1 / (1 + float64(u*u))
	g1 = 2 * u * q
	g2 = float64(2 * q * (float64(2*q) - 1))
	g3 = 4 * u * q * q * (1 - float64(4*q))
	return float64(g1), g2, float64(g3)
}

// derivatives returns the gradient and the Hessian of a term at x⁺: [∂μ, ∂log s] and [∂μ², ∂μ∂log s, ∂log s²].
func (s *studentSeries) derivatives(z float64) (g [2]float64, h [3]float64) {
	u := float64((z - s.mean) * s.width)
	if math.Abs(u) > 1e100 { // the limit
		return [2]float64{float64(s.scale*s.width) * 2 / u, float64(2*s.scale) - 1}, h
	}
	g1, g2, _ := logOneAnd(u)
	ug1, ug2 := float64(u*g1), float64(u*g2)
	u2g2 := float64(u * ug2)
	g = [2]float64{float64(s.scale * s.width * g1), float64(s.scale*ug1) - 1}
	h = [3]float64{float64(-s.scale * s.width * s.width * g2), float64(-s.scale * s.width * (g1 + ug2)), float64(-s.scale * (ug1 + u2g2))}
	return g, h
}

// Informed implements Informed.
func (t *studentTerms) Informed() []int { return []int{0, 1} }

// Expand implements Expandable.
func (t *studentTerms) Expand(x []float64, order int) (e Expansion, ok bool) {
	s := &t.series
	*s = studentSeries{order, x[0], x[1], t.width(x[1]), t.half}
	var g [2]float64
	var h [3]float64
	for _, z := range t.z {
		gi, hi := s.derivatives(z)
		for i, v := range gi {
			g[i] += v
		}
		for i, v := range hi {
			h[i] += v
		}
	}
	e = Expansion{Value: t.LogLik(x, nil), Gradient: g[:], Bounded: len(t.z), Terms: int64(2 * len(t.z))}
	if order == 2 {
		e.Hessian = []float64{h[0], h[1], h[1], h[2]}
	}
	ok = isFinite(e.Value)
	for _, v := range [5]float64{g[0], g[1], h[0], h[1], h[2]} {
		ok = ok && isFinite(v)
	}
	return e, ok
}

// width is k.
func (t *studentTerms) width(logS float64) float64 { return 1 / (math.Sqrt(t.degrees) * rng.Exp(logS)) }

// Residuals implements Expandable. With the step v of u a term changes by −step of log s − h log(1 + v (2u + v)/(1 + u²)).
func (t *studentTerms) Residuals(from, to []float64, rows []int32, d []float64) {
	s := &t.series
	width, wider := t.width(from[1]), rng.Expm1(from[1]-to[1]) // of to: width·(1 + wider)
	meanStep, logStep := to[0]-from[0], to[1]-from[1]
	f := [2]float64{from[0] - s.mean, from[1] - s.logS}
	b := [2]float64{f[0] + (to[0] - s.mean), f[1] + (to[1] - s.logS)}
	for j, i := range rows {
		z := t.z[i]
		u := float64((z - from[0]) * width)
		v := float64((z-to[0])*width*wider) - float64(meanStep*width)
		var q float64
		if math.Abs(u) < 1 {
			q = v * (float64(2*u) + v) / (1 + float64(u*u))
		} else {
			q = v / u * (2 + v/u) / (1 + 1/u/u)
		}
		step := -logStep - float64(t.half*rng.Log1p(q))
		g, h := s.derivatives(z)
		step -= float64(g[0]*meanStep) + float64(g[1]*logStep)
		if s.order == 2 {
			step -= float64(0.5 * (float64(h[0]*meanStep*b[0]) + float64(h[1]*(float64(meanStep*b[1])+float64(logStep*b[0]))) + float64(h[2]*logStep*b[1])))
		}
		d[j] = step
	}
}

// Curvature implements Expandable.
func (t *studentTerms) Curvature(order int, radius float64) float64 {
	return t.curvature(order, float64(t.series.width*rng.Exp(radius)))
}

// Scales implements Scaled: the location is measured in scales of the measurements at x⁺, since log s is so.
func (t *studentTerms) Scales() []float64 { return []float64{1 / t.series.width, 1} }

// ScaledCurvature implements Scaled.
func (t *studentTerms) ScaledCurvature(order int, radius float64) float64 {
	return t.curvature(order, rng.Exp(radius))
}

// curvature is the largest derivative of order + 1 along unit vectors (a, b) where the scale is such that a location's step a is k a in u. Along
// the direction, with w = k a, u changes as (u − w t) e^{−b t}, and the derivatives of l are h times forms in (w, b) whose coefficients depend on
// u alone:
//
//	second: −(G₂ u₁² + G₁ u₂),   third: −(G₃ u₁³ + 3 G₂ u₁ u₂ + G₁ u₃),
//	u₁ = −(w + b u),   u₂ = 2 w b + b² u,   u₃ = −(3 w b² + b³ u).
//
// A form of this kind is largest on the unit circle of (a, b) where k is largest, at the least scale in the ball, e^{−radius} of that at x⁺. There
// the search is over u, so that all measurements are under the bound, and over the circle.
func (t *studentTerms) curvature(order int, k float64) float64 {
	if !isFinite(k) {
		return math.Inf(1)
	}
	f := func(u, half float64) float64 {
		a, b := onCircle(half)
		return math.Abs(studentForm(order, u, float64(k*a), b))
	}
	best, at, step := 0.0, [2]float64{}, [2]float64{2.0 / 48, 2.0 / 48}
	for i := range 49 {
		for j := range 49 { // the form changes its sign with that of (a, b): half a circle is enough, from −90° to 90°
			p := [2]float64{float64(i)/48*2 - 1, float64(j)/48*2 - 1}
			if v := f(tangent(p[0]), p[1]); v > best {
				best, at = v, p
			}
		}
	}
	for step[0] > 1e-6 {
		was := best
		for i := range at {
			for _, by := range [2]float64{step[i], -step[i]} {
				next := at
				next[i] += by
				if v := f(tangent(next[0]), next[1]); v > best && math.Abs(next[0]) < 1 {
					best, at = v, next
				}
			}
		}
		if best == was {
			step[0], step[1] = step[0]/2, step[1]/2
		}
	}
	return float64(margin * t.half * best)
}

// tangent maps −1 … 1 to all numbers.
func tangent(p float64) float64 { return p / (1 - float64(p*p)) }

// studentForm is the derivative of order + 1 of −log(1 + u²) along (w, b).
func studentForm(order int, u, w, b float64) float64 {
	if math.IsInf(u, 0) {
		return 0
	}
	g1, g2, g3 := logOneAnd(u)
	u1 := -(w + float64(b*u))
	u2 := float64(2*w*b) + float64(b*b*u)
	if order == 1 {
		return -(float64(g2*u1*u1) + float64(g1*u2))
	}
	u3 := -(float64(3*w*b*b) + float64(b*b*b*u))
	return -(float64(g3*u1*u1*u1) + float64(3*g2*u1*u2) + float64(g1*u3))
}
