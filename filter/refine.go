package filter

import (
	"math"
)

// Refinement proposes new coordinates of one block of the state after another, for the same index. The blocks are the targets of an
// ssm.Tracker, else the whole state.
type Refinement interface {
	refine(c *chain, block int)
	moves() bool  // the state
	learns() bool // in the burn-in
	walks() bool  // in steps of its own, rather than by draws of the prediction
}

// NoRefinement refines nothing.
type NoRefinement struct{}

func (NoRefinement) refine(*chain, int) {}

func (NoRefinement) moves() bool { return false }

func (NoRefinement) learns() bool { return false }

func (NoRefinement) walks() bool { return false }

// PriorRefinement draws the block's coordinates from p(· | f(a)) (sequential-mcmc-massive-data, section 2.1, eq. 35): log r is the difference of
// the log-likelihoods. It is right where blocks are independent given f(a), as targets are. Where other nodes hold some of the measurements,
// the law is p(· | f(a)) times their sites (eq. 37), with the same ratio.
type PriorRefinement struct{}

func (PriorRefinement) refine(c *chain, block int) {
	s, b := c.stream(refineFrom+block), c.blocks[block]
	rest := c.sample(s, c.refined, block, c.before, b)
	if rest -= c.cavity.at(c.x); c.refined != nil { // the normaliser is the same for both states
		rest = 0
	}
	if ok, _ := c.decide(s, b, rest, &c.refine); ok {
		c.move()
		c.prior = math.NaN()
	}
}

func (PriorRefinement) moves() bool { return true }

func (PriorRefinement) learns() bool { return false }

func (PriorRefinement) walks() bool { return false }
