package eval

import (
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// answered is an assessment of n answers of two classes, whose confidences are drawn between low and 1. Answer i is right with the
// probability right(confidence).
func answered(draw *rng.Stream, n int, low float64, right func(confidence float64) float64) *Assessment {
	set := &data.Set{Classes: 2}
	p := &uq.Predictive{Classes: 2}
	for range n {
		c := low + (1-low)*draw.Float64()
		p.Probs = append(p.Probs, c, 1-c)
		label := int32(1)
		if draw.Float64() < right(c) {
			label = 0
		}
		set.Labels = append(set.Labels, label)
	}
	return &Assessment{Metrics: &Metrics{Evaluation: Evaluation{On: "test", N: n}}, Problem: &data.Problem{Test: set}, Test: p}
}

func kinds(found []finding.Finding) string {
	names := ""
	for _, f := range found {
		names += f.Kind + " "
	}
	return names
}

// two is an ensemble of two networks, without restarts.
func two() *Ensembles { return &Ensembles{Posterior: &bnn.Ensemble{LogWeights: make([]float64, 2)}} }

// TestConfidence: what answers are found to be that are right more often, less often, and as often as their probabilities say.
func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		right func(float64) float64
		want  string
	}{
		{"under-confident", 2000, func(c float64) float64 { return min(c+.06, 1) }, "underconfident "},
		{"over-confident", 2000, func(c float64) float64 { return c - .06 }, "overconfident "},
		{"too few to tell", 15, func(c float64) float64 { return min(c+.06, 1) }, ""},
		{"a difference that does not matter", 400_000, func(c float64) float64 { return c - .01 }, ""},
		{"both", 2000, func(c float64) float64 {
			if c > .8 {
				return c - .15
			}
			return c + .15
		}, "miscalibrated "},
		{"calibrated", 2000, func(c float64) float64 { return c }, ""},
	} {
		a := answered(rng.Key{Seed: 5, Purpose: rng.Synthetic}.Stream(), c.n, .6, c.right)
		found := a.Findings(two(), false)
		if got := kinds(found); got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
		if len(found) > 0 && found[0].Numbers["examples"] != 0 {
			if mean, accuracy := float64(found[0].Numbers["confidence"]), float64(found[0].Numbers["accuracy"]); !(mean > .75 && mean < .85) ||
				(accuracy > mean) != (c.want == "underconfident ") {
				t.Errorf("%s: a mean confidence of %v, an accuracy of %v", c.name, mean, accuracy)
			}
		}
	}
}

// TestCalibratedIsQuiet: of 1,000 calibrated networks on 40 examples at most 22 are found to be anything. By mean confidence at most 2
// in 1,000 are, and by calibration error 1 in 200: a rate of 7 in 1,000, where 22 or more have a probability below 1e-6.
func TestCalibratedIsQuiet(t *testing.T) {
	draw := rng.Key{Seed: 6, Purpose: rng.Synthetic}.Stream()
	alarms := 0
	for range 1000 {
		alarms += len(answered(draw, 40, .5, func(c float64) float64 { return c }).Findings(two(), false))
	}
	if alarms > 22 {
		t.Errorf("%d of 1,000 calibrated networks are not left alone", alarms)
	}
}

// TestIntervals: coverage by the rank of the target in its prediction, of one output and of several that are copies of each other.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		name       string
		n, outputs int
		inside     float64
		want       string
	}{
		{"narrow", 200, 1, .75, "intervals-narrow "}, {"wide", 200, 1, 1, "intervals-wide "}, {"right", 200, 1, .9, ""},
		{"a few", 30, 1, .8, ""}, {"a little narrow", 100_000, 1, .87, ""},
		{"copies of a few", 300, 10, .8, ""}, {"several", 2000, 10, .7, "intervals-narrow "},
	} {
		r := &Regression{Outputs: c.outputs}
		for i := range c.n {
			pit := .5
			if float64(i) >= c.inside*float64(c.n) {
				pit = .99
			}
			r.PIT = append(r.PIT, pit)
		}
		a := &Assessment{Metrics: &Metrics{Evaluation: Evaluation{On: "test", N: c.n / c.outputs}}, Regression: r}
		if got := kinds(a.Findings(two(), false)); got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSimplerIsBetter: the better one of the deep ensemble and the best restart is named, if it is better than the posterior in the
// digits that are shown. On examples that the networks learnt from nothing is found, unless nothing was learnt.
func TestSimplerIsBetter(t *testing.T) {
	for _, c := range []struct {
		posterior, deep, best float64
		restarts              float64 // 0: nothing is found
	}{{.4, .3, .35, 3}, {.4, .36, .35, 1}, {.4, .5, .35, 1}, {.3, .3001, .4, 0}, {.3002, .3, .4, 0}, {.2, .3, .4, 0}} {
		a := answered(rng.Key{Seed: 7, Purpose: rng.Synthetic}.Stream(), 15, .9, func(c float64) float64 { return c })
		a.Metrics.NLL = uq.Number(c.posterior)
		a.Metrics.DeepEnsemble, a.Metrics.MAP = &Evaluation{NLL: uq.Number(c.deep)}, &Evaluation{NLL: uq.Number(c.best)}
		e := two()
		e.Restarts = &bnn.Ensemble{LogWeights: make([]float64, 3)}
		found := a.Findings(e, false)
		if got := len(found) == 1 && found[0].Kind == "ensemble-better"; got != (c.restarts > 0) || got && float64(found[0].Numbers["restarts"]) != c.restarts {
			t.Errorf("%+v: found %v", c, found)
		}
		a.Metrics.On = "train"
		if found := a.Findings(e, false); found != nil {
			t.Errorf("%+v: found %v on training examples", c, found)
		}
		if found := a.Findings(e, true); (len(found) > 0) != (c.restarts > 0) {
			t.Errorf("%+v: found %v where nothing was learnt", c, found)
		}
	}
}
