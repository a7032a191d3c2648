package bnn

import (
	"iter"
	"slices"

	"github.com/starling-smc/starling/nn"
)

// A prediction is a running sum over the particles. The network evaluates a few particles at a time, so memory does not grow
// with their number. Particles are added in order, so no sum depends on the number of threads.
const (
	together = 16      // particles in one pass of the network
	stretch  = 256     // examples of one task that turns outputs into predictions
	held     = 1 << 22 // about how many outputs of all particles are in memory at the same time
)

// passes yields passes over particles, which are indices in increasing order, each with a model: the given one at the ψ of the
// pass. A pass has at most so many particles, and all of them share ψ.
func (e *Ensemble) passes(model *nn.Model, particles []int, most int) iter.Seq2[*nn.Model, []int] {
	return func(yield func(*nn.Model, []int) bool) {
		for s := e.Net.Learned(); len(particles) > 0; {
			at, end := model, len(particles)
			if s > 0 {
				row := e.Row[particles[0]]
				for end = 1; end < len(particles) && e.Row[particles[end]] == row; {
					end++
				}
				at = model.At(widen(nil, e.Shared[int(row)*s:][:s]))
			}
			for group := range slices.Chunk(particles[:end], most) {
				if !yield(at, group) {
					return
				}
			}
			particles = particles[end:]
		}
	}
}

// pass returns the largest number of particles of a pass, and of examples whose outputs are in memory. Where particles share a
// part of the network, each pass computes it again: a pass takes many particles, and therefore fewer examples.
func (e *Ensemble) pass(particles, examples int) (most, block int) {
	if !e.Net.Partly() {
		return together, examples
	}
	k := e.Net.Outputs()
	most = min(e.most(), max(together, min(particles, held/(stretch*k))))
	return most, min(examples, max(held/(most*k*stretch), 1)*stretch)
}

// most is the largest number of particles of a pass whose outputs fit in memory.
func (e *Ensemble) most() int {
	if !e.Net.Partly() {
		return together
	}
	return max(together, held/e.Net.Dim())
}
