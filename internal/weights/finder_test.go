package weights

import (
	"slices"
	"testing"
)

// Of n ancestors each particle is n times its weight, rounded up or down, and a particle of weight 0 is none: also the last one,
// where the positions reach beyond a sum of weights that is below 1.
func TestSystematic(t *testing.T) {
	for _, w := range [][]float64{{0.5, 0, 0.3, 0.2}, {0.5, 0, 0.3, 0.2 - 1e-3, 0}} {
		for _, u := range []float64{0, 0.3, 0.999} {
			ancestors, count := make([]int32, 10), make([]int, 4)
			Systematic(w, u, ancestors)
			for _, j := range ancestors {
				count[j]++
			}
			if !slices.Equal(count, []int{5, 0, 3, 2}) || !slices.IsSorted(ancestors) {
				t.Errorf("weights %v, uniform %v: ancestors %v", w, u, ancestors)
			}
		}
	}
}

// A particle is found from where the weights before it end, included, to where its own ends, excluded. One of weight 0 is never
// found, neither between others nor beyond a sum that is below 1.
func TestFinder(t *testing.T) {
	find := NewFinder([]float64{0.5, 0, 0.25, 0.125, 0})
	for position, want := range map[float64]int32{0: 0, 0.4999: 0, 0.5: 2, 0.7499: 2, 0.75: 3, 0.8749: 3, 0.875: 3, 0.9999: 3} {
		if got := find.At(position); got != want {
			t.Errorf("at %v is %d; want %d", position, got, want)
		}
	}
}
