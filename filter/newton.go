package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/ssm"
)

// newton seeks the mode of the likelihood of a scan times N(m, P), and times a further Gaussian factor, by Newton's method: with P = B Bᵀ,
// x = m + B w, and with gradient g and Hessian −Λ of the likelihood and the factor together,
//
//	w ← w + (I + Bᵀ Λ B)⁻¹ (Bᵀ g − w).
//
// Eigenvalues of Λ below 0 count as their absolute values (Dauphin et al. 2014). A step from a valley then goes up, and as far as the curvature says. With 0
// in their place it would go as far as the prediction is wide, and of many targets one would ruin every step. A pass that grows worse is taken back,
// and half the step is tried.
type newton struct {
	like   ssm.Expandable
	mean   []float64 // m
	prior  *dense.Semidefinite
	root   []float64  // B, Dim × r
	factor *quadratic // nil: none
	enough float64    // nats that another step would gain: less ends a search

	at    []float64 // of the last pass
	order int       // of its series

	passes int   // over the measurements, of all searches
	terms  int64 // of the likelihood that they evaluated
}

// spot is a place on the way of a search.
type spot struct {
	ssm.Expansion
	at    []float64
	value float64 // logarithm of what is maximised, up to a constant
}

const (
	mostPasses = 16   // of one search
	enoughGain = 1e-2 // nats: a mode within a seventh of a standard deviation
)

// newNewton returns the search with the moments of a prediction. ok is false if the covariance is not positive semidefinite.
func newNewton(like ssm.Expandable, mean, cov []float64, factor *quadratic) (n *newton, ok bool) {
	n = &newton{like: like, mean: mean, factor: factor, enough: enoughGain}
	if n.prior, ok = dense.NewSemidefinite(cov, len(mean)); ok {
		n.root = n.prior.Root()
	}
	return n, ok
}

// look makes a pass.
func (n *newton) look(at []float64, order int) (ssm.Expansion, bool) {
	e, ok := n.like.Expand(at, order)
	n.at, n.order = at, order
	n.passes++
	n.terms += e.Terms
	return e, ok
}

// visit makes a pass of order 2.
func (n *newton) visit(at []float64) (s spot, ok bool) {
	e, ok := n.look(at, 2)
	s = spot{e, at, e.Value + n.factor.at(at)}
	w, dev := make([]float64, n.prior.Rank()), make([]float64, len(at))
	for i, v := range at {
		dev[i] = v - n.mean[i]
	}
	n.prior.Whiten(w, dev)
	for _, v := range w {
		s.value -= float64(0.5 * v * v)
	}
	return s, ok && !math.IsNaN(s.value)
}

// climb makes at most so many passes from a state to a mode. ok is false if there is no series at the state.
func (n *newton) climb(from []float64, most int) (best spot, ok bool) {
	if best, ok = n.visit(append([]float64(nil), from...)); !ok {
		return best, false
	}
	for used := 1; used < most; {
		step, gain := n.step(best)
		if !(gain > n.enough) {
			break
		}
		better := false
		for halves := 0; !better && used < most; halves++ {
			at := append([]float64(nil), best.at...)
			for i, v := range step {
				at[i] += math.Ldexp(v, -halves)
			}
			used++
			var next spot
			if next, better = n.visit(at); better {
				if better = next.value > best.value; better {
					best = next
				}
			}
		}
		if !better {
			break
		}
	}
	return best, true
}

// step returns the whole step from a spot, and the nats that it would gain if the series were exact.
func (n *newton) step(s spot) (step []float64, gain float64) {
	d, r := len(s.at), n.prior.Rank()
	gradient, precision := s.slope(n.factor)
	absolute(precision, d)
	step = make([]float64, d)
	l, ok := tightened(n.root, precision, d, r)
	if !ok {
		return step, 0
	}
	dev, u := make([]float64, d), make([]float64, r)
	for i, v := range s.at {
		dev[i] = n.mean[i] - v
	}
	n.prior.Whiten(u, dev) // −w
	for k := range u {
		for i, v := range gradient {
			u[k] += float64(n.root[i*r+k] * v)
		}
	}
	dense.Forward(l, u)
	for _, v := range u {
		gain += float64(0.5 * v * v)
	}
	dense.Backward(l, u)
	dense.MulVec(step, n.root, u)
	return step, gain
}

// slope is the gradient of the likelihood and a Gaussian factor at a spot, and the negative of their Hessian.
func (s spot) slope(q *quadratic) (gradient, precision []float64) {
	d := len(s.at)
	gradient, precision = append([]float64(nil), s.Gradient...), make([]float64, d*d)
	for i, v := range s.Hessian {
		precision[i] = -v
	}
	if q != nil {
		for i := range gradient {
			gradient[i] += q.gradient[i]
			for j, v := range s.at {
				gradient[i] -= float64(q.precision[i*d+j] * (v - q.origin[j]))
				precision[i*d+j] += q.precision[i*d+j]
			}
		}
	}
	return gradient, precision
}
