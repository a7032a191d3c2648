package bnn

import (
	"fmt"
	"iter"
	"slices"

	"github.com/starling-smc/starling/nn"
)

// share appends the rows of φ of an island of some particles.
func (e *Ensemble) share(p int, island Island, particles int) {
	s := e.Net.Shared()
	if s == 0 && len(island.Shared) == 0 {
		return
	}
	groups, first := len(island.Shared)/max(1, s), e.rows()
	if groups == 0 || groups*s != len(island.Shared) || particles%groups != 0 {
		panic(fmt.Sprintf("bnn: island %d has %d shared parameters for %d particles of a network that shares %d", p, len(island.Shared), particles, s))
	}
	for i := range particles {
		e.Row = append(e.Row, int32(first+i/(particles/groups)))
	}
	e.Shared = narrow(e.Shared, island.Shared)
}

// rows is the number of rows of φ.
func (e *Ensemble) rows() int { return len(e.Shared) / max(1, e.Net.Shared()) }

// checkShared returns the first inconsistency of φ and of its rows.
func (e *Ensemble) checkShared() error {
	if !e.Net.Partly() {
		return nil
	}
	if err := checkRows(e.Row, e.Island); err != nil {
		return err
	}
	s := e.Net.Shared()
	for i, x := range e.Shared {
		if x-x != 0 {
			return fmt.Errorf("%s of row %d is %v: the parameters that particles share want finite numbers", e.Net.SharedName(i%s), i/s, x)
		}
	}
	return nil
}

// checkRows wants rows that are numbered from 0 in the order of the particles, and that islands do not share.
func checkRows(row, island []int32) error {
	last := int32(-1)
	for i, r := range row {
		if r < max(last, 0) || r > last+1 {
			return fmt.Errorf("tensor shared has row %d for particle %d, after %d rows: want rows numbered from 0, in order", r, i, last+1)
		}
		if r == last && island[i] != island[i-1] {
			return fmt.Errorf("tensor shared has row %d for particles of islands %d and %d: want rows of its own for each island", r, island[i-1], island[i])
		}
		last = r
	}
	return nil
}

// passes yields passes over particles, which are indices in increasing order, each with a model: the given one at the φ of the
// pass. A pass has at most so many particles, and all of them share φ.
func (e *Ensemble) passes(model *nn.Model, particles []int, most int) iter.Seq2[*nn.Model, []int] {
	return func(yield func(*nn.Model, []int) bool) {
		if !e.Net.Partly() {
			for group := range slices.Chunk(particles, most) {
				if !yield(model, group) {
					return
				}
			}
			return
		}
		s := e.Net.Shared()
		for len(particles) > 0 {
			row, end := e.Row[particles[0]], 1
			for end < len(particles) && e.Row[particles[end]] == row {
				end++
			}
			at := model.At(widen(nil, e.Shared[int(row)*s:][:s]))
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

// own is the value of the likelihood's own parameter in particle j, if it has one: the last number of θ or, where particles share
// parameters, the last of ψ in the particle's row.
func (e *Ensemble) own(j int) float64 {
	switch d, learned := e.Net.Dim(), e.Net.Learned(); {
	case !e.Net.Partly():
		return float64(e.Theta[(j+1)*d-1])
	case learned > 0:
		return float64(e.Shared[int(e.Row[j])*e.Net.Shared()+learned-1])
	}
	return 0 // all that is shared is frozen: the likelihood has no parameter
}

// widen appends parameters as float64.
func widen(to []float64, from []float32) []float64 {
	for _, x := range from {
		to = append(to, float64(x))
	}
	return to
}

// narrow appends parameters as float32.
func narrow(to []float32, from []float64) []float32 {
	to = slices.Grow(to, len(from))
	for _, x := range from {
		to = append(to, float32(x))
	}
	return to
}
