package eval

import (
	"math"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// Thresholds of findings about predictions. A difference is found only if it matters and chance does not explain it.
const (
	rarely    = 1000 // a calibrated network is said to be over- or under-confident at most once in so many runs, each
	material  = .02  // difference of mean confidence and accuracy that matters
	materialE = .05  // calibration error that matters, where the mean confidence is right
	narrow    = .05  // difference of a coverage from its level that matters
	nominal   = .9   // of the intervals whose coverage is tested
)

// Simulations is how often the calibration error of a calibrated network is simulated.
const Simulations = 199

// Findings are diagnoses of the predictions: a point estimate or the deep ensemble that is better than the posterior, and probabilities
// or intervals that are not right. whole: nothing was learnt from the examples, although all are used. There are none on
// examples that the networks learnt from.
func (a *Assessment) Findings(e *Ensembles, whole bool) (found []finding.Finding) {
	if a.Metrics.On == "train" && !whole {
		return nil
	}
	if better := a.better(e); better != nil {
		found = append(found, *better)
	}
	calibrated := a.intervals
	if a.Test != nil {
		calibrated = func() *finding.Finding { return a.confidence(e.Posterior.Size() == 1) }
	}
	if off := calibrated(); off != nil {
		found = append(found, *off)
	}
	return found
}

// better compares the posterior with the better one of the deep ensemble and the best restart; nil if it is as good as both, by NLLs as
// they are shown.
func (a *Assessment) better(e *Ensembles) *finding.Finding {
	m := a.Metrics
	if m.MAP == nil || m.DeepEnsemble == nil || e.Restarts == nil {
		return nil
	}
	write := func(nll uq.Number) string { return numeral.Fixed(float64(nll), 3) }
	if m.RMSE != nil {
		write = func(nll uq.Number) string { return numeral.Significant(float64(nll)) }
	}
	best, restarts := m.DeepEnsemble, e.Restarts.Size()
	if m.MAP.NLL < best.NLL {
		best, restarts = m.MAP, 1
	}
	if !(best.NLL < m.NLL) || write(best.NLL) == write(m.NLL) {
		return nil
	}
	f := finding.EnsembleBetter(restarts, write(best.NLL), write(m.NLL), m.N)
	return &f
}

// confidence compares the probabilities of the answers with their accuracy; nil if they agree. The number of right answers of a
// calibrated network is a sum of independent events with these probabilities.
func (a *Assessment) confidence(single bool) *finding.Finding {
	labels := a.Set().Labels
	confidence := uq.Confidence(a.Test.Probs, a.Test.Classes)
	bins := uq.Reliability(a.Test.Probs, a.Test.Classes, labels, uq.Bins)
	right := 0.0
	for _, b := range bins {
		right += float64(b.Accuracy * float64(b.Count))
	}
	c := finding.Confidence{Examples: len(labels), Mean: uq.Mean(confidence), Accuracy: right / float64(len(labels)), Single: single, Once: rarely}
	rare := uq.LogChance(confidence, int(math.Round(right))) < -math.Log(rarely)
	switch gap := c.Accuracy - c.Mean; {
	case rare && gap > material:
		return found(finding.Underconfident(c))
	case rare && gap < -material:
		return found(finding.Overconfident(c))
	}
	if ece := uq.ECE(bins); ece > materialE {
		if chance := uq.ECEByChance(confidence, uq.Bins, Simulations); ece > chance[len(chance)-1] {
			return found(finding.Miscalibrated(ece, chance[len(chance)-1], Simulations))
		}
	}
	return nil
}

func found(f finding.Finding) *finding.Finding { return &f }

// intervals compares the coverage of the intervals with their level; nil if they agree. Several outputs of one example depend on each
// other in an unknown way: their bound is that of as many examples.
func (a *Assessment) intervals() *finding.Finding {
	r := a.Regression
	if r == nil || len(r.PIT) == 0 {
		return nil
	}
	inside := uq.Coverage(r.PIT, nominal)
	p := make([]float64, len(r.PIT))
	for i := range p {
		p[i] = nominal
	}
	log := uq.LogChance(p, int(math.Round(inside*float64(len(p))))) / float64(r.Outputs)
	if !(log < -math.Log(rarely)) {
		return nil
	}
	switch {
	case inside < nominal-narrow:
		return found(finding.IntervalsNarrow(inside, len(p), rarely))
	case inside > nominal+narrow:
		return found(finding.IntervalsWide(inside, len(p), rarely))
	}
	return nil
}
