package starling

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// TestScoresAreInTheTargetsUnits: the same table with targets 1024·y, which rounds nothing, is the same to a network that
// learns standardised targets. Scores in the target's units grow by 1024, the density shrinks by it, and what has no unit
// stays.
func TestScoresAreInTheTargetsUnits(t *testing.T) {
	text, err := os.ReadFile("testdata/wave.csv")
	if err != nil {
		t.Fatal(err)
	}
	const factor = 1024
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		y, err := strconv.ParseFloat(cells[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		cells[2] = strconv.FormatFloat(factor*y, 'g', -1, 64)
		lines[i+1] = strings.Join(cells, ",")
	}
	large := regression(t, "both")
	large.Data.CSV.File = filepath.Join(t.TempDir(), "large.csv")
	if err := os.WriteFile(large.Data.CSV.File, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var told []float64
	fit := func(spec Spec) *Result {
		spec.MAP = &MAP{Restarts: 2, Rate: 0.01, Batch: 50, Epochs: 4, Patience: 2}
		best := math.NaN()
		r := fit(t, spec, Options{Progress: func(e Event) {
			if d, ok := e.(*Descending); ok {
				best = d.NLL
			}
		}})
		told = append(told, best)
		return r
	}
	a, b := fit(regression(t, "both")), fit(large)
	if best := a.NLL[a.Chosen]; best != slices.Min(a.NLL) || told[0] != best || b.Chosen != a.Chosen {
		t.Errorf("restart %d of %v is chosen, %v was told", a.Chosen, a.NLL, told[0])
	}
	density, err := member(a.Restarts, 1).LogDensity(t.Context(), a.Data.Validate, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Log(a.Data.Schema.Targets.SD[0]) - uq.Mean(density); !(math.Abs(a.NLL[1]-want) <= 1e-5) {
		t.Errorf("restart 1 has validation NLL %v, its density %v", a.NLL[1], want)
	}
	if !slices.Equal(a.Posterior.Theta, b.Posterior.Theta) {
		t.Fatal("the networks differ")
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"RMSE", float64(*b.Metrics.RMSE), factor * float64(*a.Metrics.RMSE)},
		{"MAE", float64(*b.Metrics.MAE), factor * float64(*a.Metrics.MAE)},
		{"bias", float64(*b.Metrics.Bias), factor * float64(*a.Metrics.Bias)},
		{"CRPS", float64(*b.Metrics.CRPS), factor * float64(*a.Metrics.CRPS)},
		{"NLL", float64(b.Metrics.NLL), float64(a.Metrics.NLL) + math.Log(factor)},
		{"validation NLL", float64(*b.Trace[0].ValNLL), float64(*a.Trace[0].ValNLL) + math.Log(factor)},
		{"restart's NLL", b.NLL[1], a.NLL[1] + math.Log(factor)},
		{"NLL that is told", told[1], told[0] + math.Log(factor)},
		{"R²", float64(*b.Metrics.R2), float64(*a.Metrics.R2)},
		{"coverage", float64(b.Metrics.Coverage.In90), float64(a.Metrics.Coverage.In90)},
		{"noise", float64(b.Metrics.Spread[0].Aleatoric), factor * float64(a.Metrics.Spread[0].Aleatoric)},
		{"mean", b.Judgement.Values.Mean[0], factor * a.Judgement.Values.Mean[0]},
		{"spread", b.Judgement.Values.Epistemic[0], factor * a.Judgement.Values.Epistemic[0]},
		{"quantile", b.Judgement.Values.Q05[0], factor * a.Judgement.Values.Q05[0]},
		{"PIT", b.Judgement.Values.PIT[0], a.Judgement.Values.PIT[0]},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-9*math.Abs(c.want)) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	// The targets that come back are those of the file.
	for _, y := range a.Judgement.Values.Targets {
		if !(math.Abs(y*1000-math.Round(y*1000)) <= 1e-3) {
			t.Errorf("target %v is none of wave.csv, which has three decimals", y)
		}
	}
}

// TestJudgementIsWhatMetricsSay: the predictions that are kept are those that were scored, for classes and for numbers.
func TestJudgementIsWhatMetricsSay(t *testing.T) {
	r := fit(t, trees(t, "method.smc.combine=evidence"), Options{})
	j := r.Judgement
	if j.Metrics != r.Metrics || j.Set() != r.Data.Test || j.Values != nil || len(j.Groups) != len(r.Data.Groups) {
		t.Error("another judgement")
	}
	scores := uq.Evaluate(j.Test, j.Set().Labels, nil)
	if scores.NLL != r.Metrics.NLL || scores.AURC != *r.Metrics.AURC || r.Metrics.NLL != r.Metrics.Combined.Evidence.NLL {
		t.Errorf("NLL %v of the predictions, metrics have %v", scores.NLL, r.Metrics.NLL)
	}
	said, err := r.Posterior.Predict(t.Context(), r.Data.Test, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(*said) != fmt.Sprint(*j.Test) {
		t.Error("the posterior predicts otherwise on its own")
	}

	v := fit(t, regression(t, "inputs"), Options{}).Judgement
	n := v.Set().Len()
	if v.Test != nil || v.Values == nil || v.Values.Outputs != 1 {
		t.Fatal("a regression is judged as one of classes")
	}
	for name, x := range map[string][]float64{
		"mean": v.Values.Mean, "q05": v.Values.Q05, "q50": v.Values.Q50, "q95": v.Values.Q95, "PIT": v.Values.PIT, "targets": v.Values.Targets,
	} {
		if len(x) != n {
			t.Errorf("%d values of %s for %d examples", len(x), name, n)
		}
	}
	for i, y := range v.Values.Targets {
		if below := y < v.Values.Q05[i]; below != (v.Values.PIT[i] < 0.05) || !(v.Values.Q05[i] < v.Values.Q50[i] && v.Values.Q50[i] < v.Values.Q95[i]) {
			t.Errorf("example %d: target %v, quantiles %v, %v, %v, PIT %v", i, y, v.Values.Q05[i], v.Values.Q50[i], v.Values.Q95[i], v.Values.PIT[i])
		}
	}
	if got := uq.RMSE(v.Values.Mean, v.Values.Targets); got != float64(*v.Metrics.RMSE) {
		t.Errorf("RMSE %v of the predictions, metrics have %v", got, *v.Metrics.RMSE)
	}
}

// TestEnsembleESS: metrics have the effective sample size of what is kept, which no line of the trace has: after the last
// iteration's weights, or its resampling, and with islands weighed as they are.
func TestEnsembleESS(t *testing.T) {
	for name, spec := range map[string]Spec{
		"momentum": followed(t), "evidence": trees(t, "method.smc.combine=evidence"), "equal": trees(t), "point": trees(t, "prior.anchor.s=0"),
	} {
		r := fit(t, spec, Options{})
		sum, square, got := 0.0, 0.0, float64(r.Metrics.ESS)
		for _, l := range r.Posterior.LogWeights {
			sum += math.Exp(l)
			square += math.Exp(2 * l)
		}
		if !(math.Abs(got-sum*sum/square) <= 1e-9*got) || !(got >= 1 && got <= float64(r.Posterior.Size())+1e-9) {
			t.Errorf("%s: effective sample size %v of %d, want %v", name, got, r.Posterior.Size(), sum*sum/square)
		}
		if name == "momentum" && (got == float64(r.Posterior.Size()) || got == r.Trace[21].ESS+r.Trace[43].ESS) {
			t.Errorf("effective sample size %v shows too little", got)
		}
	}
}
