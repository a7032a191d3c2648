package uq

import (
	"cmp"
	"math"
	"slices"
)

// RiskCoverage says what abstaining buys: risk[k−1] is the share of wrong answers among the k examples of the least
// doubt, of n, so that coverage is k/n (El-Yaniv & Wiener 2010). Examples of equal doubt are answered in an order that
// knows nothing of them: their errors are spread evenly. It is nil if a doubt is NaN.
func RiskCoverage(doubt []float64, wrong []bool) []float64 {
	mustRows(len(doubt), 1, len(wrong))
	if slices.ContainsFunc(doubt, math.IsNaN) {
		return nil
	}
	order := make([]int, len(doubt))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(doubt[a], doubt[b]) })
	risk := make([]float64, len(doubt))
	errors := 0 // among the examples before this tie
	for lo := 0; lo < len(order); {
		hi, here := lo, 0
		for ; hi < len(order) && doubt[order[hi]] == doubt[order[lo]]; hi++ {
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

// AURC is the area under the risk–coverage curve, the mean of its n risks (Geifman et al. 2019): 0 if nothing is wrong,
// the share of wrong answers if doubt says nothing of them. It is NaN without a curve.
func AURC(risk []float64) float64 { return Mean(risk) }
