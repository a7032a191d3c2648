package method

import "math"

// Estimates of memory multiply settings that a config may make as large as it likes. Sums and products of such sizes, which are
// not negative, stay at the largest number where they would overflow: no limit admits it.

func sum(sizes ...int64) (total int64) {
	for _, n := range sizes {
		if n > math.MaxInt64-total {
			return math.MaxInt64
		}
		total += n
	}
	return total
}

func product(sizes ...int64) int64 {
	total := int64(1)
	for _, n := range sizes {
		switch {
		case n == 0:
			return 0
		case total > math.MaxInt64/n:
			total = math.MaxInt64 // the next may be 0
		default:
			total *= n
		}
	}
	return total
}
