package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// withTemperature is an evaluation like scored, with a temperature whose figures lie near w.
func withTemperature(v, t, w float64) *eval.Evaluation {
	e := scored(v)
	e.Tempered = &eval.Tempered{Temperature: number(t), NLL: uq.Number(w), Brier: number(w / 2), ECE: number(w / 10)}
	return e
}

// TestShowTempered: the tempered scores of an ensemble stand under those of the ensemble as it is, which stay. The Brier score has a column where
// evaluate has room for it.
func TestShowTempered(t *testing.T) {
	spec, err := starling.Preset("mnist7")
	if err != nil {
		t.Fatal(err)
	}
	m := eval.Metrics{Evaluation: *withTemperature(0.2, 0.67, 0.18), MAP: withTemperature(0.3, 1.044, 0.29), DeepEnsemble: scored(0.25)}
	numbers := eval.Metrics{Evaluation: eval.Evaluation{
		On: "test", N: 1200, NLL: -0.5, RMSE: number(0.1234567), MAE: number(0.1), Bias: number(0.01), R2: number(-0.25), CRPS: number(1234.5678),
		Coverage: &eval.Coverage{In50: 0.4444, In90: 0.9, In95: 1},
		Tempered: &eval.Tempered{Factor: number(1.3), NLL: -0.75, CRPS: number(1200.3), Coverage: &eval.Coverage{In50: 0.5, In90: 0.905, In95: 0.96}},
	}}
	for _, c := range []struct {
		name string
		m    *eval.Metrics
		full bool
		want string
	}{
		{"fit", &m, false, `
                                    epistemic entropy, nats
n = 7,000   accuracy    NLL    ECE  right  wrong  eight  none
posterior     90.2 %  0.200  0.020   0.10   0.20   0.40     –
  T = 0.67            0.180  0.018
best MAP      90.3 %  0.300  0.030   0.15   0.30   0.60     –
  T = 1.04            0.290  0.029
8 MAPs        90.2 %  0.250  0.025   0.12   0.25   0.50     –
rows T: the same ensemble at a temperature, p ∝ p^(1/T); T was learnt from
examples that did not train it
`},
		{"evaluate", &m, true, `
                                           epistemic entropy, nats
n = 7,000   accuracy    NLL  Brier    ECE  right  wrong  eight  none
posterior     90.2 %  0.200  0.200  0.020   0.10   0.20   0.40     –
  T = 0.67            0.180  0.090  0.018
best MAP      90.3 %  0.300  0.300  0.030   0.15   0.30   0.60     –
  T = 1.04            0.290  0.145  0.029
8 MAPs        90.2 %  0.250  0.250  0.025   0.12   0.25   0.50     –
`},
		{"numbers", &numbers, false, `
                                            targets in the central
n = 1,200     RMSE      R²      NLL   CRPS    50 %    90 %     95 %
posterior   0.1235  −0.250  −0.5000  1,235  44.4 %  90.0 %  100.0 %
  c = 1.30                  −0.7500  1,200  50.0 %  90.5 %   96.0 %
rows c: the same ensemble, its laws c times as wide about their means; c was
learnt from examples that did not train it
`},
	} {
		var out strings.Builder
		show(&out, &spec, 80, c.m, c.full)
		if got := out.String(); !strings.HasPrefix(got, c.want[1:]) {
			t.Errorf("%s (-want +got):\n%s", c.name, cmp.Diff(c.want[1:], got))
		}
	}
}

// TestTemperedTableFits: with the groups of mnist7 the table of fit has a column for each of them in 80 columns.
func TestTemperedTableFits(t *testing.T) {
	spec, err := starling.Preset("mnist7")
	if err != nil {
		t.Fatal(err)
	}
	e := withTemperature(0.2, 0.67, 0.18)
	e.Groups = e.Groups[:2]
	for _, name := range []string{"eight", "nine", "noise", "perturbed"} {
		e.Groups = append(e.Groups, uq.Group{Name: name, N: 500, Epistemic: 0.5})
	}
	for _, full := range []bool{false, true} {
		var out strings.Builder
		show(&out, &spec, 80, &eval.Metrics{Evaluation: *e, MAP: e, DeepEnsemble: e}, full)
		lines := strings.Split(out.String(), "\n")
		if !full && !strings.Contains(lines[1], "perturbed") {
			t.Errorf("a group is missing: %s", lines[1])
		}
		for _, line := range lines[:8] {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// decidedBy is an assessment of 12 examples and 4 foreign inputs by a threshold of the entropy.
func decidedBy() *eval.Assessment {
	x := decide.Examples{
		Doubts:  []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 1.1, 1.2},
		Wrong:   []bool{8: true, 2: true, 11: true},
		Foreign: []float64{.65, 1.3, .95, 2},
	}
	x.Wrong = append(x.Wrong, make([]bool, len(x.Doubts)-len(x.Wrong))...)
	rule := decide.NewRule(decide.Entropy{}, 0.85, true, 30)
	v := decide.Judge(x, rule.Threshold)
	m := &eval.Metrics{
		Evaluation: eval.Evaluation{On: "test", N: 12},
		Abstention: &eval.Abstention{By: "entropy", Threshold: 0.85, N: 12, Foreign: 4, Share: 8. / 12, Error: 1. / 8, AUC: uq.Number(decide.AUC(x)), Verdict: v},
		Sets: &eval.SetScores{
			Promise: eval.Promise{Rate: 0.95, Coverage: 11. / 12, Size: number(1.25)}, Examples: 30,
			Others: []eval.Promise{{Rate: 0.8, Coverage: 0.75, Size: number(1)}, {Rate: 0.95, Coverage: 11. / 12, Size: number(1.25)}},
		},
	}
	return &eval.Assessment{Metrics: m, Doubts: &x, Rule: rule}
}

// TestShowDecisions: fit has a sentence each for sets and rule, evaluate their tables; few examples have their intervals.
func TestShowDecisions(t *testing.T) {
	many := decidedBy()
	many.Metrics.N, many.Metrics.Abstention.N = 1200, 1200
	scale := func(o *decide.Outcome) { o.Right, o.Wrong, o.Foreign = 100*o.Right, 100*o.Wrong, 100*o.Foreign }
	scale(&many.Metrics.Abstention.Answered)
	scale(&many.Metrics.Abstention.Refused)
	many.Metrics.Abstention.Foreign = 400
	many.Metrics.Sets.ByClass = []eval.ClassPromise{{Class: "none", Coverage: uq.Number(math.NaN())}, {Class: "oak", N: 700, Coverage: 0.93}, {Class: "ash", N: 500, Coverage: 0.9}}
	alone := decidedBy()
	alone.Metrics.Sets, alone.Metrics.Abstention.Foreign = nil, 0
	alone.Metrics.Abstention.Verdict = decide.Judge(decide.Examples{Doubts: []float64{1, 2}, Wrong: []bool{false, false}}, 0.85)
	nan := uq.Number(math.NaN())
	alone.Metrics.Abstention.N, alone.Metrics.Abstention.Share, alone.Metrics.Abstention.Error, alone.Metrics.Abstention.AUC = 2, 0, nan, nan
	numbers := decidedBy()
	numbers.Rule = decide.NewRule(decide.SD{}, 15.5, true, 30)
	numbers.Metrics.RMSE = number(3)
	numbers.Metrics.Abstention.Tolerance = 20
	numbers.Metrics.Sets = &eval.SetScores{Promise: eval.Promise{Rate: 0.9, Coverage: 0.9, Width: number(23.2612), Score: number(28.035)}, Examples: 400}
	untold := decidedBy()
	untold.Rule = numbers.Rule
	untold.Metrics.RMSE, untold.Metrics.Sets = number(3), nil
	untold.Metrics.Abstention.Error = uq.Number(math.NaN())
	for _, c := range []struct {
		name string
		a    *eval.Assessment
		full bool
		want string
	}{
		{"fit", many, false, `
sets of classes: 91.7 % hold the truth, 95 % are promised; 1.25 classes on
average (learnt from 30 examples)
abstains where the total entropy is above 0.8500: 66.7 % of 1,200 examples are
answered, 12.5 % of these answers are wrong; of 400 foreign inputs 300 abstain
`},
		{"evaluate", many, true, `
sets of classes, learnt from 30 examples
promised  hold the truth  classes, mean
95 %              91.7 %           1.25
at other rates
80 %              75.0 %           1.00
least of a class: 90.0 % of 500 examples of class ash
abstains where the total entropy is above 0.8500
          right  wrong  foreign
answered    700    100      100
refused     200    200      300
share answered        66.7 %
error of the answers  12.5 %
precision             71.4 %
recall                71.4 %
F1                     0.714
AUC                    0.762
two-level accuracy    75.0 %
`},
		{"few", decidedBy(), true, `
sets of classes, learnt from 30 examples
promised  hold the truth  classes, mean
95 %        92 % (65–99)           1.25
at other rates
80 %        75 % (47–91)           1.00
abstains where the total entropy is above 0.8500
          right  wrong  foreign
answered      7      1        1
refused       2      2        3
share answered        66.7 % (39 to 86)
error of the answers   12.5 % (2 to 47)
precision             71.4 % (36 to 92)
recall                71.4 % (36 to 92)
F1                                0.714
AUC                   0.762 (0.47–0.91)
two-level accuracy    75.0 % (51 to 90)
`},
		{"nothing to refuse", alone, true, `
abstains where the total entropy is above 0.8500
          right  wrong
answered      0      0
refused       2      0
share answered        0.0 % (0 to 66)
error of the answers                –
precision             0.0 % (0 to 66)
recall                              –
F1                              0.000
AUC                                 –
two-level accuracy    0.0 % (0 to 66)
`},
		{"numbers", numbers, false, `
intervals: 90 % (63–98) hold the truth, 90 % are promised; mean width 23.26
(learnt from 400 examples)
abstains where the standard deviation is above 15.50: 67 % (39–86) of 12
examples are answered, 12 % (2–47) of these answers are wrong by more than 20;
of 4 foreign inputs 3 abstain
`},
		{"numbers in full", numbers, true, `
intervals, learnt from 400 examples
promised  hold the truth  mean width  interval score
90 %        90 % (63–98)       23.26           28.04
abstains where the standard deviation is above 15.50; an answer is wrong if it
is off by more than 20
          right  wrong  foreign
answered      7      1        1
refused       2      2        3
share answered        66.7 % (39 to 86)
error of the answers   12.5 % (2 to 47)
precision             71.4 % (36 to 92)
recall                71.4 % (36 to 92)
F1                                0.714
AUC                   0.762 (0.47–0.91)
two-level accuracy    75.0 % (51 to 90)
`},
		{"no tolerance", untold, true, `
abstains where the standard deviation is above 15.50
          examples  foreign
answered         8        1
refused          4        3
share answered      66.7 % (39 to 86)
precision           71.4 % (36 to 92)
recall              71.4 % (36 to 92)
F1                              0.714
AUC                 0.762 (0.47–0.91)
two-level accuracy  75.0 % (51 to 90)
`},
		{"no tolerance, in a line", untold, false, `
abstains where the standard deviation is above 15.50: 67 % (39–86) of 12
examples are answered; of 4 foreign inputs 3 abstain
`},
	} {
		var out strings.Builder
		showDecisions(&out, c.a, c.full)
		if d := cmp.Diff(c.want[1:], out.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
