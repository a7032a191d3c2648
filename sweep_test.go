package starling

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
)

// TestGrid: every combination once, the last axis fastest, with names for folders and the settings in the Spec.
func TestGrid(t *testing.T) {
	text, err := os.ReadFile("testdata/trees.yaml")
	if err != nil {
		t.Fatal(err)
	}
	axis := func(text string) Axis {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	points, err := Grid("trees.yaml", text, []string{"seed=3"}, axis("prior.normal.fan_in=0.5,2"), axis("method.smc.particles=4,8,9"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fan_in=0.5,particles=4", "fan_in=0.5,particles=8", "fan_in=0.5,particles=9", "fan_in=2,particles=4", "fan_in=2,particles=8", "fan_in=2,particles=9"}
	for i, p := range points {
		if s := p.Spec.Way().Sampling(); p.Name != want[i] || s.Particles != []int{4, 8, 9}[i%3] || p.Spec.Seed != 3 {
			t.Errorf("point %d is %s of %d particles, seed %d", i, p.Name, s.Particles, p.Spec.Seed)
		}
	}
	if len(points) != len(want) {
		t.Errorf("%d points", len(points))
	}
	points, err = Grid("trees.yaml", text, nil, axis("map.rate=0.1,0.2"), axis("prior={normal: {variance: 1}},{normal: {variance: 2}, anchor: {s: 0.5}}"))
	if err != nil || points[3].Name != "rate=0.2,prior=normal_variance_2_anchor_s_0.5" {
		t.Errorf("%v, %v", points, err)
	}
	_, err = Grid("trees.yaml", text, nil, axis(`prior="a/b","a:b"`))
	if err == nil || !strings.Contains(err.Error(), "run prior=a_b of the sweep") {
		t.Errorf("a name with a slash: %v", err)
	}
	points, err = Grid("trees.yaml", text, nil, axis(`data.csv.file="a;b","a:b"`))
	if err != nil || points[0].Name != "file=a_b" || points[1].Name != "file=a_b-2" {
		t.Errorf("two values of one name: %v, %v", points, err)
	}
	points, err = Grid("trees.yaml", text, nil, axis("map.epochs=1,2"), axis("map.patience=3,4"), axis("model.layers.0={dense: 4}"))
	if err != nil || points[0].Name != "epochs=1,patience=3,layers.0=dense_4" {
		t.Errorf("%v, %v", points, err)
	}

	for wrong, want := range map[string]string{
		"name=a,b":                    "a run's name changes no result",
		"prior.normal.fanin=1":        `did you mean "fan_in"?`,
		"prir=1":                      `did you mean "prior"?`,
		"method.smc.particles=4,many": "run particles=many of the sweep, whose values count as --set:\n--set method.smc.particles=many: method.smc.particles: want a whole number",
		"method.smc.particles=4,0":    "method.smc.particles: ",
		"seed=" + strings.Join(strings.Fields(strings.Repeat("7 ", 2)), ","): "twice",
		"seed":   "want a key and its values",
		"=1":     "want a key and its values",
		"seed=":  "no YAML values",
		"seed=]": "no YAML values",
	} {
		a, err := ParseAxis(wrong)
		if err == nil {
			_, err = Grid("trees.yaml", text, nil, a)
		}
		if !errors.As(err, new(*ConfigError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", wrong, err, want)
		}
	}
	if _, err := Grid("trees.yaml", text, nil, axis("seed=1,2"), axis("seed=3")); err == nil || !strings.Contains(err.Error(), "varied twice") {
		t.Errorf("one key twice: %v", err)
	}
	many := Axis{"seed", slices.Repeat([]string{"1"}, 101)}
	if _, err := Grid("trees.yaml", text, nil, many, Axis{"map.epochs", slices.Repeat([]string{"1"}, 10)}); err == nil || !strings.Contains(err.Error(), "more than 1000 runs") {
		t.Errorf("1,010 runs: %v", err)
	}
}

// TestBest: the lowest NLL, or the largest evidence, the first of equals; runs without a value are left out, and values of different
// examples are not compared.
func TestBest(t *testing.T) {
	set := func(source string, rows []int32, labels ...int32) *data.Set {
		inputs := []float32{float32(len(rows)), 2} // which do not count
		return &data.Set{Shape: []int{1}, F32: inputs, Source: source, Rows: rows, Labels: labels, Classes: 2}
	}
	j := func(v float64) *Judgement { return &Judgement{Value: v, on: set("a", nil, 1, 0)} }
	fewer := &Judgement{Value: 0.25, on: &data.Set{Shape: []int{2}, F32: []float32{1, 2, 3, 4}, Source: "a", Labels: []int32{1, 0}, Classes: 2}}
	number := func(v float64, targets ...float64) *Judgement {
		return &Judgement{Value: v, on: &data.Set{Shape: []int{1}, F32: []float32{float32(v), 2}, Source: "a"}, targets: targets}
	}
	nll, evidence := Criteria[0], Criteria[1]
	for _, c := range []struct {
		by         Criterion
		all        []*Judgement
		best       int
		comparable bool
	}{
		{nll, []*Judgement{j(0.5), j(0.25), j(0.75)}, 1, true},
		{evidence, []*Judgement{j(-50), j(-60), j(-40)}, 2, true},
		{nll, []*Judgement{nil, j(0.5), nil, j(0.5)}, 1, true},
		{nll, []*Judgement{nil, nil}, -1, true},
		{nll, []*Judgement{j(0.5), {Value: 0.25, on: set("b", []int32{0, 1}, 1, 0)}}, -1, false},
		{nll, []*Judgement{j(0.5), {Value: 0.25, on: set("a", []int32{1, 2}, 1, 0)}}, -1, false},
		{nll, []*Judgement{j(0.5), {Value: 0.25, on: set("a", nil, 0, 0)}}, -1, false},
		{nll, []*Judgement{nil, {Value: 0.25, on: set("b", nil, 1, 0)}}, 1, true},
		{nll, []*Judgement{j(0.5), fewer, j(0.75)}, 1, true},
		{nll, []*Judgement{number(3, 100, 7), number(2, 100.0001, 7), number(4, 100, 7)}, 1, true},
		{nll, []*Judgement{number(3, 100, 7), number(2, 100.01, 7)}, -1, false},
	} {
		if best, comparable := c.by.Best(c.all); best != c.best || comparable != c.comparable {
			t.Errorf("%s of %v: %d, %v, want %d, %v", c.by.Name, c.all, best, comparable, c.best, c.comparable)
		}
	}
	// Paired differences 1, 2, 3, 6: mean 3, standard deviation √(14/3), standard error √(14/12).
	a, b := &Judgement{Value: 4, losses: []float64{1, 4, 4, 7}}, &Judgement{Value: 1, losses: []float64{0, 2, 1, 1}}
	if by, se := nll.Behind(a, b); by != 3 || !(math.Abs(se-math.Sqrt(14.0/12)) < 1e-12) {
		t.Errorf("behind by %v ± %v", by, se)
	}
	if by, se := evidence.Behind(&Judgement{Value: -60, SE: 3}, &Judgement{Value: -50, SE: 4}); by != 10 || se != 5 {
		t.Errorf("behind by %v ± %v", by, se)
	}
}

// TestJudge: the validation NLL is that of the posterior's mean prediction, in the targets' units, and test examples do not count.
func TestJudge(t *testing.T) {
	ctx, nll, evidence := context.Background(), Criteria[0], Criteria[1]
	r := fitted(t, trees(t), Options{})
	judged, err := nll.Judge(ctx, r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Posterior.Predict(ctx, r.Data.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i, y := range r.Data.Validate.Labels {
		want -= math.Log(p.Probs[i*p.Classes+int(y)]) / float64(r.Data.Validate.Len())
	}
	if !(math.Abs(judged.Value-want) < 1e-9) || judged.Examples != r.Data.Validate.Len() {
		t.Errorf("%v of %d examples, want %v of %d", judged.Value, judged.Examples, want, r.Data.Validate.Len())
	}
	other := *r
	problem := *r.Data
	problem.Test = r.Data.Train
	other.Data = &problem
	if again, err := nll.Judge(ctx, &other, Options{}); err != nil || again.Value != judged.Value {
		t.Errorf("other test examples: %v, %v, want %v", again, err, judged.Value)
	}
	if z, err := evidence.Judge(ctx, r, Options{}); err != nil || z.Value != float64(*r.Metrics.LogEvidence) || z.Examples != r.Data.Train.Len() {
		t.Errorf("%v, %v, want %v", z, err, *r.Metrics.LogEvidence)
	}

	// By hand: the density of a target in its own units is that of the standardised one divided by its scale.
	r = fitted(t, trees(t, "data.csv.target=height", "data.csv.drop=[kind]", "model.likelihood={gaussian: {sd: learned}}", "model.layers.2.dense=1"), Options{})
	if judged, err = nll.Judge(ctx, r, Options{}); err != nil {
		t.Fatal(err)
	}
	density, err := r.Posterior.LogDensity(ctx, r.Data.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	want = math.Log(r.Data.Schema.Targets.SD[0] / r.Data.Schema.Targets.To)
	for _, d := range density {
		want -= d / float64(len(density))
	}
	sum := 0.0
	for _, l := range judged.losses {
		sum += l / float64(len(judged.losses))
	}
	if !(math.Abs(judged.Value-want) < 1e-9) || !(math.Abs(sum-want) < 1e-9) {
		t.Errorf("%v, with the losses' mean %v, want %v", judged.Value, sum, want)
	}
}

// TestCannotJudge: configs whose runs would have no value are refused before, and runs that are no samples are left out.
func TestCannotJudge(t *testing.T) {
	nll, evidence := Criteria[0], Criteria[1]
	whole := trees(t, "data.whole=true", "map.patience=null")
	if err := nll.Check(&whole); err == nil || !strings.Contains(err.Error(), "needs validation examples") {
		t.Errorf("no validation examples: %v", err)
	}
	chains := trees(t, "method={mcmc: {chains: 3, epochs: 40, move: {hmc: {steps: 2}}}}")
	if err := evidence.Check(&chains); err == nil || !strings.Contains(err.Error(), "method.mcmc: estimates no log evidence") {
		t.Errorf("chains: %v", err)
	}
	good := trees(t)
	for _, c := range Criteria {
		if err := c.Check(&good); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	r := fitted(t, trees(t, "method.smc.move={hmc: {steps: 1, step: 1000}}", "prior.anchor=null"), Options{})
	for _, c := range Criteria {
		if j, err := c.Judge(context.Background(), r, Options{}); err == nil || !strings.Contains(err.Error(), "did not move") {
			t.Errorf("%s of a run that failed: %v, %v", c.Name, j, err)
		}
	}
	none := *r
	none.Findings = nil
	none.Assessment = &eval.Assessment{Metrics: &eval.Metrics{}}
	if j, err := evidence.Judge(context.Background(), &none, Options{}); err == nil {
		t.Errorf("a run without evidence has %v", j)
	}
}

// The judgement of folds is the mean over all their examples, and settings are compared example by example: paired differences of 0.5 ± …, by
// their definition. Folds of other examples cannot be compared.
func TestPool(t *testing.T) {
	on := func(name string, rows ...int32) *data.Set {
		return &data.Set{Name: name, Source: "t.csv", Rows: rows, Shape: []int{1}, F32: make([]float32, len(rows)), Labels: make([]int32, len(rows)), Classes: 2}
	}
	a, b := on("validate", 0, 1, 2), on("validate", 3, 4)
	best := Pool([]*Judgement{{Value: 2, losses: []float64{1, 2, 3}, on: a}, {Value: 4.5, losses: []float64{4, 5}, on: b}})
	worse := Pool([]*Judgement{{losses: []float64{1, 3, 3}, on: a}, {losses: []float64{5, 5.5}, on: b}})
	if best.Value != 3 || best.Examples != 5 {
		t.Errorf("mean %v of %d examples, want 3 of 5", best.Value, best.Examples)
	}
	c := Criteria[0]
	if at, comparable := c.Best([]*Judgement{worse, best}); at != 1 || !comparable {
		t.Errorf("the best is %d, %v", at, comparable)
	}
	by, se := c.Behind(worse, best) // differences 0, 1, 0, 1, 0.5
	if want := math.Sqrt(0.25 / 5); !(math.Abs(by-0.5) < 1e-12) || !(math.Abs(se-want) < 1e-12) {
		t.Errorf("behind by %v ± %v, want 0.5 ± %v", by, se, want)
	}
	other := Pool([]*Judgement{{losses: []float64{1, 2, 3}, on: b}, {losses: []float64{4, 5}, on: a}})
	if at, comparable := c.Best([]*Judgement{best, other}); at != -1 || comparable {
		t.Errorf("other folds are compared: %d, %v", at, comparable)
	}
	if at, comparable := c.Best([]*Judgement{best, {losses: []float64{1}, on: a}}); at != -1 || comparable {
		t.Errorf("folds are compared with a run: %d, %v", at, comparable)
	}
}
