package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// ExampleLosses are the negative log predictive probabilities of the examples evaluated on or, for a regression, the negative
// log-densities of their targets in the target's units. DeepEnsemble and MAP are nil without restarts.
type ExampleLosses struct{ Posterior, DeepEnsemble, MAP []float64 }

// better compares the posterior with the better one of the deep ensemble and the best restart, example by example; nil if it is as good
// as both, by NLLs as they are shown, or if chance explains the difference. Means judge over all examples and without those of the largest
// differences: a single example can make a mean say nothing, but not both.
func (a *Assessment) better(e *Ensembles) *finding.Finding {
	m := a.Metrics
	if m.MAP == nil || m.DeepEnsemble == nil || e.Restarts == nil {
		return nil
	}
	write := func(nll uq.Number) string { return numeral.Fixed(float64(nll), 3) }
	if m.RMSE != nil {
		write = func(nll uq.Number) string { return numeral.Significant(float64(nll)) }
	}
	best, restarts, losses := m.DeepEnsemble, e.Restarts.Size(), a.Losses.DeepEnsemble
	if m.MAP.NLL < best.NLL {
		best, restarts, losses = m.MAP, 1, a.Losses.MAP
	}
	if !(best.NLL < m.NLL) || write(best.NLL) == write(m.NLL) {
		return nil
	}
	d := differences(a.Losses.Posterior, losses)
	by, se, log := paired(d)
	trimmed, _, logTrimmed := paired(trim(d))
	const tried = 2 * 2 // the better one of two is compared, in two ways
	if !(min(log, logTrimmed) < -math.Log(tried*rarely)) || !(trimmed > 0) {
		return nil
	}
	return found(finding.EnsembleBetter{
		Restarts: restarts, Ensemble: write(best.NLL), Posterior: write(m.NLL), By: by, SE: se, Trimmed: new(numeral.Number(trimmed)),
		Examples: m.N, Once: rarely, Learned: a.learned(),
	})
}

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

// paired returns the mean of differences and its standard error, and bounds how probable it is that chance gives so large a mean. Where the
// differences of examples are independent and each is as often d as −d, for any n,
//
//	ln P ≤ −(Σ d_i)²/(2 Σ d_i²)
//
// (Efron 1969, Student's t-test under symmetry conditions). It is never below −n/2: a few examples cannot tell. It is NaN if a difference is
// not finite, and 0 if all differences are.
func paired(differences []float64) (mean, se, log float64) {
	n := float64(len(differences))
	sum, squares := 0.0, 0.0
	for _, d := range differences {
		sum += d
		squares += float64(d * d)
	}
	mean = sum / n
	if squares == 0 {
		return mean, 0, 0
	}
	log = -float64(sum*sum) / (2 * squares)
	squares = 0
	for _, d := range differences {
		squares += float64((d - mean) * (d - mean))
	}
	return mean, math.Sqrt(squares / max(1, n-1) / n), log
}
