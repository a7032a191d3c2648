package uq

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Energy is E(z) = −ln Σ_c e^{z_c} of the logits z of one example (smc-sghmc-ensembles, section 2.6, eq. 77;
// Liu et al. 2020 at temperature 1): low where the network is certain. The largest logit is subtracted before the exponentials,
// so that none overflows.
func Energy[T float32 | float64](z []T) float64 {
	top := math.Inf(-1)
	for _, v := range z {
		top = max(top, float64(v))
	}
	sum := 0.0
	for _, v := range z {
		sum += rng.Exp(float64(v) - top)
	}
	return -(top + rng.Log(sum))
}

// Pass is the share of the validation examples that the threshold of an energy accepts.
const Pass = 0.95

// Threshold is the largest energy that is accepted, so that at least a share pass of n energies is: the ⌈pass·n⌉-th smallest
// of them. It is NaN without energies, or if one is NaN.
func Threshold(energies []float64, pass float64) float64 {
	if !(pass > 0 && pass <= 1) {
		panic(fmt.Sprintf("uq: a threshold that accepts a share of %v", pass))
	}
	if len(energies) == 0 || slices.ContainsFunc(energies, math.IsNaN) {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(energies))[rank(len(energies), pass)-1]
}

// Refused is the largest share of new examples above the Threshold of n energies that is at all likely: 19 of 20 thresholds refuse less,
// if the new examples are like the n. It is the share p at which no more of n examples than n − ⌈pass·n⌉ exceed a quantile with chance 0.05
// (Wilks 1941, the tolerance limits of order statistics).
func Refused(n int, pass float64) float64 {
	above, low, high := n-rank(n, pass), 0., 1.
	for range 60 {
		p := float64((low + high) / 2)
		term := math.Pow(1-p, float64(n)) // that none of them exceeds it
		sum := term
		for k := range above {
			term = float64(term * (float64(n-k) / float64(k+1) * (p / (1 - p))))
			sum += term
		}
		if sum > .05 {
			low = p
		} else {
			high = p
		}
	}
	return high
}

// rank is ⌈pass·n⌉, but at least 1.
func rank(n int, pass float64) int {
	return max(int(math.Ceil(float64(pass*float64(n))-1e-9)), 1) // the product may round up across a whole number
}

// Detection scores the decision that an input is out of distribution (OOD) where its energy is above a threshold τ. OOD is the
// positive class. Accuracy, precision and F1 depend on how many OOD inputs there are for each test example.
type Detection struct {
	Threshold   Number `json:"threshold"`   // τ
	Accuracy    Number `json:"accuracy"`    // share of right decisions
	Precision   Number `json:"precision"`   // share of OOD inputs among those that are declared OOD; NaN if none is
	Recall      Number `json:"recall"`      // share of the OOD inputs that are declared OOD
	F1          Number `json:"f1"`          // harmonic mean of precision and recall
	Specificity Number `json:"specificity"` // share of the test examples that are accepted

	AUROC Number `json:"auroc"` // at all thresholds, as AUROC
	FPR95 Number `json:"fpr95"` // at the threshold that accepts 95 % of these test examples, as FPR95
}

// IsOOD is the decision: an energy above the threshold. An energy that is NaN, where the network overflows, is no input that the
// network knows.
func IsOOD(energy, threshold float64) bool { return !(energy <= threshold) }

// Detect scores the decision for energies of test examples and of OOD inputs. The threshold must come from neither.
func Detect(test, ood []float64, threshold float64) *Detection {
	above := func(energies []float64) (n float64) {
		for _, e := range energies {
			if IsOOD(e, threshold) {
				n++
			}
		}
		return n
	}
	found, alarms := above(ood), above(test)
	accepted, all := float64(len(test))-alarms, float64(len(test)+len(ood))
	return &Detection{
		Threshold: Number(threshold),
		Accuracy:  Number((found + accepted) / all),
		Precision: Number(found / (found + alarms)),
		Recall:    Number(found / float64(len(ood))),
		// 2·precision·recall / (precision + recall), which is 0 and not 0/0 where nothing is found
		F1:          Number(2 * found / (found + alarms + float64(len(ood)))),
		Specificity: Number(accepted / float64(len(test))),
		AUROC:       Number(AUROC(test, ood)), FPR95: Number(FPR95(test, ood)),
	}
}
