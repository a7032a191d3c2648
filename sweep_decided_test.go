package starling

import (
	"math"
	"testing"
)

// TestSweepJudgesUntempered: the validation NLL by which a sweep chooses is the ensemble's own, whatever its temperature: the validation
// examples taught that, so that tempered scores on them would be too good.
func TestSweepJudgesUntempered(t *testing.T) {
	r := fitted(t, trees(t, "data.split={calibrate: 0.3}", "decide={temperature: true}"), Options{})
	if r.Decision == nil || r.Decision.Temperature == nil || !(math.Abs(math.Log(r.Decision.Temperature.Posterior)) > 0.02) {
		t.Fatalf("temperature %+v: the test says nothing", r.Decision)
	}
	judged, err := Criteria[0].Judge(t.Context(), r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Posterior.Predict(t.Context(), r.Data.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	nll := 0.0
	for i, y := range r.Data.Validate.Labels {
		nll -= math.Log(p.Probs[i*p.Classes+int(y)]) / float64(r.Data.Validate.Len())
	}
	if !(math.Abs(judged.Value-nll) < 1e-9) {
		t.Errorf("judged by %v, and the ensemble's NLL is %v", judged.Value, nll)
	}
}
