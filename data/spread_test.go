package data

import (
	"math"
	"testing"
)

// TestSpread: what is frequent, how far values lie apart, and what is missing.
func TestSpread(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{[]float64{0, 4, 0, 2}, Spread{Distinct: 3, Common: 0, Share: .5, Gap: 2 / math.Sqrt(2.75), Least: 0}},
		{[]float64{nan, 3, 1, nan, 3, 1}, Spread{Distinct: 2, Common: 1, Share: .5, Gap: 2, Least: 1}},
		{[]float64{-1, 1}, Spread{Distinct: 2, Common: -1, Share: .5, Gap: 2, Least: -1}},
		{[]float64{nan}, Spread{Gap: math.Inf(1), Least: math.Inf(1)}},
		{[]float64{5, 5}, Spread{Distinct: 1, Common: 5, Share: 1, Gap: math.Inf(1), Least: 5}},
	} {
		got := *spreadOf(c.values)
		if len(c.values) == 1 {
			got.Gap = c.want.Gap // of no values it is anything
		}
		got.Tails = 0
		if math.Abs(got.Gap-c.want.Gap) <= 1e-15 {
			got.Gap = c.want.Gap
		}
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
