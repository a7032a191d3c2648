package eval

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// guessed is an assessment of losses of two classes, of which ones of n examples are of the second, in training as in the test.
func guessed(n, ones int, losses []float64) *Assessment {
	set := &data.Set{Shape: []int{1}, F32: make([]float32, n), Classes: 2, Labels: slices.Concat(make([]int32, n-ones), slices.Repeat([]int32{1}, ones))}
	p := &uq.Predictive{Classes: 2, Probs: slices.Repeat([]float64{.9, .1}, n)}
	return &Assessment{
		Metrics: &Metrics{Evaluation: Evaluation{N: n, NLL: uq.Number(uq.Mean(losses))}}, Problem: &data.Problem{Train: set, Test: set}, Test: p,
		Losses: ExampleLosses{Posterior: losses},
	}
}

// valued is an assessment of losses of targets, whose law is that of other ones.
func valued(targets, learnt []float32, losses []float64) *Assessment {
	r := &Regression{Outputs: 1}
	for _, y := range targets {
		r.Targets = append(r.Targets, float64(y))
	}
	set := func(y []float32) *data.Set { return &data.Set{Outputs: 1, Values: y} }
	return &Assessment{
		Metrics: &Metrics{Evaluation: Evaluation{N: len(targets), NLL: uq.Number(uq.Mean(losses))}}, Regression: r,
		Problem: &data.Problem{Train: set(learnt), Test: set(targets)}, Losses: ExampleLosses{Posterior: losses},
	}
}

// TestSkill: the guess has the loss of the class frequencies of the training examples, each class counted once more, and of the normal law of
// their targets, by closed forms.
func TestSkill(t *testing.T) {
	a := guessed(100, 12, slices.Repeat([]float64{.3}, 100))
	want := -(88*math.Log(89./102) + 12*math.Log(13./102)) / 100
	if s, ok := a.Skill(); !ok || !(math.Abs(s.NLL-want) < 1e-12) || !(math.Abs(s.By-(want-.3)) < 1e-12) || !(s.SE > .06 && s.SE < .07) {
		t.Errorf("classes: %+v, %v, want an NLL of %v", s, ok, want) // the losses of the guess are .136 and 2.060: a standard deviation of .626
	}
	v := valued([]float32{1, 2, 3, 4, 5, 6}, []float32{-2, 2}, slices.Repeat([]float64{1}, 6)) // N(0, 2²): Σ y² = 91
	want = math.Log(2*math.Sqrt(2*math.Pi)) + 91./6/8
	if s, ok := v.Skill(); !ok || !(math.Abs(s.NLL-want) < 1e-12) {
		t.Errorf("numbers: %+v, %v, want an NLL of %v", s, ok, want)
	}
	v.Problem.Train = nil // other data than the run's: N(3.5, 35/12)
	want = math.Log(math.Sqrt(35./12*2*math.Pi)) + .5
	if s, ok := v.Skill(); !ok || !(math.Abs(s.NLL-want) < 1e-12) {
		t.Errorf("other data: %+v, %v, want an NLL of %v", s, ok, want)
	}
}

// TestNoSkill: a posterior is told of that is not better than a guess by two standard errors; of few examples, one that is worse. Nothing is said
// of fewer than five, of losses that are not finite, and where all targets are the same.
func TestNoSkill(t *testing.T) {
	shifted := func(n, ones int, by, scatter float64) *Assessment { // the losses of the guess less by, ± scatter
		losses := frequencyLosses(guessed(n, ones, nil).Set(), guessed(n, ones, nil).Set(), 2)
		for i, d := range around(0, scatter, n) {
			losses[i] += d - by
		}
		return guessed(n, ones, losses)
	}
	y := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	nan := slices.Repeat([]float64{1}, 100)
	nan[3] = math.NaN()
	for _, c := range []struct {
		name string
		a    *Assessment
		want string
	}{
		{"imbalanced and better", shifted(100, 12, .11, .2), ""}, // an accuracy of the most frequent class may do
		{"not by two standard errors", shifted(100, 12, .03, .2), "class"}, {"as good", shifted(100, 12, 0, 0), "class"}, {"worse", shifted(100, 12, -.1, 0), "class"},
		{"few and perhaps better", shifted(20, 8, .03, .2), ""}, {"few and perhaps worse", shifted(20, 8, -.03, .2), ""}, {"few and worse", shifted(20, 8, -.2, .2), "class"}, {"very few", shifted(4, 2, -1, 0), ""},
		{"one class", guessed(60, 0, slices.Repeat([]float64{.1}, 60)), ""}, {"no number", guessed(100, 50, nan), ""},
		{"numbers", valued(y, y, slices.Repeat([]float64{3}, 8)), "mean"}, {"better numbers", valued(y, y, slices.Repeat([]float64{.5}, 8)), ""},
		{"the same numbers", valued(y, slices.Repeat([]float32{2}, 8), slices.Repeat([]float64{3}, 8)), ""},
	} {
		guess := ""
		if f := c.a.skill(false); f != nil {
			guess = f.Names["guess"]
			if f.Kind != "no-skill" || !f.Warning() || f.Numbers["examples"] == 0 {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if guess != c.want {
			t.Errorf("%s: hardly better than %q, want %q", c.name, guess, c.want)
		}
	}
}

// TestShuffledLabels: a network that has learnt nothing but the class frequencies, with noise, is left alone in at most 19 of 200 draws; one with a skill of
// .1 nats, as of a table with 12 % of one class, in at most 29. There the gain is about 5.5 standard errors. The bounds have probabilities below
// 1e-6, for rates of 2.3 % and 5 %.
func TestShuffledLabels(t *testing.T) {
	draw := rng.Key{Seed: 9, Purpose: rng.Synthetic}.Stream()
	blind, alarms := 0, 0
	for range 200 {
		var noise, skilled []float64
		a := guessed(200, 24, nil)
		for _, y := range a.Set().Labels {
			own := func(p float64) float64 { // the loss of a probability of the second class
				p = min(max(p, .001), .999)
				if y == 1 {
					return -math.Log(p)
				}
				return -math.Log(1 - p)
			}
			noise = append(noise, own(.12+.1*draw.Normal()))
			logit := -2.6 + .8*draw.Normal()
			if y == 1 {
				logit += 2
			}
			skilled = append(skilled, own(1/(1+math.Exp(-logit))))
		}
		if guessed(200, 24, noise).skill(false) == nil {
			blind++
		}
		if guessed(200, 24, skilled).skill(false) != nil {
			alarms++
		}
	}
	if blind > 19 || alarms > 29 {
		t.Errorf("%d of 200 networks without skill are left alone, and %d of 200 with skill are not", blind, alarms)
	}
}

// TestSlipOfTargets: targets in another unit than those that were learnt are told as such, if the posterior is worse than the guess.
func TestSlipOfTargets(t *testing.T) {
	learnt := []float32{-2, -1, 0, 1, 2}
	for _, c := range []struct{ by, loss, slip, below float64 }{{100, 900, 100, 0}, {.1, 900, 0, 10}, {1, 900, 0, 0}, {100, .01, 0, 0}} {
		y := make([]float32, len(learnt))
		for i := range y {
			y[i] = learnt[i] * float32(c.by)
		}
		a := valued(y, y, slices.Repeat([]float64{c.loss}, 5))
		standard := &data.Standard{Mean: []float64{0}, SD: []float64{math.Sqrt(2)}, To: 1}
		a.Regression.Targets = slices.Clone(a.Regression.Targets)
		a.Problem.Schema = &data.Schema{Targets: standard}
		f := a.skill(true)
		if c.loss < 1 {
			if f != nil {
				t.Errorf("%+v: %v", c, f)
			}
			continue
		}
		if f == nil || f.Numbers["slip"] != numeral.Number(c.slip) || f.Numbers["below"] != numeral.Number(c.below) {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}
