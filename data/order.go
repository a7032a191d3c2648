package data

import (
	"iter"

	"github.com/starling-smc/starling/internal/rng"
)

// Order returns the numbers 0 … n−1 in a random order that depends on key alone.
func Order(n int, key rng.Key) []int32 {
	order := make([]int32, n)
	key.Stream().Perm(order)
	return order
}

// Batches cuts an order into consecutive batches of size; the last holds the remainder. The batches share the memory
// of order. It panics if size is not positive.
func Batches(order []int32, size int) iter.Seq[[]int32] {
	if size <= 0 {
		panic("data: the size of batches must be positive")
	}
	return func(yield func([]int32) bool) {
		for lo := 0; lo < len(order); lo += size {
			if !yield(order[lo:min(lo+size, len(order))]) {
				return
			}
		}
	}
}
