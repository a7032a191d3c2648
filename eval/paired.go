package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/starling-smc/starling/uq"
)

// Paired returns the mean of the differences a_i − b_i and its standard error, which is NaN for a single one.
func Paired(a, b []float64) (mean, se float64) { return uq.MeanSE(differences(a, b)) }

// Differ returns the mean of the differences a_i − b_i of the losses of examples, and the mean without the tenth of the examples that differ
// most.
func Differ(a, b []float64) (mean, trimmed float64) {
	d := differences(a, b)
	return uq.Mean(d), uq.Mean(trim(d))
}

// differences are a_i − b_i.
func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// trimmedShare is the share of the examples, those of the largest differences, that a trimmed mean leaves out: rounded up, so that it is one
// at least.
const trimmedShare = .1

// trim leaves out the differences of largest magnitude. Which they are does not depend on their signs: if chance gives d as often as −d, it
// still does.
func trim(d []float64) []float64 {
	d = slices.Clone(d)
	slices.SortStableFunc(d, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	return d[:len(d)-int(math.Ceil(trimmedShare*float64(len(d))))]
}

// spread is the standard deviation of numbers around their mean.
func spread(x []float64) float64 {
	m, sum := uq.Mean(x), 0.0
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return math.Sqrt(sum / float64(len(x)))
}
