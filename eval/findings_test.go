package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
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
		e := two()
		e.Posterior.Net = network(t, 1, nn.Gaussian{SD: 1})
		if got := kinds(a.Findings(e, false)); got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCuresAreNotTaken: no cure names what the run does already, and every finding knows what that is.
func TestCuresAreNotTaken(t *testing.T) {
	const prior, noise, each = "prior: {normal: {variance: learned}}", "sd: learned", "sd: predicted"
	widths := []bnn.Width{{Tensor: "0.weight"}}
	for _, c := range []struct {
		likelihood     nn.Likelihood
		widths         []bnn.Width
		pit            float64 // of every target
		says, saysNone string  // in the cure
	}{
		{nn.Gaussian{SD: 1}, nil, .99, noise, prior}, {nn.Gaussian{SD: nn.Learned}, nil, .99, each, noise}, {nn.Gaussian{SD: nn.Predicted}, nil, .99, noise, each},
		{nn.Gaussian{SD: 1}, nil, .5, prior, each}, {nn.Gaussian{SD: 1}, widths, .5, noise, prior}, {nn.Gaussian{SD: nn.Learned}, nil, .5, prior, noise},
		{nn.Gaussian{SD: nn.Learned}, widths, .5, each, noise}, {nn.Gaussian{SD: nn.Predicted}, widths, .5, noise, prior},
		{nn.Categorical{}, nil, 0, prior, "more units"}, {nn.Categorical{}, widths, 0, "", prior},
	} {
		e := two()
		e.Posterior.Net = network(t, 2, c.likelihood)
		a := answered(rng.Key{Seed: 5, Purpose: rng.Synthetic}.Stream(), 2000, .6, func(c float64) float64 { return min(c+.06, 1) })
		if c.likelihood.Regression() {
			a.Test, a.Regression = nil, &Regression{Outputs: 1, PIT: slices.Repeat([]float64{c.pit}, 200)}
		}
		a.Metrics.Widths = c.widths
		found := a.Findings(e, false)
		if len(found) != 1 || !strings.Contains(found[0].Cure(), c.says) || strings.Contains(found[0].Cure(), c.saysNone) {
			t.Errorf("%+v, widths %v, ranks %v: found %v, want a cure that says %q and not %q", c.likelihood, c.widths, c.pit, found, c.says, c.saysNone)
		}
	}
}

// TestPropose: where answers are less sure than they are right, a temperature of the validation examples is proposed; not where it was learnt
// already, nor where few examples say nothing clear.
func TestPropose(t *testing.T) {
	const n = 600
	p := problem(t, testkit.Table(n, "no", "yes"), true, false)
	// The two classes are told apart by the parity of the row, which no input has: labels are set to what a network says.
	e := ensemble(t, network(t, 2, nn.Categorical{}), 1, 1, nil)
	label := func(set *data.Set) {
		v, err := e.Predict(t.Context(), set, nil)
		if err != nil {
			t.Fatal(err)
		}
		set.Labels = make([]int32, set.Len())
		for i := range set.Labels {
			set.Labels[i] = int32(uq.Argmax(v.Probs[2*i : 2*i+2]))
		}
	}
	label(p.Test)
	label(p.Validate)
	ensembles := &Ensembles{Posterior: e}
	a, err := Evaluate(t.Context(), ensembles, p, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	helps := func() string {
		a.Helps = nil
		if err := a.Propose(t.Context(), ensembles, p.Lessons(), false, nil); err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Findings(ensembles, false) {
			if finding.Is(f, finding.Underconfident{}) {
				return f.Words()
			}
		}
		return ""
	}
	if words := helps(); a.Helps == nil || !(*a.Helps < 1) || !strings.Contains(words, "Take decide: {temperature: true} (about 0.") {
		t.Errorf("%v is proposed: %s", a.Helps, words)
	}
	ensembles.Last = 1
	if words := helps(); a.Helps != nil || !strings.Contains(words, "Take prior") {
		t.Errorf("to some members %v is proposed, which the posterior would take: %s", a.Helps, words)
	}
	ensembles.Last = 0
	all := p.Validate
	p.Validate = all.Slice("two", 0, 2)
	if words := helps(); a.Helps != nil || !strings.Contains(words, "Take prior") {
		t.Errorf("by two examples %v is proposed: %s", a.Helps, words)
	}
	p.Validate = all
	a.Metrics.Tempered = &Tempered{Temperature: number(0.5)}
	if words := helps(); a.Helps != nil || !strings.Contains(words, "its temperature of 0.50 corrects") {
		t.Errorf("beside a learnt one %v is proposed: %s", a.Helps, words)
	}
	a.Metrics.Tempered = &Tempered{Temperature: number(1.5)} // as other examples may have taught
	if words := helps(); !strings.Contains(words, "its temperature of 1.50 is no cure") || !strings.Contains(words, "Take prior") {
		t.Errorf("a temperature that does not help: %s", words)
	}
}
