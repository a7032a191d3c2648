package starling

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/rng"
)

// amountsTable writes a table of positive amounts, as they are or as of makes them.
func amountsTable(t *testing.T, of func(y float64) float64) string {
	t.Helper()
	s := rng.Key{Seed: 4, Purpose: rng.Synthetic}.Stream()
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for range 160 {
		a, c := s.Normal(), s.Normal()
		y := rng.Exp(3 + a - .5*c*a + .3*s.Normal())
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", a, c, strconv.FormatFloat(of(y), 'g', -1, 64))
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	save(t, file, []byte(b.String()))
	return file
}

func amountsSpec(t *testing.T, file string, sets ...string) Spec {
	t.Helper()
	text := `
name: amounts
data: {csv: {file: ` + file + `, target: y}}
model: {layers: [{dense: 6}, tanh, {dense: 1}], likelihood: {gaussian: {sd: learned}}}
prior: {normal: {variance: 1}}
map: {restarts: 2, epochs: 20, rate: 0.01}
method: {mcmc: {chains: 2, epochs: 100, keep: 10, move: {hmc: {steps: 4}}}}
seed: 2
`
	spec, err := ParseSpec("amounts", []byte(text), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestTargetLogIsALogarithm: a run with target: log has the networks, to the byte, of one on a table whose targets are logarithms already. Its NLLs
// are larger by the mean logarithm of the targets that they are of: of test examples, of validation examples in the search and in sweeps, and of
// training examples in the courses of the restarts. Predictions are of amounts, intervals the same.
func TestTargetLogIsALogarithm(t *testing.T) {
	logs := fitted(t, amountsSpec(t, amountsTable(t, rng.Log)), Options{})
	amounts := fitted(t, amountsSpec(t, amountsTable(t, func(y float64) float64 { return y }), "data.target=log"), Options{})
	posterior := func(r *Result) []byte {
		var b bytes.Buffer
		for _, f := range resultFiles(t, r) {
			if f.Name == posteriorFile {
				if err := f.Write(&b); err != nil {
					t.Fatal(err)
				}
			}
		}
		return b.Bytes()
	}
	if !slices.Equal(logs.Posterior.Theta, amounts.Posterior.Theta) || !slices.Equal(logs.Restarts.Theta, amounts.Restarts.Theta) || !bytes.Equal(posterior(logs), posterior(amounts)) || len(posterior(logs)) == 0 {
		t.Fatal("the networks differ")
	}
	mean := func(y []float64) (m float64) {
		for _, v := range y {
			m += v / float64(len(y))
		}
		return m
	}
	test := mean(eval.Targets(logs.Data.Test, logs.Data))
	validate := mean(eval.Targets(logs.Data.Validate, logs.Data))
	train := mean(eval.Targets(logs.Data.Train, logs.Data))
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for what, c := range map[string][3]float64{
		"NLL":            {float64(amounts.Metrics.NLL), float64(logs.Metrics.NLL), test},
		"deep ensemble":  {float64(amounts.Metrics.DeepEnsemble.NLL), float64(logs.Metrics.DeepEnsemble.NLL), test},
		"MAP":            {float64(amounts.Metrics.MAP.NLL), float64(logs.Metrics.MAP.NLL), test},
		"a restart":      {amounts.NLL[1], logs.NLL[1], validate},
		"coverage":       {float64(amounts.Metrics.Coverage.In90), float64(logs.Metrics.Coverage.In90), 0},
		"an ESS":         {float64(amounts.Metrics.ESS), float64(logs.Metrics.ESS), 0},
		"training":       {float64(amounts.Courses[0].Train[5]), float64(logs.Courses[0].Train[5]), train},
		"its validation": {float64(amounts.Courses[0].Val[5]), float64(logs.Courses[0].Val[5]), validate},
	} {
		near(what, c[0], c[1]+c[2])
	}
	a, err := judgeByValidation(t.Context(), amounts, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := judgeByValidation(t.Context(), logs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	near("validation", a.Value, b.Value+validate)
	near("the mean of its losses", mean(a.losses), a.Value)
	for i, y := range b.targets {
		near("a validation loss", a.losses[i], b.losses[i]+y)
		near("a validation target", a.targets[i], rng.Exp(y))
	}
	ofAmounts, err := eval.Evaluate(t.Context(), &eval.Ensembles{Posterior: amounts.Posterior}, amounts.Data, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	ofLogs, err := eval.Evaluate(t.Context(), &eval.Ensembles{Posterior: logs.Posterior}, logs.Data, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range ofLogs.Regression.Q50 {
		near("a median", ofAmounts.Regression.Q50[i], rng.Exp(q))
		near("a quantile", ofAmounts.Regression.Q95[i], rng.Exp(ofLogs.Regression.Q95[i]))
		if !(ofAmounts.Regression.Mean[i] > ofAmounts.Regression.Q50[i]) {
			t.Errorf("the mean %v of an amount is not above its median %v", ofAmounts.Regression.Mean[i], ofAmounts.Regression.Q50[i])
		}
	}
	skill, ok := ofAmounts.Skill()
	before, _ := ofLogs.Skill()
	if !ok {
		t.Fatal("no skill")
	}
	near("the NLL of a guess", skill.NLL, before.NLL+test)
	near("its distance", skill.By, before.By)
}

// TestTargetLogInAnotherUnit: amounts a thousand times as large have an NLL that is larger by ln 1000, and predictions and errors that are a
// thousand times as large, but for what the rounding of the logarithms changes in a short run.
func TestTargetLogInAnotherUnit(t *testing.T) {
	sets := []string{"data.target=log", "method=map"}
	a := fitted(t, amountsSpec(t, amountsTable(t, func(y float64) float64 { return y }), sets...), Options{})
	b := fitted(t, amountsSpec(t, amountsTable(t, func(y float64) float64 { return 1000 * y }), sets...), Options{})
	for what, c := range map[string][2]float64{
		"NLL":        {float64(b.Metrics.NLL), float64(a.Metrics.NLL) + math.Log(1000)},
		"RMSE":       {float64(*b.Metrics.RMSE), 1000 * float64(*a.Metrics.RMSE)},
		"CRPS":       {float64(*b.Metrics.CRPS), 1000 * float64(*a.Metrics.CRPS)},
		"noise":      {float64(b.Metrics.Spread[0].Aleatoric), 1000 * float64(a.Metrics.Spread[0].Aleatoric)},
		"validation": {b.NLL[0], a.NLL[0] + math.Log(1000)},
	} {
		if !(math.Abs(c[0]-c[1]) <= 1e-4*math.Abs(c[1])) {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
}

// TestTargetLogOfAStudent: a Student-t of logarithms is refused, as the mean of amounts would be infinite.
func TestTargetLogOfAStudent(t *testing.T) {
	spec := amountsSpec(t, amountsTable(t, func(y float64) float64 { return y }), "data.target=log", "model.likelihood={student: {df: learned, sd: learned}}")
	if _, err := Fit(t.Context(), spec, Options{}); err == nil || !strings.Contains(err.Error(), "model.likelihood: a Student-t of logarithms gives amounts an infinite mean") {
		t.Errorf("error %v", err)
	}
}
