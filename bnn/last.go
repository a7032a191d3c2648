package bnn

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/weights"
)

// Alive is the number of particles that have a weight.
func (e *Ensemble) Alive() int { return len(e.fromLast()) }

// Last returns the log-weights of m of the particles that have a weight, normalised; all others have −Inf. They are the particles
// that were kept last: the last one of every island, in the islands' order, then the one before it of every island, and so on. In
// an ensemble of one island they are the last m. States of a later time stand behind those of an earlier one, so the last
// iterations come first. It panics unless 1 ≤ m ≤ Alive().
func (e *Ensemble) Last(m int) []float64 {
	order := e.fromLast()
	if m < 1 || m > len(order) {
		panic(fmt.Sprintf("bnn: the last %d of %d particles", m, len(order)))
	}
	logw := slices.Repeat([]float64{math.Inf(-1)}, e.Size())
	for _, j := range order[:m] {
		logw[j] = e.LogWeights[j]
	}
	if _, _, err := weights.Normalise(logw, "particle"); err != nil {
		panic("bnn: " + err.Error()) // each of them has a finite log-weight
	}
	return logw
}

// fromLast lists the particles that have a weight, in the order of Last.
func (e *Ensemble) fromLast() (order []int) {
	islands := make([][]int, len(e.LogEvidence)) // particles of each island, the last one first
	most := 0
	for j := e.Size() - 1; j >= 0; j-- {
		if e.LogWeights[j] > math.Inf(-1) {
			p := e.Island[j]
			islands[p] = append(islands[p], j)
			most = max(most, len(islands[p]))
		}
	}
	for back := range most {
		for _, particles := range islands {
			if back < len(particles) {
				order = append(order, particles[back])
			}
		}
	}
	return order
}
