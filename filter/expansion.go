package filter

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/ssm"
)

// A chain may expand its likelihood about a state x⁺ (ssm.Expandable): subsampling and guided draws need it near the bulk of the posterior.
// The first x⁺ is the mode of the likelihood times N(m, P), with the moments of the prediction, sought by Newton's method: with P = B Bᵀ, x = m + B w,
// gradient g and Hessian −Λ of the log-likelihood,
//
//	w ← w + (I + Bᵀ Λ B)⁻¹ (Bᵀ g − w).
//
// Eigenvalues of Λ below 0 count as 0. A pass that grows worse is taken back, and half the step is tried. The search begins at m, and at the
// chain's start: beyond reach of its measurements the gradient of a target is 0 at m, and starts are where measurements are densest (starts.go).
// At the end of the burn-in x⁺ is the mean of the states of its second half, moved by one such step.

const (
	mostPasses  = 16   // of one search
	mostHalves  = 4    // of one step
	enoughGain  = 1e-2 // nats that another step would gain
	improvement = 1    // steps from the mean of the burn-in
)

// plus is x⁺, with the sums of the series there.
type plus struct {
	ssm.Expansion
	at    []float64
	order int // of the series that the likelihood holds

	value  float64 // log-likelihood and log-density of the prediction there, up to a constant
	mean   []float64
	prior  *dense.Semidefinite
	root   []float64 // B, Dim × r
	passes int
	terms  int64 // of all passes
}

// expandable is the likelihood of the chain as one with a series.
func (c *chain) expandable() (ssm.Expandable, error) {
	if like, ok := own(c.like).(ssm.Expandable); ok {
		return like, nil
	}
	return nil, fmt.Errorf("the model's likelihood has no Taylor series (ssm.Expandable), which decide: subsample and joint: guided need: " +
		"take decide: all and joint: prior")
}

// expand seeks the first x⁺ of the scan.
func (c *chain) expand() error {
	like, err := c.expandable()
	if err != nil {
		return err
	}
	p := &plus{}
	mean, cov := c.predicted()
	var ok bool
	if p.prior, ok = dense.NewSemidefinite(cov, len(mean)); !ok {
		return fmt.Errorf("the covariance of the predicted states is not positive semidefinite: %v", cov)
	}
	p.mean, p.root = mean, p.prior.Root()
	c.plus = p
	best, found := p.climb(c, like, mean, mostPasses)
	if other, ok := p.climb(c, like, c.x, mostPasses); ok && (!found || other.value > best.value) {
		best, found = other, true
	}
	if !found {
		return fmt.Errorf("the log-likelihood has no derivatives at the mean of the predicted states, %v, nor at the start of the chain, %v", mean, c.x)
	}
	c.settle(like, best)
	return nil
}

// expandAgain moves x⁺ to the mean of states, and then by one step of Newton's method.
func (c *chain) expandAgain(mean []float64) error {
	like, err := c.expandable()
	if err != nil {
		return err
	}
	if best, ok := c.plus.climb(c, like, mean, 1+improvement); ok {
		c.settle(like, best)
	}
	return nil
}

// burn takes the state after step m into account, of so many steps of burn-in.
func (c *chain) burn(m, steps int) error {
	if c.order == 0 || m < steps/2 || m >= steps {
		return nil
	}
	if c.half == nil {
		c.half = make([]float64, len(c.x))
	}
	for i, v := range c.x {
		c.half[i] += (v - c.plus.at[i]) / float64(steps-steps/2)
	}
	if m < steps-1 {
		return nil
	}
	for i, v := range c.plus.at {
		c.half[i] += v
	}
	return c.expandAgain(c.half)
}

// spot is a place on the way of a search.
type spot struct {
	ssm.Expansion
	at    []float64
	value float64
}

// settle makes a spot x⁺, with the series that the chain needs.
func (c *chain) settle(like ssm.Expandable, s spot) {
	p := c.plus
	p.at, p.value, p.Expansion, p.order = s.at, s.value, s.Expansion, c.order
	if e, ok := p.look(like, s.at, c.order); ok { // the last pass may have been elsewhere, or of another order
		e.Hessian, p.Expansion = s.Hessian, e
		p.Hessian = s.Hessian
	}
	c.decider.expanded(c)
}

// look makes a pass.
func (p *plus) look(like ssm.Expandable, at []float64, order int) (ssm.Expansion, bool) {
	e, ok := like.Expand(at, order)
	p.passes++
	p.terms += e.Terms
	return e, ok
}

// climb makes at most so many passes from a state to a mode. ok is false if there is no series at the state.
func (p *plus) climb(c *chain, like ssm.Expandable, from []float64, most int) (best spot, ok bool) {
	d, r := len(from), p.prior.Rank()
	w, dev := make([]float64, r), make([]float64, d)
	visit := func(at []float64) (spot, bool) {
		e, ok := p.look(like, at, 2)
		s := spot{e, at, e.Value + c.cavity.at(at)}
		for i, v := range at {
			dev[i] = v - p.mean[i]
		}
		p.prior.Whiten(w, dev)
		for _, v := range w {
			s.value -= float64(0.5 * v * v)
		}
		return s, ok && !math.IsNaN(s.value)
	}
	if best, ok = visit(append([]float64(nil), from...)); !ok {
		return best, false
	}
	for used, halves := 1, 0; used < most; {
		step, gain := p.newton(c, best)
		if !(gain > enoughGain) {
			break
		}
		next, worse := spot{}, true
		for halves = 0; worse && halves <= mostHalves && used < most; halves++ {
			at := append([]float64(nil), best.at...)
			for i, v := range step {
				at[i] += math.Ldexp(v, -halves)
			}
			used++
			if s, ok := visit(at); ok && s.value > best.value {
				next, worse = s, false
			}
		}
		if worse {
			break
		}
		best = next
	}
	return best, true
}

// newton returns the step from a spot, and the nats that it would gain if the series were exact.
func (p *plus) newton(c *chain, s spot) (step []float64, gain float64) {
	d, r := len(s.at), p.prior.Rank()
	slope, precision := append([]float64(nil), s.Gradient...), make([]float64, d*d)
	for i, v := range s.Hessian {
		precision[i] = -v
	}
	if q := c.cavity; q != nil {
		for i := range slope {
			slope[i] += q.gradient[i]
			for j, v := range s.at {
				slope[i] -= float64(q.precision[i*d+j] * (v - q.origin[j]))
				precision[i*d+j] += q.precision[i*d+j]
			}
		}
	}
	clipped(precision, d)
	step = make([]float64, d)
	l, ok := tightened(p.root, precision, d, r)
	if !ok {
		return step, 0
	}
	dev, u := make([]float64, d), make([]float64, r)
	for i, v := range s.at {
		dev[i] = p.mean[i] - v
	}
	p.prior.Whiten(u, dev) // −w
	for k := range u {
		for i, v := range slope {
			u[k] += float64(p.root[i*r+k] * v)
		}
	}
	dense.Forward(l, u)
	for _, v := range u {
		gain += float64(0.5 * v * v)
	}
	dense.Backward(l, u)
	dense.MulVec(step, p.root, u)
	return step, gain
}

// predicted is the mean and the covariance of the state before the scan: exact for a Gaussian transition, else of a draw for each
// particle. Coordinates that have ancestors of their own are independent.
func (c *chain) predicted() (mean, cov []float64) {
	d := len(c.x)
	states := c.from
	g, gaussian := c.tr.(ssm.Gaussian)
	if !gaussian {
		states = c.predictions()
	}
	mean, cov = make([]float64, d), make([]float64, d*d)
	for _, b := range c.groups {
		m, v := moments(states, d, b, func(int) float64 { return 1 / float64(c.n) })
		copy(mean[b.From:b.To], m)
		for i := range m {
			copy(cov[(b.From+i)*d+b.From:], v[i*len(m):(i+1)*len(m)])
		}
	}
	if !gaussian {
		return mean, cov
	}
	a, q := g.Gaussian()
	moved, half, noise := make([]float64, d), make([]float64, d*d), append([]float64(nil), q...)
	dense.MulVec(moved, a, mean)
	dense.Mul(half, a, cov, d)
	dense.MulT(cov, half, a, d)
	for i, v := range noise {
		cov[i] += v
	}
	dense.Symmetrise(cov, d)
	return moved, cov
}
