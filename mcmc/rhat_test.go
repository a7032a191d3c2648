package mcmc

import (
	"math"
	"testing"
)

// TestSplitRHat compares with a case worked out by hand: halves of mean 0 and 2 with variance 4/3 (n = 4) give
// √((3/4·4/3 + 2)/(4/3)), as the means 0 and 2 have variance 2; equal halves give √(3/4).
func TestSplitRHat(t *testing.T) {
	low, high := []float64{-1, 1, -1, 1}, []float64{1, 3, 1, 3}
	for _, c := range []struct {
		chains [][]float64
		want   float64
	}{
		{[][]float64{append(append([]float64{}, low...), high...)}, math.Sqrt((1 + 2) / (4. / 3))},
		{[][]float64{append(append([]float64{}, low...), low...)}, math.Sqrt(3. / 4)},
		{[][]float64{low}, math.NaN()},
		{[][]float64{make([]float64, 8), make([]float64, 9)}, math.NaN()},
		{nil, math.NaN()},
	} {
		if got := SplitRHat(c.chains); !(math.Abs(got-c.want) <= 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("R-hat of %v is %v, want %v", c.chains, got, c.want)
		}
	}
}
