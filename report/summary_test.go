package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// text is all that a summary says, and warned is what it warns of.
func text(topics []topic) (all, warned string) {
	for _, t := range topics {
		all += t.Title + ". " + strings.Join(t.Text, " ") + " " + strings.Join(t.Warnings, " ") + "\n"
		warned += strings.Join(t.Warnings, "\n") + "\n"
	}
	return strings.ReplaceAll(all, "\u00a0", " "), strings.ReplaceAll(warned, "\u00a0", " ")
}

// answers gives every answer the same confidence. One of so many is wrong.
func answers(f fixture, confidence float64, wrong int) {
	labels := f.a.Set().Labels
	for i, y := range labels {
		p := probs(f.a.Test, i)
		p[y], p[1-y] = confidence, 1-confidence
		if i%wrong == 0 {
			p[y], p[1-y] = p[1-y], p[y]
		}
	}
	*f.a.Metrics.Accuracy = uq.Number(1 - 1/float64(wrong))
	*f.a.Metrics.ECE = uq.Number(uq.ECE(uq.Reliability(f.a.Test.Probs, 2, labels, uq.Bins)))
}

// TestSummary breaks one thing at a time and reads the warning.
func TestSummary(t *testing.T) {
	smc, chains := shape{n: 200, restarts: true, groups: []string{"far"}}, shape{n: 200, chains: true, islands: 4, lines: 40}
	for _, c := range []struct {
		what  string
		shape shape
		make  func(f fixture)
		says  string // in all of it
		warns string // in a warning
		quiet string // in no warning
	}{
		{"sound", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Ancestors = 3
			}
		}, "3 still have descendants", "", "descend from one"},
		{"one ancestor", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Ancestors = 1
			}
		}, "At the end all particles of each island descend from one particle", "", "descend from one"},
		{"one ancestor in one island", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Ancestors = 1 + f.run.Trace[i].Island
			}
		}, "At the end all particles of 1 of 3 islands descend from one", "", "descend from one"},
		{"evidence scatters", smc, func(f fixture) { f.run.Posterior.LogEvidence = []float64{-30, -20, -10} }, "", "standard deviation of 10.0 over the islands: it decides", ""},
		{"evidence agrees", smc, func(f fixture) { f.run.Posterior.LogEvidence = []float64{-20.5, -20, -19.5} }, "those of the islands have a standard deviation of 0.5, so that weights by evidence are right: they leave 2.6 of 3 islands effective.", "", "decides"},
		{"deep ensemble better", smc, func(fixture) {}, "", "deep ensemble of the 3 MAPs is better than the posterior", ""},
		{"MAP better", smc, func(f fixture) { f.a.Metrics.MAP.NLL, f.a.Losses.MAP = .01, f.a.Losses.DeepEnsemble }, "", "The best MAP alone is better than the posterior (NLL 0.010", ""},
		{"deep ensemble worse", smc, func(f fixture) { f.a.Metrics.DeepEnsemble.NLL = 9 }, "The NLL of the deep ensemble of the 3 MAPs is 9.000", "", "is better"},
		{"uneven weights", smc, func(f fixture) {
			for i := range f.run.Posterior.LogWeights {
				f.run.Posterior.LogWeights[i] = math.Inf(-1)
			}
			f.run.Posterior.LogWeights[0] = 0
		}, "", "The weights are uneven, so the 12 networks are worth 1.0 of equal weight", ""},
		{"dead", smc, func(f fixture) { f.run.Posterior.LogWeights[0] = math.Inf(-1) }, "", "1 network has weight 0", ""},
		{"divergent", smc, func(f fixture) { f.run.Trace[2].Divergent = 4 }, "4 of 216 proposals had infinite", "", "proposals"},
		{"moves refused", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Acceptance, f.run.Trace[i].Stuck = .01, true
			}
		}, "", "The run failed, as in", "log evidence is −"},
		{"moves without effect", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Displacement = 0
			}
		}, "", "Take a larger step (method.smc.move.hmc.step)", "log evidence is −"},
		{"not at the posterior", smc, func(f fixture) { f.run.Trace[len(f.run.Trace)-1].Lambda = .5 }, "", "Island 2 ended at the power 0.5000", ""},
		{"training examples", smc, func(f fixture) { f.a.Metrics.On = "train" }, "of 200 training examples correctly", "evaluated on the examples that it learnt from", ""},
		{
			"trained elsewhere", shape{single: true, n: 200}, func(f fixture) { f.a.Metrics.On = "train" },
			"was trained elsewhere to tell the classes 0 and 1 apart. An example has 3 numbers. The network is evaluated as it is. ",
			"not known here whether the network was trained on these examples", "learnt from",
		},
		{"a column", smc, func(f fixture) { f.run.Schema.Target, f.run.Schema.Named = "kind", true }, "learnt to tell the classes 0 and 1 of kind apart. Each of its ", "", ""},
		{"a column of numbers", shape{n: 200, outputs: 1}, func(f fixture) {
			f.run.Schema.Target, f.run.Schema.Named = "price", true
		}, "learnt to predict price. Each of its ", "", ""},
		{"words", smc, func(f fixture) {
			f.run.Schema.Columns, f.run.Schema.Target, f.run.Schema.Named = []string{"age", "colour", "kind"}, "kind", true
			f.run.Schema.Names = []string{"no", "yes"}
			f.run.Schema.Expand = []data.Expansion{{Column: "colour", Categories: []string{"blue", "red", "white"}}}
		}, "learnt to tell the classes no and yes of kind apart. Each of its 200 examples, from ", "", ""},
		{"inputs of words", smc, func(f fixture) {
			f.run.Schema.Columns, f.run.Schema.Target, f.run.Schema.Named = []string{"age", "colour", "kind"}, "kind", true
			f.run.Schema.Expand = []data.Expansion{{Column: "colour", Categories: []string{"blue", "red", "white"}}}
		}, "has 1 number and 1 word, which make 4 inputs of the network.", "", ""},
		{"guesses", smc, func(f fixture) { f.a.Losses.Posterior = slices.Repeat([]float64{.7}, 200) }, "", "The posterior is worse than the class frequencies", ""},
		{"better than a guess", smc, func(fixture) {}, "lower than that of the class frequencies of the training examples by ", "", "class frequencies (NLL"},
		{"under-confident", smc, func(fixture) {}, "Its calibration error is ", "The posterior is under-confident (mean confidence ", "over-confident"},
		{"over-confident", smc, func(f fixture) { answers(f, .98, 5) }, "Its calibration error is ", "The posterior is over-confident (mean confidence 98.0 %, accuracy 80.0 %): on 200 examples chance gives such a gap in fewer than 1 of 1,000 runs", "under-confident"},
		{"calibrated", smc, func(f fixture) { answers(f, .9, 10) }, "Its probabilities are as reliable as these examples can tell: its mean confidence is 90.0 %, its accuracy 90.0 %", "", "confident"},
		{"nearly", smc, func(f fixture) { answers(f, .86, 10); *f.a.Metrics.ECE = .07 }, "Its probabilities are nearly reliable", "", "confident"},
		{"blind", smc, func(f fixture) {
			for i := range f.a.Groups[0].Epistemic {
				f.a.Groups[0].Epistemic[i] = 0
			}
		}, "", "It does not notice that far is out of distribution: AUROC 0.00", ""},
		{"fooled", smc, func(f fixture) {
			for i := range f.a.Groups[0].Len() {
				p := probs(f.a.Groups[0], i)
				p[0], p[1] = .99, .01
			}
		}, "", "more than 90 % sure of its answers for 100 % of far", ""},
		{"nothing out of distribution", chains, func(fixture) {}, "It was not evaluated on out-of-distribution", "", ""},
		{"stuck", chains, func(f fixture) {
			for i := range f.run.Trace {
				if f.run.Trace[i].Island == 1 {
					f.run.Trace[i].Acceptance = .02
				}
			}
		}, "", "Chain 1 is stuck", ""},
		{"apart", chains, func(f fixture) {
			ess := uq.Number(5)
			f.a.Metrics.Chains.RHatPredictions, f.a.Metrics.Chains.ESSPredictions = &eval.PredictionRHat{Median: 1.9, Q95: 2.6}, &ess
		}, "chains are in different modes", "", ""},
		{"predict differently", chains, func(f fixture) {
			f.a.Metrics.Chains.Change = &eval.Change{NLL: .061, Mean: .121, Limit: .05}
		}, "have a Monte Carlo error of 12.1 % (mean total variation)", "The 4 chains predict differently, which costs about 0.061 nats of NLL", ""},
		{"apart, but alike", chains, func(f fixture) {
			f.a.Metrics.Chains.RHatPredictions = &eval.PredictionRHat{Median: 1.9, Q95: 2.6}
			f.a.Metrics.Chains.Change = &eval.Change{NLL: .0004, Mean: .004, Limit: .01}
		}, "have a Monte Carlo error of 0.4 % (mean total variation), which costs about 0.0004 nats of NLL", "", "chains"},
		{"one far away", chains, func(f fixture) {
			f.run.Trace[len(f.run.Trace)-1].LogLikelihood = -1e5
		}, "Chain 3 ended far from the other chains", "", "ended far"},
		{"together", chains, func(fixture) {}, "The 4 chains agree", "", "chains"},
		{"one network", shape{single: true, n: 100}, func(fixture) {}, "The result is one network", "A single network has no epistemic entropy", ""},
		{"intervals hold", shape{outputs: 1, n: 400}, func(fixture) {}, "Its intervals are as reliable as these examples can tell", "", "intervals"},
		{"too narrow", shape{outputs: 1, n: 400}, func(f fixture) {
			for i := range f.a.Regression.PIT {
				f.a.Regression.PIT[i] = float64(i % 2)
			}
		}, "", "intervals are too narrow (90 % intervals hold 0.0 % of the targets)", ""},
		{"too wide", shape{outputs: 1, n: 400}, func(f fixture) {
			for i := range f.a.Regression.PIT {
				f.a.Regression.PIT[i] = .5
			}
		}, "", "intervals are too wide (90 % intervals hold 100.0 % of the targets)", ""},
		{"no better than the mean", shape{outputs: 1, n: 400}, func(f fixture) { f.a.Losses.Posterior = slices.Repeat([]float64{900}, 400) }, "", "is far worse than the normal law of the targets", ""},
	} {
		f := c.shape.make(t)
		c.make(f)
		all, warned := text(f.view(t).summary())
		if !strings.Contains(all, c.says) {
			t.Errorf("%s: the summary does not say %q:\n%s", c.what, c.says, all)
		}
		if !strings.Contains(warned, c.warns) {
			t.Errorf("%s: no warning %q:\n%s", c.what, c.warns, warned)
		}
		if c.quiet != "" && strings.Contains(warned, c.quiet) {
			t.Errorf("%s: a warning of %q:\n%s", c.what, c.quiet, warned)
		}
	}
}

// TestNoiseOfTheConfig: only noise that neither a parameter nor an output gives is said to be fixed.
func TestNoiseOfTheConfig(t *testing.T) {
	for sd, fixed := range map[float64]bool{0.5: true, nn.Learned: false, nn.Predicted: false} {
		f := shape{outputs: 1, n: 400}.make(t)
		net, err := nn.New(f.run.Net.Input(), []nn.Layer{nn.Dense{Units: 2}}, nn.Gaussian{SD: sd})
		if err != nil {
			t.Fatal(err)
		}
		f.run.Net = net
		if all, _ := text(f.view(t).summary()); strings.Contains(all, "The noise was not learnt") != fixed {
			t.Errorf("sd %v: the summary says of the noise:\n%s", sd, all)
		}
	}
}

// TestWilson compares with Brown, Cai & DasGupta (2001): 0 of 10 gives (0, 0.2775), 5 of 10 (0.2366, 0.7634).
func TestWilson(t *testing.T) {
	for _, c := range [][4]float64{{0, 10, 0, .2775}, {5, 10, .2366, .7634}, {10, 10, .7225, 1}, {0, 0, 0, 1}} {
		if l, h := uq.Wilson(c[0], c[1]); !(math.Abs(l-c[2]) < 1e-4 && math.Abs(h-c[3]) < 1e-4) {
			t.Errorf("%v of %v: %v to %v", c[0], c[1], l, h)
		}
	}
}

// TestNumbers writes numbers for people.
func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{percent(.937), "93.7\u00a0%"}, {percent(math.NaN()), "–"}, {fixed(-1234.5, 1), "−1,234.5"}, {fixed(-.0001, 2), "0.00"},
		{fixed(math.Inf(-1), 2), "−∞"}, {significant(.08), "0.08000"}, {significant(-12345.6), "−12,346"}, {significant(1e-9), "1e-09"},
		{significant(0.), "0"}, {shortest(float64(float32(.1)), 0), "0.1"}, {shortest(-1.4e-6, 100), "0"}, {shortest(1234.5, 0), "1,234.5"},
		{shortest(-2.3000001, 2), "−2.3"}, {count(12216000), "12,216,000"}, {count(999), "999"}, {several(1, "row"), "1 row"},
		{several(2000, "row"), "2,000 rows"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
