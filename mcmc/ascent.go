package mcmc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/dense"
)

// ascent leads a chain from where it begins to the bulk of its target, by Newton's method on log π in the chain's coordinates. The
// Hessian −H is that of central differences of the gradient, all 2D of them evaluated together. With u_i = 1/√|H_ii| the step is
//
//	θ ← θ + α B g,   B = U V |Λ|⁻¹ Vᵀ U,   V Λ Vᵀ = U H U,   U = diag(u)
//
// so that it leads uphill where the target is not concave as well (Nocedal and Wright 2006, section 3.4), and does not depend on the units of
// the coordinates. α is found by a line search for Wolfe's conditions.
//
// The top is not always where the mass is: that of a funnel is infinitely high and thin. Of all places on the way the chain takes the
// one whose Laplace approximation has the most, max log π + ½ log det B, and B for its scale (Zhang et al. 2022, Pathfinder, choose by
// the evidence lower bound of draws).
type ascent struct {
	target *Target
	here   Population // J = 1
	slope  []float64  // D, ∇log π
	log    float64    // log π
	unit   []float64  // D, u
	root   []float64  // D×D, R: B = R Rᵀ
	step   []float64  // D, B g
	rise   float64    // g'Bg, twice the gain that the quadratic at here promises

	near  Population // J = 2D
	works [2]Work    // of here and near
	trial Population // J = 1
	along []float64  // D, its gradient
	left  int        // evaluations that may be made
}

const (
	atTop      = 0.1  // gain at which there is nothing left to climb
	difference = 1e-3 // distance of central differences, in u
	flattest   = 1e-10
	armijo     = 1e-4
	wolfe      = 0.1
	mostAlong  = 60 // trials of a line search
)

// climb moves p, of one particle, by at most so many evaluations, and sets the scale of the coordinates. It reports the number of evaluations.
func climb(ctx context.Context, t *Target, p *Population, most int, sd, factor []float64) (spent int, err error) {
	d := p.D
	a := &ascent{target: t, left: most, here: p.blank(1), near: p.blank(2 * d), trial: p.blank(1),
		slope: make([]float64, d), unit: make([]float64, d), root: make([]float64, d*d), step: make([]float64, d), along: make([]float64, d)}
	a.here.Set(0, p, 0)
	a.works[0].Fit(&a.here)
	a.works[1].Fit(&a.near)
	copy(a.unit, sd)
	best := math.Inf(-1)
	a.log = a.gradient(&a.works[0], &a.here, 0, a.slope)
	for worse := 0; a.left >= 2*d && worse < 10; worse++ {
		ok, err := a.curve(ctx)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		if mass := a.log + a.volume(); mass > best {
			best, worse = mass, 0
			p.Set(0, &a.here, 0)
			a.scale(sd, factor)
		}
		if a.rise < 2*atTop {
			break
		}
		if ok, err = a.line(ctx); err != nil {
			return 0, err
		}
		if !ok {
			break
		}
	}
	return most - a.left, nil
}

// gradient sets slope to ∇log π at particle j, and returns log π.
func (a *ascent) gradient(w *Work, p *Population, j int, slope []float64) float64 {
	row := p.row(w.momentum, j)
	clear(row)
	p.LP[j] = w.kick(a.target, p, j, scale{}, 1)
	copy(slope, row)
	return a.target.LogDensity(p, j)
}

// curve sets root and step.
func (a *ascent) curve(ctx context.Context) (ok bool, err error) {
	d := len(a.slope)
	for i := range d {
		for k, sign := range []float64{1, -1} {
			a.near.Set(2*i+k, &a.here, 0)
			a.near.Theta[(2*i+k)*d+i] += float64(sign * float64(difference*a.unit[i]))
		}
	}
	if err := a.target.logLik(ctx, &a.near); err != nil {
		return false, err
	}
	a.left -= 2 * d
	h, up, down := make([]float64, d*d), make([]float64, d), make([]float64, d)
	for i := range d {
		a.gradient(&a.works[1], &a.near, 2*i, up)
		a.gradient(&a.works[1], &a.near, 2*i+1, down)
		width := a.near.Theta[2*i*d+i] - a.near.Theta[(2*i+1)*d+i]
		for k := range d {
			if h[i*d+k] = (down[k] - up[k]) / width; !isFinite(h[i*d+k]) {
				return false, nil
			}
		}
	}
	dense.Symmetrise(h, d)
	for i := range d {
		if v := 1 / math.Sqrt(math.Abs(h[i*d+i])); isFinite(v) {
			a.unit[i] = v
		}
	}
	for i := range d {
		for k := range d {
			h[i*d+k] *= float64(a.unit[i] * a.unit[k])
		}
	}
	values, vectors := dense.Eigen(h, d)
	largest := max(math.Abs(values[0]), math.Abs(values[d-1]))
	for i := range d {
		for k, v := range values {
			a.root[i*d+k] = float64(a.unit[i]*vectors[i*d+k]) / math.Sqrt(max(math.Abs(v), float64(flattest*largest)))
		}
	}
	a.rise = 0
	clear(a.step)
	for k := range d {
		z := 0.0
		for i, g := range a.slope {
			z += float64(a.root[i*d+k] * g)
		}
		a.rise += float64(z * z)
		for i := range d {
			a.step[i] += float64(a.root[i*d+k] * z)
		}
	}
	return isFinite(a.rise), nil
}

// covariance is B.
func (a *ascent) covariance() []float64 {
	d := len(a.step)
	b := make([]float64, d*d)
	dense.MulT(b, a.root, a.root, d)
	return b
}

// volume is ½ log det B.
func (a *ascent) volume() float64 {
	d := len(a.step)
	b := a.covariance()
	if !dense.Cholesky(b, d) {
		return math.Inf(-1)
	}
	return dense.LogDet(b, d) / 2
}

// scale sets the scale to B.
func (a *ascent) scale(sd, factor []float64) {
	d := len(a.step)
	b := a.covariance()
	for i := range sd {
		sd[i] = math.Sqrt(b[i*d+i])
	}
	if factor != nil && dense.Cholesky(b, d) {
		copy(factor, b)
	}
}

// line searches.
func (a *ascent) line(ctx context.Context) (ok bool, err error) {
	low, high, size := 0.0, math.Inf(1), 1.0
	for range mostAlong {
		if a.left == 0 {
			return false, nil
		}
		for i, v := range a.step {
			a.trial.Theta[i] = a.here.Theta[i] + float64(size*v)
		}
		if err := a.target.logLik(ctx, &a.trial); err != nil {
			return false, err
		}
		a.left--
		log := a.gradient(&a.works[0], &a.trial, 0, a.along)
		slope := 0.0
		for i, g := range a.along {
			slope += float64(g * a.step[i])
		}
		enough := log >= a.log+float64(armijo*size*a.rise) && isFinite(slope)
		if enough {
			low = size
		} else {
			high = size
		}
		if enough && (slope <= wolfe*a.rise || size > 1e3) || low > 0 && high < 1.1*low {
			if !enough {
				size = low
				continue
			}
			a.here.Set(0, &a.trial, 0)
			a.log = log
			copy(a.slope, a.along)
			return true, nil
		}
		if math.IsInf(high, 1) {
			size *= 2
		} else {
			size = low + (high-low)/2
		}
	}
	return false, nil
}
