package decide

import (
	"fmt"
	"math"
	"slices"
)

// NeedError says that there are too few examples, and how many would do.
type NeedError struct {
	What string // what the examples are for, as in "a rate of 0.99"
	Have int
	Need int // the least number that would do
}

func (e *NeedError) Error() string {
	return fmt.Sprintf("%s needs at least %d examples to calibrate with, have %d: give %d more", e.What, e.Need, e.Have, e.Need-e.Have)
}

// rank is ⌈(n+1)·rate⌉: of n scores and that of a new example in any order, the new one is at most the rank-th smallest of the n with a
// chance of at least rate (Vovk, Gammerman and Shafer 2005).
func rank(n int, rate float64) int {
	return int(math.Ceil(float64(rate*float64(n+1)) - 1e-9)) // the product may round up across a whole number
}

// needed is the least n whose rank is at most n.
func needed(rate float64) int {
	n := max(int(rate/(1-rate))-1, 1)
	for rank(n, rate) > n {
		n++
	}
	return n
}

// quantile is the score that a new example's is below or equal to with a chance of at least rate.
func quantile(scores []float64, rate float64, what string) (float64, error) {
	n := len(scores)
	k := rank(n, rate)
	if k > n {
		return 0, &NeedError{What: what, Have: n, Need: needed(rate)}
	}
	return slices.Sorted(slices.Values(scores))[k-1], nil
}

// checkRate refuses a share that is not inside (0, 1).
func checkRate(rate float64) error {
	if !(rate > 0 && rate < 1) {
		return fmt.Errorf("a rate of %v: want a number above 0, below 1", rate)
	}
	return nil
}

// checkLabels refuses labels that are no classes, and probabilities of another number of rows.
func checkLabels(probs []float64, classes int, labels []int32) error {
	if classes < 1 || len(probs) != classes*len(labels) {
		return fmt.Errorf("%d probabilities of %d classes for %d labels: want one row of probabilities a label", len(probs), classes, len(labels))
	}
	for i, y := range labels {
		if y < 0 || int(y) >= classes {
			return fmt.Errorf("example %d has label %d: want 0 to %d", i, y, classes-1)
		}
	}
	return nil
}

// unknown reports a row that has a NaN.
func unknown(p []float64) bool { return slices.ContainsFunc(p, math.IsNaN) }
