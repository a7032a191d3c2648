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
		got.Tails, got.Ratio, got.Skew, got.LogSkew = 0, 0, 0, 0
		if got != c.want {
			t.Errorf("%v: %+v, want %+v", c.values, got, c.want)
		}
	}
	var amounts, below []float64 // 2^k, k = 0 … 20, whose quantiles are 2, 2^10 and 2^19
	for k := range 21 {
		amounts, below = append(amounts, math.Ldexp(1, k)), append(below, math.Ldexp(1, k)-1)
	}
	got, want := spreadOf(amounts), (0x1p19+2-2*0x1p10)/(0x1p19-2)
	if !(math.Abs(got.Ratio-0x1p18) <= 1e-6) || !(math.Abs(got.Skew-want) <= 1e-12) || !(math.Abs(got.LogSkew) <= 1e-12) {
		t.Errorf("amounts: %+v, want skewness %v", got, want)
	}
	if got := spreadOf(below); got.Ratio != 0 || got.Skew != 0 || got.LogSkew != 0 { // with a zero
		t.Errorf("amounts and a zero: %+v", got)
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
