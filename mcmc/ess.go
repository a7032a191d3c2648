package mcmc

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// BulkESS is the effective sample size for the centre of a distribution, of one number per state of several chains (Vehtari,
// Gelman, Simpson, Carpenter and Bürkner 2021, sections 3 and 4): the number of independent draws that the states are worth. A
// mean or median needs 100 a chain (section 4.1). Values are replaced by normal scores, and chains cut in half, as in RHat. For
// M halves of n states with autocovariances c_tm (Autocorrelation), mean variance W, divided by n − 1, and
// V = (n−1)/n W + the variance of their means,
//
//	ESS = M n / τ,   τ = 1 + 2 Σ_{t≥1} ρ_t,   ρ_t = 1 − (W − mean_m c_tm)/V.
//
// Chains that disagree raise V, so the ESS of chains in different modes is near their number, however many states they have. The
// sum ends by Geyer's initial monotone sequence: pairs of neighbours, while they are positive and not larger than the pair
// before. An ESS is at most M n log10(M n).
//
// It is NaN if there is no answer: without chains, for chains of fewer than 10 states or of different lengths, with a value that
// is not finite, and where all values are equal.
func BulkESS(chains [][]float64) float64 { return effectiveSize(rankNormal(splitChains(chains))) }

// TailESS is the effective sample size for the tails of a distribution: the smaller one of the ESS of x ≤ q, for q the
// quantiles of 5 % and 95 % of all values. It is NaN where BulkESS is, and where no value is above the larger quantile.
func TailESS(chains [][]float64) float64 {
	halves := splitChains(chains)
	if halves == nil {
		return math.NaN()
	}
	all, least := slices.Concat(chains...), math.Inf(1)
	for _, share := range []float64{0.05, 0.95} {
		q := numeral.Quantile(all, share)
		below := mapChains(halves, func(x float64) float64 {
			if x <= q {
				return 1
			}
			return 0
		})
		least = min(least, effectiveSize(below)) // NaN if one is
	}
	return least
}

// MCSE is the Monte Carlo standard error of the mean of all values, in their unit: the standard deviation, divided by the
// root of the ESS of the values themselves. It is NaN where BulkESS is. Where the distribution has no variance it has no
// meaning.
func MCSE(chains [][]float64) float64 {
	_, sd := pooledMoments(chains)
	return sd / math.Sqrt(effectiveSize(splitChains(chains)))
}

// MCSEOfSD is the Monte Carlo standard error of the standard deviation of all values, in their unit, by the delta method from
// that of the mean of (x − mean)². It is NaN where BulkESS is.
func MCSEOfSD(chains [][]float64) float64 {
	m, sd := pooledMoments(chains)
	return MCSE(mapChains(chains, func(x float64) float64 { return float64((x - m) * (x - m)) })) / (2 * sd)
}

// pooledMoments returns the mean and the standard deviation of all values.
func pooledMoments(chains [][]float64) (m, sd float64) {
	all := slices.Concat(chains...)
	return mean(all), math.Sqrt(variance(all))
}

// effectiveSize is the ESS of halves of chains.
func effectiveSize(halves [][]float64) float64 {
	if len(halves) == 0 || len(halves[0]) < 5 { // of 4 states no pair of autocorrelations can be told from noise
		return math.NaN()
	}
	n, chains := len(halves[0]), float64(len(halves))
	var means []float64
	for _, h := range halves {
		means = append(means, mean(h))
	}
	series := make([][]float64, len(halves))
	for m, h := range halves {
		for _, x := range h {
			series[m] = append(series[m], x-means[m])
		}
	}
	covariance := func(t int) (mean float64) {
		for _, c := range series {
			mean += autocovariance(c, t) / chains
		}
		return mean
	}
	c0 := covariance(0)
	within, total := c0*float64(n)/float64(n-1), c0+variance(means)
	if allSame(slices.Concat(halves...)) || !(total > 0) || math.IsInf(total, 1) {
		return math.NaN()
	}
	rho := func(t int) float64 { return 1 - (within-covariance(t))/total }

	tau, pair := -1.0, math.Inf(1)
	even, odd := 1.0, rho(1)
	for t := 2; t < n-2 && even+odd > 0; t += 2 {
		pair = min(pair, even+odd)
		tau += 2 * pair
		even, odd = rho(t), rho(t+1)
	}
	if even > 0 || even+odd >= 0 {
		tau += even
	}
	states := chains * float64(n)
	return states / max(tau, rng.Log(10)/rng.Log(states))
}
