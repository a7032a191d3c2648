package data

import (
	"math"
	"testing"
)

// TestSpread: what is frequent, what is missing, and how far the outer values lie apart.
func TestSpread(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{[]float64{0, 4, 0, 2}, Spread{Distinct: 3, Common: 0, Share: .5, Least: 0}},
		{[]float64{nan, 3, 1, nan, 3, 1}, Spread{Distinct: 2, Common: 1, Share: .5, Least: 1}},
		{[]float64{-1, 1}, Spread{Distinct: 2, Common: -1, Share: .5, Least: -1}},
		{[]float64{nan}, Spread{Least: math.Inf(1)}},
		{[]float64{5, 5}, Spread{Distinct: 1, Common: 5, Share: 1, Least: 5}},
	} {
		got := *spreadOf(c.values)
		got.Tails = 0
		if got != c.want {
			t.Errorf("%v: %+v, want %+v", c.values, got, c.want)
		}
	}
	var even []float64
	for i := range 101 {
		even = append(even, float64(i))
	}
	if got := spreadOf(even).Tails; got != 98./50 {
		t.Errorf("the tails of even values: %v, want %v", got, 98./50)
	}
	if got := spreadOf([]float64{0, 0, 0, 0, 0, 3}).Tails; !math.IsInf(got, 1) {
		t.Errorf("the tails of values that are nearly all equal: %v", got)
	}
}
