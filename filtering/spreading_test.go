package filtering

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// TestSpreadOfMany: of many numbers the median is right in its first digits, and all else exact; of few all is exact. Their number is odd, so that one of them is the median. The numbers come in any
// order, have both signs and all sizes, and some are infinite.
func TestSpreadOfMany(t *testing.T) {
	s := rng.Key{Purpose: rng.Synthetic}.Stream()
	draws := map[string]func() float64{
		"shares": s.Float64,
		"sizes":  func() float64 { return math.Exp(20 * s.Normal()) },
		"signs":  func() float64 { return s.Normal() - 0.3 },
		"equal":  func() float64 { return 1 },
		"ends": func() float64 {
			if v := s.Float64(); v > 0.1 {
				return -v
			}
			return math.Inf(1)
		},
	}
	for name, draw := range draws {
		for _, n := range []int{1, 1000, exactly, exactly + 1, 50_001} {
			var all []float64
			var got spreading
			for range n {
				v := draw()
				all = append(all, v)
				got.add(v)
			}
			mean := 0.0
			for _, v := range all {
				mean += v / float64(n)
			}
			is, median := got.spread(), numeral.Median(all)
			within := math.Abs(median) / 2048
			if n <= exactly {
				within = 0
			}
			if float64(is.Min) != slices.Min(all) || float64(is.Max) != slices.Max(all) || !(math.Abs(float64(is.Median)-median) <= within || math.IsNaN(median) && math.IsNaN(float64(is.Median))) {
				t.Errorf("%s, %d numbers: %+v, and the median is %v", name, n, *is, median)
			}
			if d := math.Abs(float64(is.Mean) - mean); !(d <= 1e-9*math.Abs(mean)) && float64(is.Mean) != mean {
				t.Errorf("%s, %d numbers: mean %v, not %v", name, n, is.Mean, mean)
			}
			if n > exactly && (got.list != nil || len(got.bins) > 200_000) {
				t.Errorf("%s: %d numbers are kept in %d bins and %d places", name, n, len(got.bins), len(got.list))
			}
		}
	}
}
