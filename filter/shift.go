package filter

import "github.com/starling-smc/starling/ssm"

// Where the noise of the transition is confined to a subspace (ssm.Confined), hardly any two particles lead to the same state: the law
// P(a) ∝ p(x | f(a)) of the index has one value. So the index is proposed together with the state that it can lead to:
//
//	a* uniform,   x* = the state nearest to x that f(a*) leads to,
//	log r = log p(z | x*) − log p(z | x) + log p(x* | f(a*)) − log p(x | f(a)).
//
// x* is x, shifted by what depends on a and a* alone, and the shift back is the same with the other sign. So the density of the
// proposal cancels. Where all particles lead to the same subspace, x* is x.

// shift refines the index for a transition whose noise is confined; it is false for other transitions.
func (c *chain) shift(s *ssm.Stream) bool {
	t, ok := c.tr.(ssm.Confined)
	if !ok {
		return false
	}
	for range shifts {
		for g := range c.groups {
			a := int32(s.IntN(c.n))
			copy(c.other, c.before)
			c.take(c.other, g, a)
			copy(c.y, c.x)
			t.Nearest(c.other, c.y)
			next := t.LogDensity(c.other, c.y)
			if c.accepts(s, c.try(ssm.Block{From: 0, To: len(c.y)})+next-c.logPrior(), &c.index) {
				c.move()
				c.a[g], c.before, c.other, c.prior = a, c.other, c.before, next
			}
		}
	}
	return true
}

// shifts is the number of proposals in a step of the chain. Each costs a likelihood.
const shifts = 8
