package numeral

import (
	"math"
	"slices"
)

// Median is the median of the finite values; NaN without any.
func Median(values []float64) float64 { return Quantile(values, .5) }

// Quantile interpolates linearly between the sorted finite values; NaN without any.
func Quantile(values []float64, q float64) float64 {
	var sorted []float64
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			sorted = append(sorted, v)
		}
	}
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	at := float64(q * float64(len(sorted)-1))
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + float64((at-float64(i))*(sorted[j]-sorted[i]))
}

// Spread returns the mean of values, and their standard deviation for the divisor n − 1; NaN of fewer than two.
func Spread(values []float64) (mean, sd float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sd += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, math.Sqrt(sd)
}
