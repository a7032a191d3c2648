package eval

import (
	"context"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
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

// Findings are diagnoses of the predictions: examples that have no finite loss, a guess that is as good as the posterior, a point estimate or the deep ensemble that is
// better, and probabilities or intervals that are not right. whole: nothing was learnt from the examples, although all are used. On
// examples that the networks learnt from, they say no more than whether anything was learnt: whether the predictions are better than a
// guess.
func (a *Assessment) Findings(e *Ensembles, whole bool) (found []finding.Finding) {
	if n := a.unscored(); n > 0 {
		found = append(found, finding.Of(finding.Unscored{Count: n, Examples: a.Metrics.N}))
	}
	if guess := a.skill(e.Posterior.Size() == 1); guess != nil {
		found = append(found, *guess)
	}
	if (a.Metrics.On == "train" || a.Metrics.TrainedOn > 0) && !whole {
		return found
	}
	if better := a.better(e); better != nil {
		found = append(found, *better)
	}
	calibrated := func() *finding.Finding { return a.intervals(e.Posterior) }
	if a.Test != nil {
		calibrated = func() *finding.Finding { return a.confidence(e.Posterior.Size() == 1) }
	}
	if off := calibrated(); off != nil {
		found = append(found, *off)
	}
	return found
}

// unscored counts the examples whose loss is not finite: the posterior gives their targets the probability 0, or no number. The other
// findings compare means of such losses, and comparisons with infinity or NaN find nothing.
func (a *Assessment) unscored() (n int) {
	for _, l := range a.Losses.Posterior {
		if !finite(l) {
			n++
		}
	}
	return n
}

// clear is by how many nats a temperature must better the loss of all validation examples together to be proposed: chance betters it by 2 once
// in 22 times (Wilks 1938).
const clear = 2

// Propose looks for a temperature where the posterior is over- or under-confident and none was learnt: the findings then propose it. It is learnt
// from the validation examples, by the whole posterior: there is none where only the members kept last are evaluated.
func (a *Assessment) Propose(ctx context.Context, e *Ensembles, lessons data.Lessons, whole bool, p *pool.Pool) error {
	set := lessons.Validate()
	if e.Last > 0 || a.Metrics.Tempered != nil || set == nil || set.Len() == 0 || !finding.Has(a.Findings(e, whole), finding.Underconfident{}, finding.Overconfident{}) {
		return nil
	}
	v, err := e.Posterior.Predict(ctx, set, p)
	if err != nil {
		return err
	}
	t, err := decide.Temperature(v.Probs, v.Classes, set.Labels)
	if err != nil { // no probability is a number: there is nothing to propose
		return nil
	}
	if gain := uq.NLL(v.Probs, v.Classes, set.Labels) - uq.NLL(decide.Temper(v.Probs, v.Classes, t), v.Classes, set.Labels); gain*float64(set.Len()) > clear {
		a.Helps = &t
	}
	return nil
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
	c := finding.Confidence{Examples: len(labels), Mean: uq.Mean(confidence), Accuracy: right / float64(len(labels)), Single: single, Once: rarely, Learned: a.learned()}
	if t := a.Metrics.Tempered; t != nil {
		c.Tempered = t.Temperature
	}
	off := func(confidence []float64) bool {
		return uq.LogChance(confidence, int(math.Round(right))) < -math.Log(rarely) && math.Abs(c.Accuracy-uq.Mean(confidence)) > material
	}
	rare := off(confidence)
	if c.Tempered != nil && rare {
		c.Remains = off(uq.Confidence(decide.Temper(a.Test.Probs, a.Test.Classes, float64(*c.Tempered)), a.Test.Classes))
	}
	switch gap := c.Accuracy - c.Mean; {
	case rare && gap > material:
		if t := a.Helps; t != nil && *t < 1 {
			c.Helps = number(*t)
		}
		return found(finding.Underconfident{Confidence: c})
	case rare && gap < -material:
		if t := a.Helps; t != nil && *t > 1 {
			c.Helps = number(*t)
		}
		return found(finding.Overconfident{Confidence: c})
	}
	if ece := uq.ECE(bins); ece > materialE {
		if chance := uq.ECEByChance(confidence, uq.Bins, Simulations); ece > chance[len(chance)-1] {
			return found(finding.Miscalibrated{ECE: ece, Chance: chance[len(chance)-1], Draws: Simulations})
		}
	}
	return nil
}

func found(k finding.Kind) *finding.Finding { return new(finding.Of(k)) }

// intervals compares the coverage of the intervals with their level; nil if they agree. Several outputs of one example depend on each
// other in an unknown way: their bound is that of as many examples.
func (a *Assessment) intervals(e *bnn.Ensemble) *finding.Finding {
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
	c := finding.Coverage{Inside: inside, Targets: len(p), Once: rarely, Learned: a.learned(), Noise: e.Net.Likelihood().Noise()}
	switch {
	case inside < nominal-narrow:
		return found(finding.IntervalsNarrow{Coverage: c})
	case inside > nominal+narrow:
		return found(finding.IntervalsWide{Coverage: c})
	}
	return nil
}

// learned reports whether the prior learns its widths.
func (a *Assessment) learned() bool { return a.Metrics.Widths != nil }
