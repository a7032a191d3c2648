package mcmc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/dense"
)

// ascent leads a chain whose scale is dense from where its first moves have brought it to the bulk of its target, once, at the end of
// the first part of the warm-up. A chain that begins at draws of a wide prior, in units of which nothing is known, is far off: what is
// narrow by a millionth leaves steps by which the rest is never reached, and windows of such moves teach no scale.
//
// It is Newton's method on log π in the chain's coordinates. −H is the Hessian by central differences of the gradient, whose 2D
// evaluations are made together. With u_i = 1/√|H_ii| and U = diag(u),
//
//	θ ← θ + α B g,   B = U V |Λ|⁻¹ Vᵀ U,   V Λ Vᵀ = U H U,
//
// so a step leads uphill where the target is not concave as well (Nocedal and Wright 2006, section 3.4), and does not depend on the
// units of the coordinates. α is found by a line search for Wolfe's conditions (their section 3.1). The quadratic at θ promises a gain of
// g'Bg/2, which a draw of a normal has as χ²/2 with D degrees of freedom. Where it promises at most 2D nats the chain is in the bulk and
// stays where it is; else it climbs until at most D/2 are promised. Where H is positive definite at the end, B becomes the scale.
//
// The top is not always where the mass is: a funnel is infinitely high where it is infinitely thin. So the chain ends at the place on
// its way whose Laplace approximation has the most mass, max log π + ½ log det B. (Pathfinder, Zhang et al. 2022, takes the evidence lower
// bound instead, which asks for draws at every place.)
//
// The first moves come before: they are hot, and leave small modes that Newton's method would end in.
type ascent struct {
	target *Target
	left   int // evaluations that may be made

	here    Population // J = 1
	log     float64    // log π
	slope   []float64  // D, ∇log π
	unit    []float64  // D, u
	root    []float64  // D×D, R: B = R Rᵀ
	step    []float64  // D, B g
	rise    float64    // g'Bg
	concave bool       // Λ > 0

	near    Population // J = 2D, here with one coordinate moved up and down
	trial   Population // J = 1
	along   []float64  // D, its gradient
	reached Population // J = 1, the best trial
}

const (
	ascentShare = 0.1   // largest share of what is left of a budget
	difference  = 1e-3  // by which coordinates are moved for −H, in u
	flattest    = 1e-10 // smallest |Λ|, in the largest
	uphill      = 1e-4  // Wolfe's conditions: the gain at least, in that along the tangent,
	flatter     = 0.1   // and the slope at most, in that where the line begins
	mostAlong   = 60    // trials of a line search
	mostWorse   = 10    // steps in a row that lead to less mass
)

// climb leads particle j of p up, by at most so many evaluations, and sets the scale of the coordinates where it ends, unless the target is not
// concave there. It returns the number of evaluations, and whether there is a new scale.
func climb(ctx context.Context, t *Target, p *Population, j, most int, sd, factor []float64) (made int, learned bool, err error) {
	d := p.D
	a := &ascent{target: t, left: most, here: p.blank(1), near: p.blank(2 * d), trial: p.blank(1), reached: p.blank(1),
		slope: make([]float64, d), unit: make([]float64, d), root: make([]float64, d*d), step: make([]float64, d), along: make([]float64, d)}
	copy(a.unit, sd)
	a.here.Set(0, p, j)
	a.log = a.gradient(&a.here, 0, a.slope)
	l, err := a.best(ctx, p, j)
	if l == nil || err != nil {
		return most - a.left, false, err
	}
	copy(factor, l)
	for i := range sd {
		sd[i] = math.Sqrt(dot(l[i*d:i*d+i+1], l[i*d:i*d+i+1]))
	}
	return most - a.left, true, nil
}

// best makes particle j of p the place of most mass on the way up, and returns the Cholesky factor of B there; nil where the target is not
// concave there, or no place was found.
func (a *ascent) best(ctx context.Context, p *Population, j int) (factor []float64, err error) {
	d := p.D
	most, promised := math.Inf(-1), float64(4*d) // twice the nats with which it may end
	for worse := 0; worse < mostWorse && a.left >= 2*d; worse++ {
		if ok, err := a.curve(ctx); err != nil || !ok {
			return factor, err
		}
		b := a.covariance()
		if mass := a.log + float64(dense.LogDet(b, d)/2); mass > most {
			most, worse, factor = mass, 0, nil
			p.Set(j, &a.here, 0)
			if a.concave {
				factor = b
			}
		}
		if a.rise <= promised {
			break
		}
		promised = float64(d)
		if ok, err := a.line(ctx); err != nil || !ok {
			return factor, err
		}
	}
	return factor, nil
}

// gradient sets slope to ∇log π at particle j of p, and returns log π.
func (a *ascent) gradient(p *Population, j int, slope []float64) float64 {
	p.LP[j] = a.target.Prior.LogDensity(p.row(p.Theta, j), slope)
	for i, g := range p.row(p.GradLL, j) {
		slope[i] += float64(a.target.Lambda * g)
	}
	return a.target.LogDensity(p, j)
}

// curve finds B at here, and the step. It reports whether all is finite.
func (a *ascent) curve(ctx context.Context) (ok bool, err error) {
	d := len(a.unit)
	for i := range d {
		for k, sign := range []float64{1, -1} {
			a.near.Set(2*i+k, &a.here, 0)
			a.near.row(a.near.Theta, 2*i+k)[i] += float64(sign * difference * a.unit[i])
		}
	}
	a.left -= 2 * d
	if err := a.target.logLik(ctx, &a.near); err != nil {
		return false, err
	}
	h, up, down := make([]float64, d*d), make([]float64, d), make([]float64, d)
	for i := range d {
		a.gradient(&a.near, 2*i, up)
		a.gradient(&a.near, 2*i+1, down)
		width := a.near.row(a.near.Theta, 2*i)[i] - a.near.row(a.near.Theta, 2*i+1)[i]
		for k := range d {
			if h[i*d+k] = (down[k] - up[k]) / width; !isFinite(h[i*d+k]) {
				return false, nil
			}
		}
	}
	dense.Symmetrise(h, d)
	for i := range d {
		if u := 1 / math.Sqrt(math.Abs(h[i*d+i])); isFinite(u) { // else the target is flat along i
			a.unit[i] = u
		}
	}
	for i := range d {
		for k := range d {
			h[i*d+k] *= float64(a.unit[i] * a.unit[k])
		}
	}
	values, vectors := dense.Eigen(h, d)
	a.concave = values[0] > 0
	least := float64(flattest * max(math.Abs(values[0]), math.Abs(values[d-1])))
	for k, v := range values {
		up[k] = 0 // Rᵀg
		for i, g := range a.slope {
			a.root[i*d+k] = float64(a.unit[i]*vectors[i*d+k]) / math.Sqrt(max(math.Abs(v), least))
			up[k] += float64(a.root[i*d+k] * g)
		}
	}
	dense.MulVec(a.step, a.root, up)
	a.rise = dot(up, up)
	return isFinite(a.rise), nil
}

// covariance is the Cholesky factor of B.
func (a *ascent) covariance() []float64 {
	d := len(a.unit)
	b := make([]float64, d*d)
	dense.MulT(b, a.root, a.root, d)
	if !dense.Cholesky(b, d) { // only where rounding spoils it
		clear(b)
		for i, u := range a.unit {
			b[i*d+i] = u
		}
	}
	return b
}

// line moves here along the step. α doubles while that leads further up a slope that is still steep, or halves until it leads up. It
// reports whether any did.
func (a *ascent) line(ctx context.Context) (ok bool, err error) {
	size, doubles, halves := 1.0, true, true
	for range mostAlong {
		if a.left == 0 || !doubles && !halves {
			break
		}
		for i, v := range a.step {
			a.trial.Theta[i] = a.here.Theta[i] + float64(size*v)
		}
		a.left--
		if err := a.target.logLik(ctx, &a.trial); err != nil {
			return false, err
		}
		log := a.gradient(&a.trial, 0, a.along)
		slope := dot(a.along, a.step)
		if log >= a.log+float64(uphill*size*a.rise) && isFinite(log) && isFinite(slope) {
			ok, halves = true, false
			doubles = doubles && slope > float64(flatter*a.rise)
			a.reached.Set(0, &a.trial, 0)
			size *= 2
		} else {
			doubles = false
			size /= 2
		}
	}
	if ok {
		a.here.Set(0, &a.reached, 0)
		a.log = a.gradient(&a.here, 0, a.slope)
	}
	return ok, nil
}

// dot is x·y.
func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// ascentNumbers is what an ascent holds, in numbers of 8 bytes.
func ascentNumbers(kind Scaling, d int) int {
	if kind != Dense {
		return 0
	}
	return 10 * d * d // near has 4 D², and there are six matrices
}
