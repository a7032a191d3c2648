package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// TestScoresAreInTheTargetsUnits: the same table with targets 1024·y, which rounds nothing, is the same to a network that
// learns standardised targets. Scores in the target's units grow by 1024, the density shrinks by it, and scores without a
// unit stay.
func TestScoresAreInTheTargetsUnits(t *testing.T) {
	const factor = 1024
	text := testkit.Table(300)
	scaled := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range scaled[1:] {
		cut := strings.LastIndex(line, ",") + 1
		scaled[i+1] = line[:cut] + strconv.FormatFloat(factor*testkit.Number(t, line[cut:]), 'g', -1, 64)
	}
	small, large := problem(t, text, false, true), problem(t, strings.Join(scaled, "\n"), false, true)
	if !slices.Equal(small.Test.Values, large.Test.Values) {
		t.Fatal("the standardised targets differ")
	}
	e := ensemble(t, network(t, 1, nn.Gaussian{SD: nn.Learned}), 2, 6, bnn.Equal{})
	a, b := evaluated(t, e, small), evaluated(t, e, large)
	validate := func(p *data.Problem) float64 {
		nll, accuracy, err := Validation(t.Context(), e, p.Validate, p, nil)
		if err != nil || accuracy != nil {
			t.Fatalf("accuracy %v, %v", accuracy, err)
		}
		return float64(nll)
	}
	density, err := e.LogDensity(t.Context(), small.Validate, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Log(small.Schema.Targets.SD[0]) - uq.Mean(density); !(math.Abs(validate(small)-want) <= 1e-9) {
		t.Errorf("validation NLL %v, by the density %v", validate(small), want)
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
		{"validation NLL", validate(large), validate(small) + math.Log(factor)},
		{"scale", LogScale(large, nil), LogScale(small, nil) + math.Log(factor)},
		{"R²", float64(*b.Metrics.R2), float64(*a.Metrics.R2)},
		{"coverage", float64(b.Metrics.Coverage.In90), float64(a.Metrics.Coverage.In90)},
		{"noise", float64(b.Metrics.Spread[0].Aleatoric), factor * float64(a.Metrics.Spread[0].Aleatoric)},
		{"mean", b.Regression.Mean[0], factor * a.Regression.Mean[0]},
		{"spread", b.Regression.Epistemic[0], factor * a.Regression.Epistemic[0]},
		{"quantile", b.Regression.Q05[0], factor * a.Regression.Q05[0]},
		{"PIT", b.Regression.PIT[0], a.Regression.PIT[0]},
	} {
		if !golden.Near(c.got, c.want, 1e-9, 0) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	// The targets that come back are those of the file, which has at most four decimals.
	for _, y := range a.Regression.Targets {
		if !(math.Abs(y*1e4-math.Round(y*1e4)) <= 0.05) {
			t.Errorf("target %v is not in the table", y)
		}
	}
}

// TestAssessmentIsWhatMetricsSay: the predictions that are kept are those that were scored, for classes and regression.
func TestAssessmentIsWhatMetricsSay(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	p.Groups = []data.Group{{Name: "train", Set: p.Train}}
	e := ensemble(t, network(t, 3, nn.Categorical{}), 3, 6, bnn.Evidence{})
	a, err := Evaluate(t.Context(), &Ensembles{Posterior: e}, p, bnn.Evidence{}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Problem != p || a.Set() != p.Test || a.Regression != nil || len(a.Groups) != 1 || a.Groups[0].Len() != p.Train.Len() {
		t.Error("another assessment")
	}
	m := a.Metrics
	scores := uq.Evaluate(a.Test, a.Set().Labels, nil)
	if scores.NLL != m.NLL || scores.AURC != *m.AURC || m.NLL != m.Combined.By("evidence").NLL {
		t.Errorf("NLL %v of the predictions, metrics have %v", scores.NLL, m.NLL)
	}
	want, err := e.Predict(t.Context(), p.Test, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(*want) != fmt.Sprint(*a.Test) {
		t.Error("the posterior predicts otherwise on its own")
	}

	p = problem(t, testkit.Table(300), false, false)
	v := evaluated(t, ensemble(t, network(t, 1, nn.Gaussian{SD: nn.Learned}), 1, 12, bnn.Equal{}), p)
	n := v.Set().Len()
	if v.Test != nil || v.Regression == nil || v.Regression.Outputs != 1 {
		t.Fatal("a regression is evaluated as one of classes")
	}
	for name, x := range map[string][]float64{
		"mean": v.Regression.Mean, "q05": v.Regression.Q05, "q50": v.Regression.Q50, "q95": v.Regression.Q95, "PIT": v.Regression.PIT, "targets": v.Regression.Targets,
	} {
		if len(x) != n {
			t.Errorf("%d values of %s for %d examples", len(x), name, n)
		}
	}
	for i, y := range v.Regression.Targets {
		if below := y < v.Regression.Q05[i]; below != (v.Regression.PIT[i] < 0.05) || !(v.Regression.Q05[i] < v.Regression.Q50[i] && v.Regression.Q50[i] < v.Regression.Q95[i]) {
			t.Errorf("example %d: target %v, quantiles %v, %v, %v, PIT %v", i, y, v.Regression.Q05[i], v.Regression.Q50[i], v.Regression.Q95[i], v.Regression.PIT[i])
		}
	}
	if got := uq.RMSE(v.Regression.Mean, v.Regression.Targets); got != float64(*v.Metrics.RMSE) {
		t.Errorf("RMSE %v of the predictions, metrics have %v", got, *v.Metrics.RMSE)
	}
}

// TestEnsembleESS: metrics have the effective sample size of the posterior's weights, with islands weighted as they are.
func TestEnsembleESS(t *testing.T) {
	net, p := network(t, 3, nn.Categorical{}), problem(t, testkit.Table(90, "yes", "no", "perhaps"), true, false)
	for _, row := range bnn.Combinations {
		e := ensemble(t, net, 3, 6, row.Part)
		sum, square, got := 0.0, 0.0, float64(evaluated(t, e, p).Metrics.ESS)
		for _, l := range e.LogWeights {
			sum += math.Exp(l)
			square += math.Exp(2 * l)
		}
		if !(math.Abs(got-sum*sum/square) <= 1e-9*got) || !(got >= 1 && got < 18) {
			t.Errorf("%s: effective sample size %v of %d, want %v", row.Name, got, e.Size(), sum*sum/square)
		}
	}
}

// TestCombined: the posterior is scored under every way to weigh islands, whichever is its own; the summary of the evidences
// is that of package smc.
func TestCombined(t *testing.T) {
	net, p := network(t, 3, nn.Categorical{}), problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	var before Combined
	for _, row := range bnn.Combinations {
		e := ensemble(t, net, 3, 6, row.Part)
		a, err := Evaluate(t.Context(), &Ensembles{Posterior: e}, p, row.Part, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := a.Metrics
		if d := cmp.Diff(*m.Combined.By(row.Name), m.Evaluation); d != "" {
			t.Errorf("%s: metrics are not those of combined.%s:\n%s", row.Name, row.Name, d)
		}
		if len(m.Combined) != len(bnn.Combinations) || m.Combined[0].Name != "equal" || m.Combined[1].Name != "evidence" {
			t.Errorf("%s: combined %+v", row.Name, m.Combined)
		}
		if d := cmp.Diff(m.Combined[0].Evaluation, m.Combined[1].Evaluation); d == "" {
			t.Error("equal weights and evidence give the same figures")
		}
		for i, c := range before {
			if got := m.Combined[i].NLL; !(math.Abs(float64(got-c.NLL)) <= 1e-12) {
				t.Errorf("%s: NLL of combined.%s is %v, was %v", row.Name, c.Name, got, c.NLL)
			}
		}
		before = m.Combined
		want, err := smc.Combine(e.LogEvidence)
		if err != nil {
			t.Fatal(err)
		}
		if *m.LogEvidence != uq.Number(want.LogZ) || *m.LogEvidenceSD != uq.Number(want.SD) || *m.EffectiveIslands != uq.Number(want.Effective) {
			t.Errorf("%s: evidence %v ± %v, %v islands, want %+v", row.Name, *m.LogEvidence, *m.LogEvidenceSD, *m.EffectiveIslands, want)
		}
	}
	// A single island is the same under all; without comparable evidences nothing is said of them.
	a, err := Evaluate(t.Context(), &Ensembles{Posterior: ensemble(t, net, 1, 6, bnn.Equal{})}, p, bnn.Equal{}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a.Metrics.Combined[0].Evaluation, a.Metrics.Combined[1].Evaluation); d != "" {
		t.Errorf("one island: equal and evidence differ:\n%s", d)
	}
	if m := a.Metrics; m.LogEvidence == nil || m.LogEvidenceSD != nil {
		t.Errorf("one island has a log evidence of %v, with the standard deviation %v over islands", m.LogEvidence, m.LogEvidenceSD)
	}
	if m := evaluated(t, ensemble(t, net, 3, 6, bnn.Equal{}), p).Metrics; m.Combined != nil || m.LogEvidence != nil || m.LogEvidenceSD != nil || m.EffectiveIslands != nil {
		t.Errorf("without comparable evidences: %+v", m)
	}
}

// TestEvaluatedOn: scores are of the test part, or of the training part where nothing is held out.
func TestEvaluatedOn(t *testing.T) {
	p := problem(t, testkit.Table(90, "yes", "no", "perhaps"), true, false)
	e := ensemble(t, network(t, 3, nn.Categorical{}), 1, 6, bnn.Equal{})
	if m := evaluated(t, e, p).Metrics; m.On != "test" || m.N != 9 || p.Train.Len() != 72 {
		t.Errorf("evaluated on %s, %d examples, of %d to train", m.On, m.N, p.Train.Len())
	}
	p.Test = nil
	if m := evaluated(t, e, p).Metrics; m.On != "train" || m.N != 72 {
		t.Errorf("evaluated on %s, %d examples", m.On, m.N)
	}
}

// TestPointEstimates: the MAP is the chosen restart alone, the deep ensemble all restarts.
func TestPointEstimates(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	net := network(t, 3, nn.Categorical{})
	restarts := ensemble(t, net, 1, 4, bnn.Equal{})
	restarts.LogWeights = slices.Repeat([]float64{-math.Log(4)}, 4)
	a, err := Evaluate(t.Context(), &Ensembles{Posterior: ensemble(t, net, 2, 3, bnn.Equal{}), Restarts: restarts, Chosen: 2}, p, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(evaluated(t, restarts, p).Metrics.Evaluation, *a.Metrics.DeepEnsemble); d != "" {
		t.Errorf("deep ensemble:\n%s", d)
	}
	if d := cmp.Diff(evaluated(t, member(restarts, 2), p).Metrics.Evaluation, *a.Metrics.MAP); d != "" {
		t.Errorf("MAP:\n%s", d)
	}
}

// TestRegressionNLL against the density of the mixture written out: particles disagree, and each has noise of its own.
func TestRegressionNLL(t *testing.T) {
	prob := problem(t, testkit.Table(300), false, false)
	e := ensemble(t, network(t, 1, nn.Gaussian{SD: nn.Learned}), 1, 12, bnn.Equal{})
	for j := range e.Size() { // weights and noise as of a network that has learnt the targets, about 100
		e.Theta[(j+1)*e.Net.Dim()-2] += 100
		e.Theta[(j+1)*e.Net.Dim()-1] += 2
	}
	set, d, p := prob.Test, e.Net.Dim(), pool.New(1)
	density, square, mean := make([]float64, set.Len()), 0.0, make([]float64, set.Len())
	for j := range e.Size() {
		one, err := member(e, j).PredictRegression(t.Context(), set, nil, p)
		if err != nil {
			t.Fatal(err)
		}
		w, sd := math.Exp(e.LogWeights[j]), math.Exp(float64(e.Theta[(j+1)*d-1]))
		for i, mu := range one.Mean {
			z := (float64(set.Values[i]) - mu) / sd
			density[i] += w * math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
			mean[i] += w * mu
		}
	}
	nll := 0.0
	for i, y := range set.Values {
		nll -= math.Log(density[i]) / float64(set.Len())
		square += (float64(y) - mean[i]) * (float64(y) - mean[i]) / float64(set.Len())
	}
	m := evaluated(t, e, prob).Metrics
	if !(math.Abs(float64(m.NLL)-nll) <= 1e-9) || !(math.Abs(float64(*m.RMSE)-math.Sqrt(square)) <= 1e-9) {
		t.Errorf("NLL %v, want %v; RMSE %v, want %v", m.NLL, nll, *m.RMSE, math.Sqrt(square))
	}
	if m.Accuracy != nil || m.Groups != nil {
		t.Errorf("a regression has scores of classes: %+v", m)
	}
}

// TestSpread: uncertainties of a regression are means of standard deviations in the target's units; an OOD group is
// separated by the variance of the particles' means, added over outputs.
func TestSpread(t *testing.T) {
	p := problem(t, testkit.Table(300), false, true)
	far := &data.Set{Name: "far", Shape: p.Test.Shape, F32: slices.Repeat([]float32{5, -5}, 7)}
	p.Groups = []data.Group{{Name: "far", Set: far}}
	e := ensemble(t, network(t, 1, nn.Gaussian{SD: 0.5}), 1, 12, bnn.Equal{})
	a := evaluated(t, e, p)
	known, ood := a.Metrics.Spread[0], a.Metrics.Spread[1]
	if known.Name != "test" || known.N != p.Test.Len() || known.AUROC != nil || ood.Name != "far" || ood.N != 7 {
		t.Fatalf("spread %+v", a.Metrics.Spread)
	}
	sd := p.Schema.Targets.SD[0]
	if !(math.Abs(float64(known.Aleatoric)-0.5*sd) <= 1e-9*sd) || !(math.Abs(float64(known.Epistemic)-uq.Mean(a.Regression.Epistemic)) <= 1e-12*sd) {
		t.Errorf("noise %v, spread %v, want %v, %v", known.Aleatoric, known.Epistemic, 0.5*sd, uq.Mean(a.Regression.Epistemic))
	}
	group, err := e.PredictRegression(t.Context(), far, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	epistemic := make([]float64, len(a.Regression.Epistemic))
	for i, v := range a.Regression.Epistemic {
		epistemic[i] = v / sd
	}
	auroc := uq.AUROC(epistemic, group.Epistemic) // by standard deviations: as by variances
	if !(math.Abs(float64(*ood.AUROC)-auroc) <= 1e-12) || !(math.Abs(float64(ood.Epistemic)-sd*group.Epistemic[0]) <= 1e-9*sd) {
		t.Errorf("AUROC %v, spread %v, want %v, %v", *ood.AUROC, ood.Epistemic, auroc, sd*group.Epistemic[0])
	}
}

// What islands say of themselves is one number: the root of the mean of their variances. It and the jackknife error are left out where they are
// not known.
func TestErrorsOfEvidence(t *testing.T) {
	for _, c := range []struct {
		what              string
		logZ              []float64
		p                 *Precision
		single, jackknife float64
	}{
		{"one island", []float64{-3}, &Precision{SD: []float64{0.7}, Ladder: []float64{0}}, 0.7, math.NaN()},
		{"two", []float64{-3, -5}, &Precision{SD: []float64{0.6, 0.8}, Ladder: []float64{0, 0}}, math.Sqrt(0.5), 1},
		{"one of which cannot tell", []float64{-3, -5}, &Precision{SD: []float64{0.6, math.NaN()}, Ladder: []float64{0, 0}}, math.NaN(), 1},
		{"of an older run", []float64{-3, -5}, nil, math.NaN(), 1},
	} {
		m := new(Metrics)
		if err := m.evidence(c.logZ, c.p); err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			got  *uq.Number
			want float64
		}{{m.LogEvidenceSingleSD, c.single}, {m.LogEvidenceJackknife, c.jackknife}} {
			if math.IsNaN(one.want) != (one.got == nil) || one.got != nil && !golden.Near(float64(*one.got), one.want, 1e-12, 0) {
				t.Errorf("%s: %v and %v, want %v and %v", c.what, m.LogEvidenceSingleSD, m.LogEvidenceJackknife, c.single, c.jackknife)
			}
		}
	}
}

// One island's log evidence has the error that the island tells, several have that of their scatter. What nobody knows is left out.
func TestEvidenceHasAnError(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		what        string
		logZ        []float64
		p           *Precision
		error, bias float64
	}{
		{"one island", []float64{-3}, &Precision{SD: []float64{0.7}, Ladder: []float64{-0.2}}, 0.7, -0.2},
		{"one that cannot tell", []float64{-3}, &Precision{SD: []float64{nan}, Ladder: []float64{nan}}, nan, nan},
		{"an older run", []float64{-3}, nil, nan, nan},
		{"an older run of several", []float64{-3, -5}, nil, 1, nan},
		{"several", []float64{-3, -5}, &Precision{SD: []float64{0.7, nan}, Ladder: []float64{-0.2, -0.4}}, 1, -0.3},
		{"islands of another run", []float64{-3}, &Precision{SD: []float64{0.7, 0.8}, Ladder: []float64{0, 0}}, nan, nan},
	} {
		m := new(Metrics)
		if err := m.evidence(c.logZ, c.p); err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			got  *uq.Number
			want float64
		}{{m.LogEvidenceError, c.error}, {m.LadderBias, c.bias}} {
			if math.IsNaN(one.want) != (one.got == nil) || one.got != nil && !golden.Near(float64(*one.got), one.want, 1e-12, 0) {
				t.Errorf("%s: error %v and bias %v, want %v and %v", c.what, m.LogEvidenceError, m.LadderBias, c.error, c.bias)
			}
		}
	}
}

// TestMetricsJSON: keys of metrics.json and their order are a contract; what is read is written again byte for byte.
func TestMetricsJSON(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	p.Groups = []data.Group{{Name: "train", Set: p.Train}}
	net := network(t, 3, nn.Categorical{})
	restarts := ensemble(t, net, 1, 4, bnn.Equal{})
	classes, err := Evaluate(t.Context(), &Ensembles{Posterior: ensemble(t, net, 2, 3, bnn.Equal{}), Restarts: restarts}, p, bnn.Equal{}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	const of = "on n accuracy nll brier ece aurc aurc_epistemic groups"
	const numbers = "on n nll rmse mae bias r2 crps coverage spread"
	for _, c := range []struct {
		a    *Assessment
		keys map[string]string
	}{
		{classes, map[string]string{
			"": of + " ess map deep_ensemble by_class groups_by_class combined log_evidence log_evidence_sd log_evidence_error log_evidence_jackknife effective_islands", "combined": "equal evidence",
			"map": of, "deep_ensemble": of, "groups": "correct incorrect train",
		}},
		{evaluated(t, ensemble(t, network(t, 1, nn.Gaussian{SD: 1}), 1, 6, bnn.Equal{}), problem(t, testkit.Table(90), false, true)), map[string]string{
			"": numbers + " ess", "coverage": "50 90 95", "spread": "test",
		}},
	} {
		var text, again bytes.Buffer
		if err := c.a.Metrics.WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		for member, want := range c.keys {
			raw := json.RawMessage(text.Bytes())
			if member != "" {
				var all map[string]json.RawMessage
				if err := json.Unmarshal(raw, &all); err != nil {
					t.Fatal(err)
				}
				raw = all[member]
			}
			if got := strings.Join(keys(t, raw), " "); got != want {
				t.Errorf("keys of %q: %s, want %s", member, got, want)
			}
		}
		m := new(Metrics)
		if err := json.Unmarshal(text.Bytes(), m); err != nil {
			t.Fatal(err)
		}
		if err := m.WriteJSON(&again); err != nil || again.String() != text.String() {
			t.Errorf("metrics:\n%s\nread and written: %v\n%s", text.String(), err, again.String())
		}
		if !strings.HasPrefix(text.String(), "{\n  \"on\": \"test\",\n  \"n\": ") || !strings.HasSuffix(text.String(), "\n}\n") {
			t.Errorf("metrics.json is\n%s", text.String())
		}
	}
	for _, text := range []string{"[]", `{"nll": "much"}`, `{"groups": 3}`, `{"combined": [1]}`, `{"combined": {"equal": 1}}`} {
		if err := json.Unmarshal([]byte(text), new(Metrics)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// keys lists the keys of a JSON object in their order.
func keys(t *testing.T, object []byte) (names []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// TestEvaluateErrors: data that do not fit are an InputError, a context that ended is its own error.
func TestEvaluateErrors(t *testing.T) {
	p := problem(t, testkit.Table(90, "yes", "no", "perhaps"), true, false)
	e := &Ensembles{Posterior: ensemble(t, network(t, 2, nn.Categorical{}), 1, 6, bnn.Equal{})}
	var bad *InputError
	if _, err := Evaluate(t.Context(), e, p, nil, false, nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "3 classes") {
		t.Errorf("classes that the network does not have: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.Posterior = ensemble(t, network(t, 3, nn.Categorical{}), 1, 6, bnn.Equal{})
	if _, err := Evaluate(ctx, e, p, nil, false, nil); errors.As(err, &bad) || !errors.Is(err, ctx.Err()) {
		t.Errorf("cancelled: %v", err)
	}
}
