package filter

import (
	"math"

	"github.com/starling-smc/starling/ssm"
)

// Joint proposes a new index and a new state together.
type Joint interface {
	joint(c *chain)
	moves() bool // the state
}

// NoJoint makes no joint proposal.
type NoJoint struct{}

func (NoJoint) joint(*chain) {}

func (NoJoint) moves() bool { return false }

// PriorJoint draws a* uniformly and x* from p(· | f(a*)) (sequential-mcmc-massive-data, section 2.1, eq. 27). The proposal is the law before
// the scan, so that the ratio is that of the likelihoods: log r = log p(z | x*) − log p(z | x). With many measurements it is
// hardly ever accepted.
type PriorJoint struct{}

func (PriorJoint) joint(c *chain) {
	s := c.stream(jointAt)
	c.draw(s)
	c.tr.Sample(s, c.other, c.y)
	if c.accepts(s, c.try(ssm.Block{From: 0, To: len(c.y)}), &c.joint) {
		c.move()
		c.a, c.b, c.before, c.other, c.prior = c.b, c.a, c.other, c.before, math.NaN()
	}
}

func (PriorJoint) moves() bool { return true }
