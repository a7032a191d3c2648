package uq

import (
	"cmp"
	"math"
	"slices"
)

// RiskCoverage is the risk–coverage curve of abstaining: risk[k−1] is the share of wrong answers among the k of n examples
// with the least uncertainty, where coverage is k/n (El-Yaniv & Wiener 2010). Errors among examples of equal uncertainty
// are spread evenly, which is the mean over their orders. The curve is nil if an uncertainty is NaN.
func RiskCoverage(uncertainty []float64, wrong []bool) []float64 {
	mustRows(len(uncertainty), 1, len(wrong))
	if slices.ContainsFunc(uncertainty, math.IsNaN) {
		return nil
	}
	order := make([]int, len(uncertainty))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(uncertainty[a], uncertainty[b]) })
	risk := make([]float64, len(uncertainty))
	errors := 0 // among the examples before this tie
	for lo := 0; lo < len(order); {
		hi, here := lo, 0
		for ; hi < len(order) && uncertainty[order[hi]] == uncertainty[order[lo]]; hi++ {
			if wrong[order[hi]] {
				here++
			}
		}
		for k := lo + 1; k <= hi; k++ {
			share := float64(here*(k-lo)) / float64(hi-lo)
			risk[k-1] = (float64(errors) + share) / float64(k)
		}
		errors += here
		lo = hi
	}
	return risk
}

// AURC is the area under the risk–coverage curve, the mean of its n risks (Geifman et al. 2019). It is 0 if no answer is wrong,
// and the share of wrong answers if the uncertainty is unrelated to them. It is NaN without a curve.
func AURC(risk []float64) float64 { return Mean(risk) }
