package uq

import (
	"encoding/json"
	"math"
	"testing"
)

// The same examples were scored with scikit-learn 1.9.1 (accuracy_score, log_loss, brier_score_loss, roc_auc_score, r2_score,
// root_mean_squared_error, mean_absolute_error), scoringrules 0.10.0 (crps_mixnorm, logs_mixnorm), SciPy 1.17.1 and mpmath;
// AURC with fractions, over every order of ties; ECE with NumPy.

func TestPeersClassification(t *testing.T) {
	const n, classes = 40, 4
	probs, labels := make([]float64, n*classes), make([]int32, n)
	for i := range n {
		p, sum := probs[i*classes:(i+1)*classes], 0.0
		for c := range p {
			p[c] = float64((7*i+3*c*c)*(i+c+1)%23 + 1)
			sum += p[c]
		}
		for c := range p {
			p[c] /= sum
		}
		if labels[i] = int32(Argmax(p)); i%3 == 0 && p[labels[i]] < 0.5 {
			labels[i] = (labels[i] + 1) % classes
		}
	}
	e := Score(probs, classes, labels)
	near(t, "accuracy", float64(e.Accuracy), 0.725)
	near(t, "NLL", float64(e.NLL), 1.1086630281917849)
	near(t, "Brier", float64(e.Brier), 0.5920869435414116)
	near(t, "ECE", float64(e.ECE), 0.3082783539150165)
	near(t, "AURC", float64(e.AURC), 0.2034679731384766)
	all := Evaluate(ensemble(n, classes, probs), labels, nil)
	near(t, "AUROC of wrong answers", float64(*all.Groups[1].AUROCMaxProb), 0.5705329153605015)
	if *all.Groups[1].AUROC != 0.5 || *all.Groups[1].FPR95 != 1 { // one particle has no disagreement
		t.Errorf("epistemic entropy of one particle: AUROC %v, FPR95 %v", *all.Groups[1].AUROC, *all.Groups[1].FPR95)
	}
	near(t, "AURC of one particle's epistemic entropy", float64(*all.AURCEpistemic), 1-0.725)
}

// mixtures are twelve mixtures of five normals, and a value for each.
func mixtures() (mixtures []Normals, truth []float64) {
	for i := range 12 {
		var n Normals
		for j := range 5 {
			n.Weights = append(n.Weights, float64(j+1)/15)
			n.Mean = append(n.Mean, float64((3*i+5*j)*(3*i+5*j)%13)/4)
			n.SD = append(n.SD, 1+float64(j)/4)
		}
		mixtures, truth = append(mixtures, n), append(truth, float64(i*i%7)/2)
	}
	return mixtures, truth
}

func TestPeersRegression(t *testing.T) {
	mixtures, truth := mixtures()
	var means, crps, nll, pit []float64
	for i, n := range mixtures {
		m, _, _ := n.Moments()
		means, crps = append(means, m), append(crps, n.CRPS(truth[i]))
		nll, pit = append(nll, -n.LogDensity(truth[i])), append(pit, n.CDF(truth[i]))
	}
	near(t, "CRPS", Mean(crps), 0.6868907543123172)
	near(t, "NLL", Mean(nll), 1.736854592672815)
	near(t, "RMSE", RMSE(means, truth), 1.0961211071234243)
	near(t, "MAE", MAE(means, truth), 0.8944444444444444)
	near(t, "R²", R2(means, truth), -1.516557575757576)
	near(t, "coverage", Coverage(pit, 0.5), 0.6666666666666666)
	near(t, "coverage", Coverage(pit, 0.95), 1)
	for q, want := range map[float64]float64{0.05: -1.1722724136564468802, 0.5: 1.9758655813170990457, 0.95: 5.0389676229096701585} {
		if got := mixtures[0].Quantile(q); !(math.Abs(got-want) <= 4e-15) {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

// The figures have the same bits on every machine.
func TestRegressionScoresAreFrozen(t *testing.T) {
	mixtures, truth := mixtures()
	var all []float64
	for i, n := range mixtures {
		all = append(all, n.CRPS(truth[i]), n.CDF(truth[i]), n.LogDensity(truth[i]), n.Quantile(0.05), n.Quantile(0.9))
	}
	raw, err := json.Marshal([]float64{Mean(all), all[3], all[59]})
	if want := `[0.3374673287776682,-1.1722724136564469,2.904879155090456]`; err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
}
