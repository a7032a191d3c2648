package mcmc

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// RHat is the rank-normalised split R-hat of one number per state of several chains (Vehtari, Gelman, Simpson, Carpenter and
// Bürkner 2021, section 4). Chains are cut in half; the values, or their distances from the median of all, are replaced by
// normal scores of their ranks; of both
//
//	√(((n−1)/n W + B/n) / W)
//
// is taken, with n the length of a half, W the mean variance within the halves and B/n the variance of their means, and the
// larger one is the result. The values themselves tell whether the chains have the same centre, the distances whether they
// have the same spread. It is near 1 for chains that agree, and 1.01 is the paper's bound. One chain is compared with itself.
//
// It is +Inf if no half varies, but some differ. It is NaN if there is no answer: without chains, for chains of fewer than 8
// states or of different lengths, with a value that is not finite, and where all values are equal. Distances that are all equal,
// as of a number with two values, are left out.
func RHat(chains [][]float64) float64 {
	halves := splitChains(chains)
	bulk := scaleReduction(rankNormal(halves))
	median := numeral.Median(slices.Concat(halves...))
	folded := mapChains(halves, func(x float64) float64 { return math.Abs(x - median) })
	if tail := scaleReduction(rankNormal(folded)); tail > bulk {
		return tail
	}
	return bulk
}

// scaleReduction is the formula of RHat for chains that are cut already.
func scaleReduction(chains [][]float64) float64 {
	if len(chains) == 0 {
		return math.NaN()
	}
	n := float64(len(chains[0]))
	var means []float64
	within := 0.0
	for _, c := range chains {
		within += variance(c) / float64(len(chains))
		means = append(means, mean(c))
	}
	return math.Sqrt((float64((n-1)/n*within) + variance(means)) / within)
}

// variance divides by n − 1. It is exactly 0 for values that are all equal.
func variance(x []float64) float64 {
	if allSame(x) {
		return 0
	}
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return sum / float64(len(x)-1)
}

// Jackknife returns an interval for a positive statistic of M independent chains, such as an R-hat: all is its value for all of
// them, and without[m] its value without chain m. It reaches two jackknife standard errors (Efron 1982, chapter 3) of the
// statistic's logarithm to either side,
//
//	exp(log all ± 2 s),   s² = (M−1)/M Σ_m (log without_m − mean)²,
//
// which covers about 95 % where there are many chains, and 91 % for 8. It takes nothing for granted about the states within a
// chain: they may depend on each other, as those of a few moves do. Both ends are NaN for fewer than two chains, and if a
// value is not positive and finite.
func Jackknife(all float64, without []float64) (low, high float64) {
	logs := make([]float64, len(without))
	for m, v := range without {
		logs[m] = rng.Log(v)
	}
	chains := float64(len(logs))
	s := math.Sqrt(variance(logs)) * (chains - 1) / math.Sqrt(chains)
	if len(without) < 2 || !(all > 0) || math.IsInf(all, 1) || s-s != 0 {
		return math.NaN(), math.NaN()
	}
	return all * rng.Exp(-2*s), all * rng.Exp(2*s)
}
