package eval

import (
	"math"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

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
	by, se := uq.MeanSE(d)
	log, logTrimmed, trimmed := chance(d), chance(trim(d)), uq.Mean(trim(d))
	const tried = 2 * 2 // the better one of two is compared, in two ways
	if !(min(log, logTrimmed) < -math.Log(tried*rarely)) || !(trimmed > 0) {
		return nil
	}
	return found(finding.EnsembleBetter{
		Restarts: restarts, Ensemble: write(best.NLL), Posterior: write(m.NLL), By: by, SE: se, Trimmed: new(numeral.Number(trimmed)),
		Examples: m.N, Once: rarely, Learned: a.learned(),
	})
}

// chance is ln of a bound on how probable it is that chance gives differences so large a mean. Where the differences of examples are independent
// and each is as often d as −d, for any n,
//
//	ln P ≤ −(Σ d_i)²/(2 Σ d_i²)
//
// (Efron 1969, Student's t-test under symmetry conditions). It is never below −n/2: a few examples cannot tell. It is NaN if a difference is
// not finite, and 0 if all differences are.
func chance(differences []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, d := range differences {
		sum += d
		squares += float64(d * d)
	}
	if squares == 0 {
		return 0
	}
	return -float64(sum*sum) / (2 * squares)
}
