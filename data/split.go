package data

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Split holds out parts of ⌊n/10⌋ of the rows 0 … n−1 each (at least one row), drawn at random from the seed, and
// keeps the rest. All lists are in ascending order.
func Split(n int, seed uint64, parts int) (kept []int32, held [][]int32, err error) {
	return splitBy(nil, n, seed, parts)
}

// splitBy is Split with the shares of every class, unless there are no strata.
func splitBy(s strata, n int, seed uint64, parts int) (kept []int32, held [][]int32, err error) {
	size := max(n/10, 1)
	if n <= parts*size {
		return nil, nil, fmt.Errorf("too few examples to hold out %d parts: %d", parts, n)
	}
	rest := s.arrange(Order(n, splitKey(seed)), slices.Repeat([]int{size}, parts)...)
	for range parts {
		held = append(held, slices.Sorted(slices.Values(rest[:size])))
		rest = rest[size:]
	}
	slices.Sort(rest)
	return rest, held, nil
}

// splitKey is the key of the order from which the parts are taken.
func splitKey(seed uint64) rng.Key { return rng.Key{Seed: seed, Purpose: rng.Split} }

// Split makes the parts that the problem lacks: a missing Test or Validate becomes a random tenth of Train, which keeps the
// rest. A Whole problem is not split. The split depends on the seed and on the number of training examples
// alone.
func (p *Problem) Split(seed uint64) error { return p.split(nil, seed) }

// split is Split by settings.
func (p *Problem) split(by *Parts, seed uint64) error {
	if p.Whole {
		return nil
	}
	var missing []**Set
	var names []string
	if p.Test == nil {
		missing, names = append(missing, &p.Test), append(names, "test")
	}
	if p.Validate == nil {
		missing, names = append(missing, &p.Validate), append(names, "validate")
	}
	if len(missing) == 0 && by == nil {
		return nil
	}
	kept, held, err := by.divide(p.Train.Len(), seed, nil, p.Test == nil, p.Validate == nil)
	if err != nil {
		return fmt.Errorf("data set %q: %w", p.Name, err)
	}
	for k, set := range missing {
		*set = p.Train.Select(names[k], held[k])
	}
	p.Train = p.Train.Select(p.Train.Name, kept)
	return nil
}
