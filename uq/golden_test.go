package uq

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

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

// near compares within the golden files' tolerance: 1e-12 + 1e-9·|want|. It wants the same infinity for an infinity.
func near(t *testing.T, what string, got float64, want Number) {
	t.Helper()
	if w := float64(want); !golden.Near(got, w, 1e-9, 1e-12) {
		t.Errorf("%s is %v, want %v", what, got, w)
	}
}

func nearAll(t *testing.T, what string, got []float64, want []Number) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		near(t, what+"["+strconv.Itoa(i)+"]", got[i], want[i])
	}
}

func flat(rows [][]Number) []float64 {
	var x []float64
	for _, r := range rows {
		for _, v := range r {
			x = append(x, float64(v))
		}
	}
	return x
}

func floats(x []Number) []float64 { return flat([][]Number{x}) }

func TestGoldenMetrics(t *testing.T) {
	kinds := map[string]func(*testing.T, golden.Case){
		"classification": goldenClassification, "entropy": goldenEntropy, "energy": goldenEnergy, "ood": goldenOOD,
		"crps_ensemble": goldenCRPSEnsemble, "crps_gaussian": goldenCRPSNormal, "crps_gaussian_mixture": goldenCRPSMixture,
		"regression": goldenRegression, "ks": goldenKS,
	}
	seen := map[string]bool{}
	for _, c := range golden.Read(t, "metrics.json") {
		seen[c.Kind] = true
		if c.Kind == "acf" || c.Kind == "meta_classifier" { // packages mcmc and decide have these cases
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			test := kinds[c.Kind]
			if test == nil {
				t.Fatalf("unknown kind %q", c.Kind)
			}
			test(t, c)
		})
	}
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no case of kind %q", kind)
		}
	}
}

func goldenClassification(t *testing.T, c golden.Case) {
	var in struct {
		Probs  [][]Number
		Labels []int32
		Bins   int
	}
	var want struct {
		Accuracy, NLL, ECE, MCE Number
		BrierSum                Number   `json:"brier_sum"`
		Count                   []int    `json:"bin_count"`
		BinAccuracy             []Number `json:"bin_accuracy"`
		BinConfidence           []Number `json:"bin_confidence"`
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
		Probs   [][][]Number
		Weights []Number
	}
	var want struct {
		Mean                        [][]Number `json:"mean_probs"`
		Total, Aleatoric, Epistemic []Number
	}
	decode(t, c, &in, &want)
	m := NewMixture(len(in.Probs[0]), len(in.Probs[0][0]))
	for j, w := range in.Weights {
		m.Add(float64(w), Probabilities(flat(in.Probs[j]), len(in.Probs[0][0])))
	}
	p := m.Predictive()
	nearAll(t, "mean probability", p.Probs, slices.Concat(want.Mean...))
	nearAll(t, "total", p.Total, want.Total)
	nearAll(t, "aleatoric", p.Aleatoric, want.Aleatoric)
	nearAll(t, "epistemic", p.Epistemic, want.Epistemic)
}

// An ensemble's energy can be read in two ways: the weighted mean of the particles' energies, and that of mean logits. Package uq has no
// temperatures other than 1: these cases only show that Energy is right for any logits.
func goldenEnergy(t *testing.T, c golden.Case) {
	var in struct {
		Logits      [][][]Number
		Weights     []Number
		Temperature float64
	}
	var want struct {
		PerMember  [][]Number `json:"energy_per_member"`
		Weighted   []Number   `json:"energy_weighted_mean"`
		MeanLogits []Number   `json:"energy_of_mean_logits"`
		Printed    [][]Number `json:"energy_T_eq78_as_printed"`
		Liu        [][]Number `json:"energy_T_liu2020"`
	}
	decode(t, c, &in, &want)
	n, classes := len(in.Logits[0]), len(in.Logits[0][0])
	energy := func(logits []float64, temperature float64) []float64 {
		m := NewMember(n, classes)
		scaled := make([]float64, len(logits))
		for i, z := range logits {
			scaled[i] = z / temperature
		}
		Softmax(m, scaled)
		return m.Energy
	}
	mix := NewMixture(n, classes)
	for j, w := range in.Weights {
		z := flat(in.Logits[j])
		m := NewMember(n, classes)
		Softmax(m, z)
		mix.Add(float64(w), m)
		nearAll(t, "energy", m.Energy, want.PerMember[j])
		hot := energy(z, in.Temperature)
		nearAll(t, "energy at a temperature", hot, want.Printed[j])
		for i := range hot {
			hot[i] *= in.Temperature
		}
		nearAll(t, "energy at a temperature", hot, want.Liu[j])
	}
	nearAll(t, "weighted mean", mix.Predictive().Energy, want.Weighted)
	nearAll(t, "energy of mean logits", mix.Predictive().MeanLogits, want.MeanLogits)
}

// The other threshold, between two order statistics, is not used here.
func goldenOOD(t *testing.T, c golden.Case) {
	var in struct {
		ID  []Number `json:"energy_id"`
		OOD []Number `json:"energy_ood"`
	}
	var want struct {
		AUROC, FPR95 Number
		Threshold    Number `json:"threshold_order_statistic"`
	}
	decode(t, c, &in, &want)
	near(t, "AUROC", AUROC(floats(in.ID), floats(in.OOD)), want.AUROC)
	near(t, "FPR95", FPR95(floats(in.ID), floats(in.OOD)), want.FPR95)
	near(t, "threshold", Threshold(floats(in.ID), Pass), want.Threshold)
}

// An ensemble without noise is a mixture of points. The fair CRPS, for members that are draws, is not computed.
func goldenCRPSEnsemble(t *testing.T, c golden.Case) {
	var in struct {
		Ensemble   [][]Number
		Y, Weights []Number
	}
	var want struct {
		CRPS []Number
		Mean Number `json:"crps_mean"`
	}
	decode(t, c, &in, &want)
	weights := floats(in.Weights)
	if weights == nil {
		for range in.Ensemble[0] {
			weights = append(weights, 1/float64(len(in.Ensemble[0])))
		}
	}
	var got []float64
	for i, y := range in.Y {
		n := Normals{Weights: weights, Mean: floats(in.Ensemble[i]), SD: make([]float64, len(weights))}
		got = append(got, n.CRPS(float64(y)))
	}
	nearAll(t, "CRPS", got, want.CRPS)
	near(t, "mean CRPS", Mean(got), want.Mean)
}

func goldenCRPSNormal(t *testing.T, c golden.Case) {
	var in struct{ Mu, Sigma, Y []Number }
	var want struct {
		CRPS []Number
		Mean Number `json:"crps_mean"`
		NLL  Number `json:"nll_mean"`
	}
	decode(t, c, &in, &want)
	var crps, nll []float64
	for i, y := range in.Y {
		n := Normals{Weights: []float64{1}, Mean: floats(in.Mu[i : i+1]), SD: floats(in.Sigma[i : i+1])}
		crps, nll = append(crps, n.CRPS(float64(y))), append(nll, -n.LogDensity(float64(y)))
	}
	nearAll(t, "CRPS", crps, want.CRPS)
	near(t, "mean CRPS", Mean(crps), want.Mean)
	near(t, "NLL", Mean(nll), want.NLL)
}

func goldenCRPSMixture(t *testing.T, c golden.Case) {
	var in struct {
		Weights, Sigma, Y []Number
		Mu                [][]Number
	}
	var want struct {
		CRPS, NLL []Number
		Mean      []Number `json:"mixture_mean"`
		Variance  []Number `json:"mixture_var"`
	}
	decode(t, c, &in, &want)
	var crps, nll, means, variances []float64
	for i, y := range in.Y {
		n := Normals{Weights: floats(in.Weights), Mean: floats(in.Mu[i]), SD: floats(in.Sigma)}
		m, aleatoric, epistemic := n.Moments()
		means, variances = append(means, m), append(variances, aleatoric*aleatoric+epistemic*epistemic)
		crps, nll = append(crps, n.CRPS(float64(y))), append(nll, -n.LogDensity(float64(y)))
	}
	nearAll(t, "CRPS", crps, want.CRPS)
	nearAll(t, "NLL", nll, want.NLL)
	nearAll(t, "mean", means, want.Mean)
	nearAll(t, "variance", variances, want.Variance)
}

// The squared bias over the variance is not computed.
func goldenRegression(t *testing.T, c golden.Case) {
	var in struct{ Y, Pred []Number }
	var want struct {
		RMSE, MAE Number
		R2        *Number
		Bias      Number `json:"bias_mean_error"`
		NLL       Number `json:"nll_unit_sigma"`
	}
	decode(t, c, &in, &want)
	pred, y := floats(in.Pred), floats(in.Y)
	near(t, "RMSE", RMSE(pred, y), want.RMSE)
	near(t, "MAE", MAE(pred, y), want.MAE)
	near(t, "bias", Bias(pred, y), want.Bias)
	if r := R2(pred, y); want.R2 != nil {
		near(t, "R²", r, *want.R2)
	} else if !math.IsNaN(r) {
		t.Errorf("R² is %v where the truth does not vary, want NaN", r)
	}
	var nll []float64
	for i := range y {
		nll = append(nll, -(&Normals{Weights: []float64{1}, Mean: pred[i : i+1], SD: []float64{1}}).LogDensity(y[i]))
	}
	near(t, "NLL of unit noise", Mean(nll), want.NLL)
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
				LogW   []Number
				Logits [][][]Number
			}
			var want struct {
				Probs  [][]Number
				Argmax []int
			}
			decode(t, c, &in, &want)
			rows, classes := len(in.Logits[0]), len(in.Logits[0][0])
			m := NewMixture(rows, classes)
			member := NewMember(rows, classes)
			for j, l := range in.LogW {
				Softmax(member, flat(in.Logits[j]))
				m.Add(math.Exp(float64(l)), member)
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

func goldenKS(t *testing.T, c golden.Case) {
	var in struct {
		X        []Number
		Mean, SD Number
	}
	var want struct {
		Two Number `json:"ks_two_sided"`
		One Number `json:"ks_one_sided_eq38"`
	}
	decode(t, c, &in, &want)
	two, one := KS(floats(in.X), func(x float64) float64 { return cdf(x-float64(in.Mean), float64(in.SD)) })
	near(t, "two-sided", two, want.Two)
	near(t, "one-sided", one, want.One)
}
