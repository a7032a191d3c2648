package bnn

import (
	"fmt"
	"slices"
)

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
