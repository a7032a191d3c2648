package uq

import (
	"math"
	"slices"
)

// AUROC is the probability that a score drawn from positive is larger than one drawn from negative, ties counting
// one half: the area under the receiver operating characteristic. Pairs are counted as integers, so it is exact up to
// one division. It is NaN if either is empty or holds a NaN.
func AUROC(negative, positive []float64) float64 {
	if len(negative) == 0 || len(positive) == 0 || slices.ContainsFunc(negative, math.IsNaN) || slices.ContainsFunc(positive, math.IsNaN) {
		return math.NaN()
	}
	n, p := slices.Sorted(slices.Values(negative)), slices.Sorted(slices.Values(positive))
	var wins int64 // twice the number of pairs won, plus the number of ties
	less, upTo := 0, 0
	for _, v := range p {
		for less < len(n) && n[less] < v {
			less++
		}
		for upTo < len(n) && n[upTo] <= v {
			upTo++
		}
		wins += int64(less + upTo)
	}
	return float64(wins) / (2 * float64(len(n)) * float64(len(p)))
}

// FPR95 is the share of OOD examples that are accepted at the threshold which accepts 95 % of the test examples. Scores are
// low in distribution: FPR95 is the share of ood ≤ τ, where τ is the ⌈0.95 n⌉-th smallest of test. It is NaN if either is
// empty or holds a NaN.
func FPR95(test, ood []float64) float64 {
	if len(test) == 0 || len(ood) == 0 || slices.ContainsFunc(test, math.IsNaN) || slices.ContainsFunc(ood, math.IsNaN) {
		return math.NaN()
	}
	n := len(test)
	tau := slices.Sorted(slices.Values(test))[(95*n+99)/100-1]
	pass := 0
	for _, v := range ood {
		if v <= tau {
			pass++
		}
	}
	return float64(pass) / float64(len(ood))
}
