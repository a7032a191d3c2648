package eval

import (
	"math"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// ExampleLosses are the negative log predictive probabilities of the examples evaluated on or, for a regression, the negative
// log-densities of their targets in the target's units. DeepEnsemble and MAP are nil without restarts.
type ExampleLosses struct{ Posterior, DeepEnsemble, MAP []float64 }

// better compares the posterior with the better one of the deep ensemble and the best restart, example by example; nil if it is as good
// as both, by NLLs as they are shown, or if chance explains the difference.
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
	by, se, log := paired(a.Losses.Posterior, losses)
	const tried = 2 // of which the better one is compared
	if !(log < -math.Log(tried*rarely)) {
		return nil
	}
	return found(finding.EnsembleBetter{
		Restarts: restarts, Ensemble: write(best.NLL), Posterior: write(m.NLL), By: by, SE: se, Examples: m.N, Once: rarely, Learned: a.learned(),
	})
}

// paired returns the mean of the differences d_i = a_i − b_i and its standard error, and bounds how probable it is that chance gives so
// large a mean. Where the differences of examples are independent and each is as often d as −d, for any n,
//
//	ln P ≤ −(Σ d_i)²/(2 Σ d_i²)
//
// (Efron 1969, Student's t-test under symmetry conditions). It is never below −n/2: a few examples cannot tell. It is NaN if a loss is
// not finite, and 0 if all differences are.
func paired(a, b []float64) (mean, se, log float64) {
	n := float64(len(a))
	sum, squares := 0.0, 0.0
	for i := range a {
		d := a[i] - b[i]
		sum += d
		squares += float64(d * d)
	}
	mean = sum / n
	if squares == 0 {
		return mean, 0, 0
	}
	log = -float64(sum*sum) / (2 * squares)
	squares = 0
	for i := range a {
		d := a[i] - b[i] - mean
		squares += float64(d * d)
	}
	return mean, math.Sqrt(squares / max(1, n-1) / n), log
}
