package eval

import (
	"math"

	"github.com/starling-smc/starling/uq"
)

// Paired returns the mean of the differences a_i − b_i and its standard error, which is NaN for a single one.
func Paired(a, b []float64) (mean, se float64) {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	n := float64(len(d))
	return uq.Mean(d), spread(d) / math.Sqrt(n-1)
}

// spread is the standard deviation of numbers around their mean.
func spread(x []float64) float64 {
	m, sum := uq.Mean(x), 0.0
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return math.Sqrt(sum / float64(len(x)))
}
