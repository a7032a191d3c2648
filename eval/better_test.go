package eval

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// beside is an assessment whose posterior has given losses, with a deep ensemble of three restarts and the best of them.
func beside(l ExampleLosses) (*Assessment, *Ensembles) {
	nll := func(losses []float64) uq.Number { return uq.Number(uq.Mean(losses)) }
	a := &Assessment{Metrics: &Metrics{Evaluation: Evaluation{On: "test", N: len(l.Posterior), NLL: nll(l.Posterior)}}, Losses: l, Problem: &data.Problem{Test: &data.Set{}}, Regression: &Regression{Outputs: 1}}
	a.Metrics.DeepEnsemble, a.Metrics.MAP = &Evaluation{NLL: nll(l.DeepEnsemble)}, &Evaluation{NLL: nll(l.MAP)}
	e := two()
	e.Restarts = &bnn.Ensemble{LogWeights: make([]float64, 3)}
	return a, e
}

// around returns n numbers of a mean, half of them above it by a distance and half below.
func around(mean, by float64, n int) (x []float64) {
	for i := range n {
		x = append(x, mean+by*float64(1-2*(i%2)))
	}
	return x
}

// TestSimplerIsBetter: the better one of the deep ensemble and the best restart is named, if it is better than the posterior in the
// digits that are shown and by more than chance explains, with the standard error of the paired differences. On examples that the networks
// learnt from nothing is found, unless nothing was learnt.
func TestSimplerIsBetter(t *testing.T) {
	for _, c := range []struct {
		posterior, deep, best float64
		scatter               float64 // of the posterior's losses around those of the others
		n                     int
		restarts              float64 // 0: nothing is found
	}{
		{.4, .3, .35, .2, 100, 3}, {.4, .36, .35, .1, 100, 1}, {.4, .5, .35, .1, 100, 1}, {.3, .3001, .4, 0, 100, 0}, {.3002, .3, .4, 0, 100, 0}, {.2, .3, .4, .1, 100, 0},
		{.4, .3, .35, .22, 100, 3}, {.4, .3, .35, .23, 100, 0}, // with differences Δ ± s the bound is n Δ²/(Δ² + s²) > 2 ln 4000 = 16.6
		{.4, .3, .35, .25, 400, 3}, {.4, .3, .35, 0, 16, 0}, {.4, .3, .35, 0, 17, 3}, // all better, but too few
		{math.Inf(1), .3, .35, 0, 100, 0},
	} {
		a, e := beside(ExampleLosses{around(c.posterior, c.scatter, c.n), around(c.deep, 0, c.n), around(c.best, 0, c.n)})
		f := a.better(e)
		if f == nil || c.restarts == 0 {
			if (f != nil) != (c.restarts > 0) {
				t.Errorf("%+v: found %v", c, f)
			}
			continue
		}
		if n := f.Numbers; float64(n["restarts"]) != c.restarts || !(math.Abs(float64(n["by"])-(c.posterior-min(c.deep, c.best))) < 1e-12) ||
			!(math.Abs(float64(n["se"])-c.scatter/math.Sqrt(float64(c.n-1))) < 1e-12) || f.Names["prior"] != "given" {
			t.Errorf("%+v: found %v", c, f)
		}
		a.Metrics.Widths = []bnn.Width{{}}
		if f := a.better(e); f.Names["prior"] != "learned" {
			t.Errorf("%+v: a prior that is %s", c, f.Names["prior"])
		}
	}
	a, e := beside(ExampleLosses{[]float64{.4, math.Inf(1), math.NaN(), .2}, around(.3, 0, 4), around(.3, 0, 4)})
	for _, on := range []string{"test", "train"} {
		a.Metrics.On = on
		if found := a.Findings(e, false); kinds(found) != "unscored " || found[0].Numbers["count"] != 2 || found[0].Numbers["examples"] != 4 {
			t.Errorf("losses that are not finite, on %s: found %v", on, found)
		}
	}
	a, e = beside(ExampleLosses{around(.4, .1, 100), around(.3, 0, 100), around(.5, 0, 100)})
	for _, c := range []struct {
		on    string
		whole bool
		want  string
	}{{"test", false, "ensemble-better "}, {"train", false, ""}, {"train", true, "ensemble-better "}} {
		a.Metrics.On = c.on
		if got := kinds(a.Findings(e, c.whole)); got != c.want {
			t.Errorf("on %s, nothing learnt %v: found %q", c.on, c.whole, got)
		}
	}
}

// TestOneRowSilencesNothing: a single example on which the posterior is far worse makes the mean of the differences say nothing; the others
// still tell. A single one on which it is far better makes it the better one in the mean, and nothing is found. Where the others say that it
// is better, one example on which it is far worse is not enough either.
func TestOneRowSilencesNothing(t *testing.T) {
	for _, c := range []struct {
		most, one float64 // the posterior's losses above those of the ensemble, of most examples and of one
		found     bool
	}{{.1, .1, true}, {.1, 1000, true}, {.1, -1000, false}, {-.1, 1000, false}, {.1, -5, true}, {-.1, -.1, false}} {
		l := ExampleLosses{around(1+c.most, .05, 100), around(1, 0, 100), around(2, 0, 100)}
		l.Posterior[7] = 1 + c.one
		a, e := beside(l)
		f := a.better(e)
		if (f != nil) != c.found {
			t.Errorf("%+v: found %v", c, f)
		}
		if f != nil && !(math.Abs(float64(f.Numbers["trimmed"])-.1) < .02) {
			t.Errorf("%+v: the trimmed mean is %v", c, f.Numbers["trimmed"])
		}
	}
}

// TestEqualIsQuiet: where chance alone makes an ensemble better, by symmetric differences of any tail, it is found in at most 14 of
// 2,000 runs. The bound is one in 1,000: 15 or more have a probability below 1e-6 at that rate.
func TestEqualIsQuiet(t *testing.T) {
	draw := rng.Key{Seed: 8, Purpose: rng.Synthetic}.Stream()
	for name, difference := range map[string]func() float64{
		"normal":  draw.Normal,
		"signs":   func() float64 { return float64(1 - 2*draw.IntN(2)) },
		"Laplace": func() float64 { return draw.Normal()*draw.Normal() + draw.Normal()*draw.Normal() },
		"Cauchy":  func() float64 { return draw.Normal() / draw.Normal() },
	} {
		for _, n := range []int{5, 20, 100} {
			alarms := 0
			for range 2000 {
				l := ExampleLosses{Posterior: make([]float64, n)}
				for range n {
					l.DeepEnsemble, l.MAP = append(l.DeepEnsemble, difference()), append(l.MAP, difference())
				}
				if a, e := beside(l); a.better(e) != nil {
					alarms++
				}
			}
			if alarms > 14 {
				t.Errorf("%s differences of %d examples: %d of 2,000 equal ensembles are found to be better", name, n, alarms)
			}
		}
	}
}

// TestLossesOfEvaluation: an evaluation has a loss of each example for the posterior, the restarts and the chosen restart, and its NLLs are
// their means: for classes, and for numbers in the target's units. The losses of an ensemble are those that it has alone.
func TestLossesOfEvaluation(t *testing.T) {
	for name, c := range map[string]struct {
		p   *data.Problem
		net *nn.Net
	}{
		"classes": {problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false), network(t, 3, nn.Categorical{})},
		"numbers": {problem(t, testkit.Table(300), false, true), network(t, 1, nn.Gaussian{SD: nn.Learned})},
	} {
		restarts := ensemble(t, c.net, 1, 4, bnn.Equal{})
		restarts.LogWeights = slices.Repeat([]float64{-math.Log(4)}, 4)
		a, err := Evaluate(t.Context(), &Ensembles{Posterior: ensemble(t, c.net, 2, 3, bnn.Equal{}), Restarts: restarts, Chosen: 2}, c.p, nil, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []struct {
			of     string
			losses []float64
			nll    uq.Number
		}{{"posterior", a.Losses.Posterior, a.Metrics.NLL}, {"deep ensemble", a.Losses.DeepEnsemble, a.Metrics.DeepEnsemble.NLL}, {"MAP", a.Losses.MAP, a.Metrics.MAP.NLL}} {
			if mean := uq.Mean(e.losses); len(e.losses) != c.p.Test.Len() || !(math.Abs(mean-float64(e.nll)) <= 1e-9) {
				t.Errorf("%s, %s: %d losses of mean %v, NLL %v", name, e.of, len(e.losses), mean, e.nll)
			}
		}
		alone, _, err := Losses(t.Context(), member(restarts, 2), c.p.Test, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range alone {
			if have := a.Losses.MAP[i]; !(math.Abs(l+LogScale(c.p, nil)-have) <= 1e-9) {
				t.Fatalf("%s: loss %v of example %d, alone %v", name, have, i, l+LogScale(c.p, nil))
			}
		}
	}
}
