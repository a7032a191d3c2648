package filter

import (
	"errors"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Guided draws the index and the state near the measurements: with the Taylor series q of order 2 of the log-likelihood about x⁺ in its place,
// the law of the scan is p(x | f(a)) exp(q(x)) = c(a) N(x; μ(a), S) (tilt; sequential-mcmc-massive-data, section 2.3, eq. 43 and A6). So a* is
// drawn in proportion to c(a), and x* given a*. The ratio has what the series leaves over:
//
//	log r = log p(z | x*) − log p(z | x) − [q(x*) − q(x)].
//
// Each group g of coordinates with an index of its own has a table of c⁺_g(a): that is c(a) of the group with all others at x⁺, so that the
// table serves until x⁺ moves. Groups that the series couples, as it does targets that share returns, are drawn together, and the others one after
// another given the rest. With the c(a) of the groups that are drawn, given the others as they are, the ratio has the further terms
//
//	[log c(a*) − Σ_g log c⁺_g(a*_g)] − [log c(a) − Σ_g log c⁺_g(a_g)].
//
// A further Gaussian factor of the target, the cavity of a node, is part of q as of the target. Where −Hessian has an eigenvalue below 0, it counts
// as 0.
//
// A chain begins at such a draw. From a state far from x⁺, where the series is wrong, hardly any draw would be accepted. The series is good
// where returns are many and targets apart. Keep a refinement beside it: the law of targets that overlap is not Gaussian.
type Guided struct{}

func (Guided) moves() bool { return true }

func (Guided) order() int { return 2 }

func (Guided) weighs() bool { return true }

// suits says why a model cannot have guided draws.
func (Guided) suits(m ssm.Model) error {
	if !normalSteps(m) {
		return errors.New("joint: guided needs transitions x ~ N(A x, Q) that say so (ssm.Gaussian): take joint: prior or none")
	}
	return nil
}

func (Guided) joint(c *chain) {
	begins := c.guide == nil
	if begins || !slices.Equal(c.guide.origin, c.plus.at) {
		if c.guide, c.fault = c.newGuide(); c.fault != nil {
			return
		}
	}
	t, s := c.guide, c.stream(jointAt)
	for k, together := range t.coupled {
		rest := -t.at(k, c.before, c.x)
		copy(c.other, c.before)
		for g := together.From; g < together.To; g++ {
			c.b[g] = t.tables[g].draw(s)
			c.take(c.other, g, c.b[g])
			rest += t.logC[g][c.a[g]] - t.logC[g][c.b[g]]
		}
		block := t.blocks[k].Block
		rest += c.sample(s, t.tilt, k, c.other, block)
		if rest += c.gain() - t.gain(c.x, c.y, block); begins {
			rest = math.Inf(1)
		}
		if ok, _ := c.decide(s, block, rest, &c.joint); ok {
			c.move()
			copy(c.a[together.From:together.To], c.b[together.From:together.To])
			c.before, c.other, c.prior = c.other, c.before, math.NaN()
		}
	}
}

// newGuide prepares draws about the chain's x⁺.
func (c *chain) newGuide() (*guide, error) {
	q := &quadratic{origin: c.plus.at}
	q.gradient, q.precision = c.plus.slope(c.cavity)
	if clipped(q.precision, len(c.x)) {
		c.repairs++
	}
	return newGuide(c.tr, q, c.groups, c.from, c.n)
}

// Guided draws give the evidence. A draw (a, x) of all coordinates from the guide about the last x⁺ has the density
//
//	Π_g c⁺_g(a_g)/Σ_j c⁺_g(j) · Π_k p(x_k | f(a)) exp(q(x_k | rest))/c_k(a | rest),   Σ_k q(x_k | rest) = q(x),
//
// with the blocks k of coupled groups drawn one after another: the rest is at their draws for those before, and at x⁺ for those after. So with
//
//	log w = log p(z | x) − q(x) + Σ_k log c_k(a | rest) − Σ_g log c⁺_g(a_g),
//	log p(z_k | z_1:k−1) ≈ Σ_g log (1/N) Σ_j c⁺_g(j) + log (1/n) Σ w.
//
// The estimate is without bias for the prediction by the filter's particles. With ancestors: target that is the one that forgets how targets depend
// on each other. The filters' estimates are averaged, and their spread is the standard error: it has the errors of their particles, too. One filter
// has that of its own weights alone.

const drawsPerFilter = 64 // draws of each filter

// weigh estimates the evidence of the scan by the prediction of one filter. It comes after the last step: it moves the state of the likelihood.
func (c *chain) weigh(filter int) {
	key := c.key
	key.Purpose, key.Mutation, key.Particle = rng.Predict, weighedAt, filter
	t, s, all := c.guide, key.Stream(), ssm.Block{From: 0, To: len(c.y)}
	c.like.Set(t.origin)
	base := c.like.LogLik(t.origin, nil)
	for _, l := range t.mean {
		base += l
	}
	logw := make([]float64, drawsPerFilter)
	for i := range logw {
		copy(c.y, t.origin)
		for k, together := range t.coupled {
			for g := together.From; g < together.To; g++ {
				a := t.tables[g].draw(s)
				c.take(c.other, g, a)
				logw[i] -= t.logC[g][a]
			}
			logw[i] += t.at(k, c.other, c.y)
			t.sample(s, k, c.y)
		}
		logw[i] += orNever(c.try(all)) - t.quadratic.at(c.y)
	}
	c.evidence = averaged(logw, false)
	c.evidence.log += base
}
