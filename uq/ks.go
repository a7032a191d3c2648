package uq

import "slices"

// KS returns the statistic of Kolmogorov and Smirnov, the largest distance between the empirical distribution function of samples
// x and a distribution function G. With the samples sorted,
//
//	two = max_i max(i/n − G(x_i), G(x_i) − (i−1)/n),   one = max_i (i/n − G(x_i)).
//
// two is the usual one. one is eq. 38 as it is printed, without the absolute value (sequential-mcmc-massive-data, section 5, A15). For n independent
// draws from G two is about 0.87/√n. x is not changed; both are 0 without samples.
func KS(x []float64, g func(float64) float64) (two, one float64) {
	sorted := slices.Sorted(slices.Values(x))
	n := float64(len(x))
	for i, v := range sorted {
		p := g(v)
		above := float64(i+1)/n - p
		one = max(one, above)
		two = max(two, above, p-float64(i)/n)
	}
	return two, one
}
