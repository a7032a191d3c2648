package decide

import (
	"encoding/json"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/uq"
)

// TestGoldenMetaClassifier: scores of wrong answers and what should abstain, at the threshold .5 and at that of the best F1.
func TestGoldenMetaClassifier(t *testing.T) {
	seen := 0
	for _, c := range golden.Read(t, "metrics.json") {
		if c.Kind != "meta_classifier" {
			continue
		}
		seen++
		var in struct {
			Score []float64 `json:"score_incorrect"`
			Z     []int     `json:"z_incorrect"`
		}
		var want struct {
			Default       struct{ Precision, Recall, F1 uq.Number }
			AUC           uq.Number `json:"auc_roc"`
			BestF1        uq.Number `json:"best_f1"`
			BestThreshold uq.Number `json:"best_threshold_first"`
			TwoLevel      uq.Number `json:"two_level_accuracy_at_0.5"`
		}
		if err := json.Unmarshal(c.Inputs, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want uq.Number) {
			if !golden.Near(float64(got), float64(want), 1e-9, 1e-12) {
				t.Errorf("%s: %s is %v, want %v", c.Name, what, got, want)
			}
		}
		// The last positive answers stand as foreign inputs: nothing but their number may change.
		var x Examples
		for i, z := range in.Z {
			if z == 1 && i >= 30 {
				x.Foreign = append(x.Foreign, in.Score[i])
			} else {
				x.Doubts, x.Wrong = append(x.Doubts, in.Score[i]), append(x.Wrong, z == 1)
			}
		}
		v := Judge(x, 0.5)
		near("precision", v.Precision, want.Default.Precision)
		near("recall", v.Recall, want.Default.Recall)
		near("F1", v.F1, want.Default.F1)
		near("two-level accuracy", v.TwoLevel, want.TwoLevel)
		near("AUC", uq.Number(AUC(x)), want.AUC)
		rule, err := Abstain{By: Classifier{}, At: F1{}}.Choose(x)
		if err != nil {
			t.Fatal(err)
		}
		near("threshold of the best F1", uq.Number(rule.Threshold), want.BestThreshold)
		near("best F1", Judge(x, rule.Threshold).F1, want.BestF1)
	}
	if seen == 0 {
		t.Error("no case of kind meta_classifier")
	}
}
