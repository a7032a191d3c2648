package data

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Split holds out parts of ⌊n/10⌋ of the rows 0 … n−1 each (at least one row), drawn at random from the seed, and
// keeps the rest. All lists are in ascending order.
func Split(n int, seed uint64, parts int) (kept []int32, held [][]int32, err error) {
	return splitBy(anyRows, n, seed, parts)
}

// splitBy is Split by a draw, whose parts may have other sizes where groups stay together.
func splitBy(d draw, n int, seed uint64, parts int) (kept []int32, held [][]int32, err error) {
	size := max(n/10, 1)
	if n <= parts*size {
		return nil, nil, fmt.Errorf("too few examples to hold out %d parts: %d", parts, n)
	}
	held, kept, err = d.parts(n, splitKey(seed), slices.Repeat([]int{size}, parts))
	slices.Sort(kept)
	return kept, held, err
}

// Halves divides the rows 0 … n−1 at random into two halves, of which the first has no row more. Both are in ascending order. which, below 2²⁴,
// tells sets apart that are divided by one seed.
func Halves(n int, seed uint64, which int) (first, second []int32) {
	order := Order(n, halfKey(seed, which))
	first, second = order[:n/2:n/2], order[n/2:]
	slices.Sort(first)
	slices.Sort(second)
	return first, second
}

// splitKey is the key of the order from which the parts are taken.
func splitKey(seed uint64) rng.Key { return rng.Key{Seed: seed, Purpose: rng.Split} }

// calibrateKey is the key of the order from which the calibration part is taken. It is another draw than that of the other parts.
func calibrateKey(seed uint64) rng.Key {
	return rng.Key{Seed: seed, Purpose: rng.Split, Iteration: 1}
}

// halfKey is the key of the order of a set that Halves divides. It is another draw than those.
func halfKey(seed uint64, which int) rng.Key {
	return rng.Key{Seed: seed, Purpose: rng.Split, Iteration: 2, Island: which}
}
