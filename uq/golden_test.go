package uq

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

type number = golden.Number

func decode(t *testing.T, c golden.Case, inputs, expected any) {
	t.Helper()
	for _, d := range []struct {
		raw json.RawMessage
		to  any
	}{{c.Inputs, inputs}, {c.Expected, expected}} {
		if err := json.Unmarshal(d.raw, d.to); err != nil {
			t.Fatal(err)
		}
	}
}

// near compares within the golden files' tolerance: 1e-12 + 1e-9·|want|; infinities by sign.
func near(t *testing.T, what string, got float64, want number) {
	t.Helper()
	w := float64(want)
	if got == w || math.Abs(got-w) <= 1e-12+1e-9*math.Abs(w) {
		return
	}
	t.Errorf("%s is %v, want %v", what, got, w)
}

func nearAll(t *testing.T, what string, got []float64, want []number) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		near(t, what+"["+strconv.Itoa(i)+"]", got[i], want[i])
	}
}

func flat(rows [][]number) []float64 {
	var x []float64
	for _, r := range rows {
		for _, v := range r {
			x = append(x, float64(v))
		}
	}
	return x
}

func floats(x []number) []float64 { return flat([][]number{x}) }

func TestGoldenMetrics(t *testing.T) {
	var later []string
	for _, c := range golden.Read(t, "metrics.json") {
		if slices.Contains([]string{"crps_ensemble", "crps_gaussian", "crps_gaussian_mixture", "energy", "meta_classifier", "regression", "acf", "ks"}, c.Kind) {
			later = append(later, c.Name)
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			switch c.Kind {
			case "classification":
				goldenClassification(t, c)
			case "entropy":
				goldenEntropy(t, c)
			case "ood":
				var in struct {
					ID  []number `json:"energy_id"`
					OOD []number `json:"energy_ood"`
				}
				var want struct{ AUROC, FPR95 number }
				decode(t, c, &in, &want)
				near(t, "AUROC", AUROC(floats(in.ID), floats(in.OOD)), want.AUROC)
				near(t, "FPR95", FPR95(floats(in.ID), floats(in.OOD)), want.FPR95)
			default:
				t.Fatalf("unknown kind %q", c.Kind)
			}
		})
	}
	t.Logf("scores that do not exist yet: %s", strings.Join(later, ", "))
}

func goldenClassification(t *testing.T, c golden.Case) {
	var in struct {
		Probs  [][]number
		Labels []int32
		Bins   int
	}
	var want struct {
		Accuracy, NLL, ECE, MCE number
		BrierSum                number   `json:"brier_sum"`
		Count                   []int    `json:"bin_count"`
		BinAccuracy             []number `json:"bin_accuracy"`
		BinConfidence           []number `json:"bin_confidence"`
	}
	decode(t, c, &in, &want)
	probs, classes := flat(in.Probs), len(in.Probs[0])
	near(t, "accuracy", Accuracy(probs, classes, in.Labels), want.Accuracy)
	near(t, "NLL", NLL(probs, classes, in.Labels), want.NLL)
	near(t, "Brier", Brier(probs, classes, in.Labels), want.BrierSum)
	bins := Reliability(probs, classes, in.Labels, in.Bins)
	near(t, "ECE", ECE(bins), want.ECE)
	if len(bins) != len(want.Count) {
		t.Fatalf("%d bins, want %d", len(bins), len(want.Count))
	}
	mce := 0.0
	for b, w := range want.Count {
		if bins[b].Count != w {
			t.Errorf("bin %d holds %d examples, want %d", b, bins[b].Count, w)
		}
		near(t, "bin accuracy", bins[b].Accuracy, want.BinAccuracy[b])
		near(t, "bin confidence", bins[b].Confidence, want.BinConfidence[b])
		mce = max(mce, math.Abs(bins[b].Accuracy-bins[b].Confidence))
	}
	near(t, "largest bin error", mce, want.MCE)
}

// The moments of the largest probability and of the gap belong to the meta-classifier, which does not exist yet.
func goldenEntropy(t *testing.T, c golden.Case) {
	var in struct {
		Probs   [][][]number
		Weights []number
	}
	var want struct {
		Mean                        [][]number `json:"mean_probs"`
		Total, Aleatoric, Epistemic []number
	}
	decode(t, c, &in, &want)
	m := NewMixture(len(in.Probs[0]), len(in.Probs[0][0]))
	for j, w := range in.Weights {
		m.Add(float64(w), flat(in.Probs[j]))
	}
	p := m.Predictive()
	nearAll(t, "mean probability", p.Probs, slices.Concat(want.Mean...))
	nearAll(t, "total", p.Total, want.Total)
	nearAll(t, "aleatoric", p.Aleatoric, want.Aleatoric)
	nearAll(t, "epistemic", p.Epistemic, want.Epistemic)
}

func TestGoldenEnsemble(t *testing.T) {
	n := 0
	for _, c := range golden.Read(t, "weights.json") {
		if c.Kind != "ensemble" { // the other kinds are about samplers
			continue
		}
		n++
		t.Run(c.Name, func(t *testing.T) {
			var in struct {
				LogW   []number
				Logits [][][]number
			}
			var want struct {
				Probs  [][]number
				Argmax []int
			}
			decode(t, c, &in, &want)
			rows, classes := len(in.Logits[0]), len(in.Logits[0][0])
			m := NewMixture(rows, classes)
			probs := make([]float64, rows*classes)
			for j, l := range in.LogW {
				Softmax(probs, flat(in.Logits[j]), classes)
				m.Add(math.Exp(float64(l)), probs)
			}
			p := m.Predictive()
			nearAll(t, "probability", p.Probs, slices.Concat(want.Probs...))
			for i, w := range want.Argmax {
				if got := Argmax(p.Probs[i*classes : (i+1)*classes]); got != w {
					t.Errorf("example %d is of class %d, want %d", i, got, w)
				}
			}
		})
	}
	if n == 0 {
		t.Error("no case of kind ensemble")
	}
}
