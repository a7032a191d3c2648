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

// splitKey is the key of the order from which the parts are taken.
func splitKey(seed uint64) rng.Key { return rng.Key{Seed: seed, Purpose: rng.Split} }

// calibrateKey is the key of the order from which the calibration part is taken. It is another draw than that of the other parts.
func calibrateKey(seed uint64) rng.Key {
	return rng.Key{Seed: seed, Purpose: rng.Split, Iteration: 1}
}
