package filter

import (
	"math"

	"github.com/starling-smc/starling/ssm"
)

// Joint proposes a new index and a new state together.
type Joint interface {
	joint(c *chain)
	moves() bool  // the state
	order() int   // of the series about x⁺ that it needs; 0: none
	weighs() bool // its draws, weighted, give the evidence
	suits(m ssm.Model) error
}

// NoJoint makes no joint proposal.
type NoJoint struct{}

func (NoJoint) joint(*chain) {}

func (NoJoint) moves() bool { return false }

func (NoJoint) order() int { return 0 }

func (NoJoint) weighs() bool { return false }

func (NoJoint) suits(ssm.Model) error { return nil }

// PriorJoint draws a* uniformly and x* from p(· | f(a*)) (sequential-mcmc-massive-data, section 2.1, eq. 27). The proposal is the law before
// the scan, so that the ratio is that of the likelihoods: log r = log p(z | x*) − log p(z | x). With many measurements it is
// hardly ever accepted.
//
// Where other nodes hold some of the measurements, x* is drawn from p(· | f(a*)) times their sites (eq. 43), which has the normaliser c(a*):
// then log r has log c(a*) − log c(a), too.
//
// Where each target has an index of its own, the index and the coordinates of one target after another are drawn: given the others, this
// is the law before the scan of that target. All targets together would be accepted about as seldom as the product of their shares.
type PriorJoint struct{}

func (PriorJoint) joint(c *chain) {
	s := c.stream(jointAt)
	if !c.apart {
		all := ssm.Block{From: 0, To: len(c.y)}
		c.draw(s)
		rest := c.sample(s, c.joined, 0, c.other, all) - c.rest(c.joined, 0)
		if c.printed && c.joined != nil {
			rest = 0
		}
		if ok, _ := c.decide(s, all, rest, &c.joint); ok {
			c.move()
			c.a, c.b, c.before, c.other, c.prior = c.b, c.a, c.other, c.before, math.NaN()
		}
		return
	}
	for g, b := range c.groups {
		a := int32(s.IntN(c.n))
		copy(c.other, c.before)
		c.take(c.other, g, a)
		rest := c.sample(s, c.joined, g, c.other, b) - c.rest(c.joined, g)
		if c.printed && c.joined != nil {
			rest = 0
		}
		if ok, _ := c.decide(s, b, rest, &c.joint); ok {
			c.move()
			c.a[g], c.before, c.other, c.prior = a, c.other, c.before, math.NaN()
		}
	}
}

func (PriorJoint) moves() bool { return true }

func (PriorJoint) order() int { return 0 }

func (PriorJoint) weighs() bool { return false }

func (PriorJoint) suits(ssm.Model) error { return nil }
