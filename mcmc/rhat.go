package mcmc

import "math"

// SplitRHat is the potential scale reduction of chains that are cut in half (Gelman et al., Bayesian Data Analysis, 3rd ed.,
// section 11.4), for one number per state:
//
//	√(((n−1)/n W + B/n) / W)
//
// with n the length of a half, W the mean variance within the halves and B/n the variance of their means. It is near 1 for
// chains that agree, and NaN for chains of fewer than 8 values or of different lengths.
func SplitRHat(chains [][]float64) float64 {
	var halves [][]float64
	for _, c := range chains {
		n := len(c) / 2
		if n < 4 || len(c) != len(chains[0]) {
			return math.NaN()
		}
		halves = append(halves, c[:n], c[len(c)-n:])
	}
	if len(halves) == 0 {
		return math.NaN()
	}
	n := float64(len(halves[0]))
	var means []float64
	within := 0.0
	for _, h := range halves {
		within += variance(h) / float64(len(halves))
		means = append(means, mean(h))
	}
	return math.Sqrt(((n-1)/n*within + variance(means)) / within)
}

// variance divides by n − 1.
func variance(x []float64) float64 {
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return sum / float64(len(x)-1)
}
