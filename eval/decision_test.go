package eval

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// TestDecide: the thresholds are the energies that 95 % of the validation examples do not exceed, and test examples do not
// matter. Without such examples, or one logit for each class, there is no decision.
func TestDecide(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	e := ensemble(t, network(t, 3, nn.Categorical{}), 2, 6, bnn.Equal{})
	d := decided(t, e, p.Validate)
	said, err := e.Predict(t.Context(), p.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := p.Validate.Len()
	for name, c := range map[string]struct {
		energies  []float64
		threshold uq.Number
	}{"energy": {said.Energy, d.Threshold}, "mean logits": {said.MeanLogits, d.MeanLogits}} {
		if sorted := slices.Sorted(slices.Values(c.energies)); float64(c.threshold) != sorted[(95*n+99)/100-1] {
			t.Errorf("%s: threshold %v of %d energies up to %v", name, c.threshold, n, sorted[n-1])
		}
	}
	if d.Pass != 0.95 || d.By != "energy" || d.N != n {
		t.Errorf("decision %+v", d)
	}
	var text bytes.Buffer
	if err := jsontext.Write(&text, d); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadDecision(text.Bytes()); err != nil || !reflect.DeepEqual(again, d) {
		t.Errorf("read back as %+v, %v", again, err)
	}

	if decided(t, e, nil) != nil || decided(t, e, p.Validate.Slice("none", 0, 0)) != nil {
		t.Error("a decision without validation examples")
	}
	two := problem(t, testkit.Table(60, "yes", "no"), true, false)
	if decided(t, ensemble(t, network(t, 1, nn.Bernoulli{}), 1, 3, nil), two.Validate) != nil {
		t.Error("a decision by one logit of two classes")
	}
	numbers := problem(t, testkit.Table(60), false, true)
	if decided(t, ensemble(t, network(t, 1, nn.Gaussian{SD: nn.Learned}), 1, 3, nil), numbers.Validate) != nil {
		t.Error("a decision for a regression")
	}
}

// TestDetection: an evaluation scores the decision for OOD groups alone, by the kept thresholds, whatever examples it is on.
func TestDetection(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	p.Groups = []data.Group{{Name: "train", Set: p.Train}}
	e := ensemble(t, network(t, 3, nn.Categorical{}), 2, 6, bnn.Equal{})
	d := decided(t, e, p.Validate)
	a, err := Evaluate(t.Context(), &Ensembles{Posterior: e, Decision: d}, p, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	groups := a.Metrics.Groups
	if groups[0].ByEnergy != nil || groups[1].ByMeanLogits != nil {
		t.Error("test examples are scored as OOD")
	}
	if got, want := *groups[2].ByEnergy, *uq.Detect(a.Test.Energy, a.Groups[0].Energy, float64(d.Threshold)); got != want {
		t.Errorf("by energy %+v, want %+v", got, want)
	}
	if got, want := *groups[2].ByMeanLogits, *uq.Detect(a.Test.MeanLogits, a.Groups[0].MeanLogits, float64(d.MeanLogits)); got != want {
		t.Errorf("by mean logits %+v, want %+v", got, want)
	}
	if float64(groups[2].ByEnergy.AUROC) != float64(*groups[2].AUROCEnergy) || groups[2].ByEnergy.Threshold != d.Threshold {
		t.Errorf("AUROC %v, threshold %v", groups[2].ByEnergy.AUROC, groups[2].ByEnergy.Threshold)
	}
	if without := evaluated(t, e, p).Metrics.Groups[2]; without.ByEnergy != nil || without.ByMeanLogits != nil {
		t.Error("without a decision it is scored")
	}
}

// TestPredictDecides: the CSV has energy and foreign after abstain, by the kept threshold, and is known by its header; the NPY stays
// as it is.
func TestPredictDecides(t *testing.T) {
	text := testkit.Table(200, "yes", "no", "perhaps")
	p := problem(t, text, true, false)
	run := predictor(t, p, 3, nn.Categorical{})
	run.Decision = decided(t, run.Posterior, p.Validate)
	in := saved(t, "in.csv", text)
	for _, meanLogits := range []bool{false, true} {
		run.MeanLogits = meanLogits
		table := predicted(t, run, in)
		head := strings.Join(table[0], ",")
		if head != "row,class,p_no,p_perhaps,p_yes,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,energy,foreign,missing,outside" || !IsPredictions([]byte(head+"\n")) {
			t.Errorf("columns %s", head)
		}
		tau, foreign := float64(run.Decision.Threshold), 0
		if meanLogits {
			tau = float64(run.Decision.MeanLogits)
		}
		for r, row := range table[1:] {
			if row[8] != "" {
				t.Fatalf("row %d: abstain is %q", r, row[8])
			}
			want := "0"
			if testkit.Number(t, row[9]) > tau {
				want = "1"
				foreign++
			}
			if row[10] != want {
				t.Fatalf("row %d: energy %s, threshold %v, foreign %s", r, row[9], tau, row[10])
			}
		}
		if foreign == 0 || foreign == len(table)-1 {
			t.Errorf("%d of %d rows are foreign", foreign, len(table)-1)
		}
	}
}

// TestReadDecision: a file that no run writes is refused, with the reason.
func TestReadDecision(t *testing.T) {
	for text, want := range map[string]string{
		`{"pass": 0.95, "by": "entropy", "threshold": 1, "threshold_mean_logits": 1, "n": 3}`: `decides by "entropy"`,
		`{"pass": 0, "by": "energy", "threshold": 1, "threshold_mean_logits": 1, "n": 3}`:     "accepts a share of 0",
		`{"pass": 0.95, "by": "energy", "threshold": "NaN", "threshold_mean_logits": 1}`:      "not finite",
		`{"pass": 0.95, "by": "energy", "tau": 1}`:                                            "tau",
		`{`: "cut off",
	} {
		if _, err := ReadDecision([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if d := (&Foreign{Pass: 0.95, By: "energy", Threshold: uq.Number(math.Inf(-1))}); d.check() == nil {
		t.Error("an infinite threshold")
	}
}

// TestDecideUndefined: where the threshold would not be finite there is no decision, and a finding says of how many examples the energy
// is not. One such example of many is above any threshold, and leaves it as it is.
func TestDecideUndefined(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	e := ensemble(t, network(t, 3, nn.Categorical{}), 2, 6, bnn.Equal{})
	broken := *e
	broken.Theta = slices.Repeat([]float32{math.MaxFloat32}, len(e.Theta))
	lessons := (&data.Problem{Validate: p.Validate}).Lessons()
	d, found, err := Decide(t.Context(), &Ensembles{Posterior: &broken}, lessons, nil, nil, 0, nil)
	if err != nil || d != nil || len(found) != 1 || found[0].Kind != "no-threshold" {
		t.Fatalf("%+v, %v, %v", d, found, err)
	}
	if n := found[0].Numbers["examples"]; int(n) != p.Validate.Len() || found[0].Numbers["count"] != n {
		t.Errorf("%v of %v examples", found[0].Numbers["count"], n)
	}
	if _, found, err := Decide(t.Context(), &Ensembles{Posterior: e}, lessons, nil, nil, 0, nil); err != nil || found != nil {
		t.Errorf("a decision that can be made: %v, %v", found, err)
	}
}

// TestForLast: the threshold of m members is that of an ensemble of these alone.
func TestForLast(t *testing.T) {
	p := problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false)
	e := ensemble(t, network(t, 3, nn.Categorical{}), 1, 6, bnn.Equal{})
	d := e.Net.Dim()
	two := &bnn.Ensemble{Net: e.Net, Theta: e.Theta[4*d:], Island: e.Island[4:], LogEvidence: e.LogEvidence, LogWeights: slices.Clone(e.LogWeights[4:])}
	total := math.Log(math.Exp(two.LogWeights[0]) + math.Exp(two.LogWeights[1]))
	for j := range two.LogWeights {
		two.LogWeights[j] -= total
	}
	want := decided(t, two, p.Validate)
	got, _, err := ForLast(t.Context(), e, 2, (&data.Problem{Validate: p.Validate}).Lessons(), nil)
	if err != nil || math.Abs(float64(got.Threshold-want.Threshold)) > 1e-12 || math.Abs(float64(got.MeanLogits-want.MeanLogits)) > 1e-12 {
		t.Errorf("%+v, want %+v (%v)", got, want, err)
	}
	if all := decided(t, e, p.Validate); all.Threshold == want.Threshold {
		t.Error("all members have the same threshold: the test says nothing")
	}
}

// FuzzReadDecision: what reads has thresholds that decide, is written as it was, and decides of rows of classes and of numbers or says why it
// cannot.
func FuzzReadDecision(f *testing.F) {
	f.Add([]byte(`{"pass": 0.95, "by": "energy", "threshold": 1, "threshold_mean_logits": -1e300, "n": 3}`))
	f.Add([]byte(`{"pass": 0.95, "by": "energy", "threshold": "NaN", "threshold_mean_logits": 1}`))
	f.Add([]byte(`{"by": "energy", "by": "entropy"}`))
	f.Add([]byte(`{"decide": {"temperature": true, "sets": {"score": "aps", "rate": 0.9}, "abstain": {"by": "entropy", "at": {"risk": 0.02}}}, "seed": 1, "weights": "",
		"from": {"calibrate": "a"}, "temperature": {"posterior": 0.7, "map": 1}, "sets": {"examples": 9, "thresholds": [0.5, 0.7]}, "abstain": {"threshold": "-Infinity", "kept": false, "examples": 9}}`))
	f.Add([]byte(`{"decide": {"abstain": {"by": "classifier", "at": "f1"}}, "seed": 1, "weights": "", "from": {},
		"classifier": {"mean": [1], "sd": [1], "theta": [1], "epochs": 1, "nll": 1}, "abstain": {"threshold": 0.5, "kept": true, "examples": 9}}`))
	f.Add([]byte(`{"decide": {"sets": {"rate": 0.9}, "abstain": {"by": "sd", "at": 2}}, "seed": 1, "weights": "", "from": {},
		"factor": {"posterior": 1.5}, "intervals": {"examples": 9, "widen": 1e308, "rates": [{"rate": 0.5, "widen": 0}]}, "abstain": {"threshold": 2, "kept": true, "examples": 0}}`))
	m := uq.NewMixture(2, 3)
	m.WatchTops()
	m.Add(1, uq.Probabilities([]float64{0.2, 0.5, 0.3, math.NaN(), 0, 1}, 3))
	classes := m.Predictive()
	numbers := &predictedNumbers{mean: []float64{1}, rows: &decide.Rows{SD: []float64{2}}, low: [][]float64{{0}}, high: [][]float64{{3}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := ReadDecision(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := jsontext.Write(&b, d); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadDecision(b.Bytes()); err != nil || !reflect.DeepEqual(again, d) || d.Foreign != nil && !finite(float64(d.Threshold)) {
			t.Errorf("%s became %+v, %v", text, again, err)
		}
		if l := d.Learnt; l != nil {
			if v, err := l.classes(t.Context(), classes, 1, partFile, 0, nil); err == nil && l.Sets != nil && len(v.sets[1]) != 3 {
				t.Errorf("%s: the set of a row that is NaN is %v", text, v.sets[1])
			}
			l.numbers(numbers)
		}
	})
}
