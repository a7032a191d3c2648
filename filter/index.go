package filter

// Index refines the index of the particle that the state comes from, for the same state. The law to draw from is
// P(a) ∝ p(x | f(a)).
type Index interface {
	index(c *chain)
	changes() bool // the index
}

// FixedIndex keeps the index. Only a joint proposal changes it then. Where none is accepted, the whole filter of a scan comes
// from one particle of the scan before: its spread is too small in what the measurements do not show, such as velocities. This
// is what the paper ran in Example 2 (sequential-mcmc-massive-data, section 5, A7).
type FixedIndex struct{}

func (FixedIndex) index(*chain) {}

func (FixedIndex) changes() bool { return false }

// UniformIndex proposes a uniform index: log r = log p(x | f(a*)) − log p(x | f(a)). A proposal costs one density, far less than a
// decision over the measurements, so a step of the chain makes eight of them, one after another.
type UniformIndex struct{}

func (UniformIndex) index(c *chain) {
	s := c.stream(indexAt)
	if c.shift(s) {
		return
	}
	for range tries {
		for g := range c.groups {
			a := int32(s.IntN(c.n))
			copy(c.other, c.before)
			c.take(c.other, g, a)
			next := c.tr.LogDensity(c.other, c.x)
			if c.accepts(s, next-c.logPrior(), &c.index) {
				c.a[g], c.before, c.other, c.prior = a, c.other, c.before, next
			}
		}
	}
}

func (UniformIndex) changes() bool { return true }

const tries = 8
