package eval

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/nn"
)

// TestPredictedNoiseInUnits: one particle predicts N(0, 1), N(1, ½²) and N(−1, 2²) in standardised units, where the target is
// 100 + 8 z: N(100, 8²), N(108, 4²) and N(92, 16²). The targets are 104, 88 and 92: half a standard deviation above, five
// below, and none off.
func TestPredictedNoiseInUnits(t *testing.T) {
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 2, NoBias: true}}, nn.Gaussian{SD: nn.Predicted})
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{0, 1, -1, 0, -math.Ln2, math.Ln2} // the means of the three examples, then their log σ
	e, err := bnn.Combine(net, []bnn.Island{{Theta: theta}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &data.Problem{
		Name: "three", Schema: &data.Schema{Targets: &data.Standard{Mean: []float64{100}, SD: []float64{16}, To: 2}},
		Test: &data.Set{Name: "test", Shape: []int{3}, F32: []float32{1, 0, 0, 0, 1, 0, 0, 0, 1}, Values: []float32{0.5, -1.5, -1}, Outputs: 1},
	}
	a := evaluated(t, e, p)
	r, m := a.Regression, a.Metrics
	cdf := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	crps := func(z float64) float64 { // of N(0, 1), Gneiting and Raftery 2007, eq. (21) without its sign
		return z*(2*cdf(z)-1) + 2*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi)
	}
	const z95 = 1.6448536269514722
	halfLog2Pi := 0.5 * math.Log(2*math.Pi)
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"targets", r.Targets, []float64{104, 88, 92}},
		{"mean", r.Mean, []float64{100, 108, 92}},
		{"noise", r.Aleatoric, []float64{8, 4, 16}},
		{"spread", r.Epistemic, []float64{0, 0, 0}},
		{"5 %", r.Q05, []float64{100 - 8*z95, 108 - 4*z95, 92 - 16*z95}},
		{"median", r.Q50, []float64{100, 108, 92}},
		{"95 %", r.Q95, []float64{100 + 8*z95, 108 + 4*z95, 92 + 16*z95}},
		{"PIT", r.PIT, []float64{cdf(0.5), cdf(-5), 0.5}},
		{"RMSE, MAE, bias", []float64{float64(*m.RMSE), float64(*m.MAE), float64(*m.Bias)}, []float64{math.Sqrt((16 + 400) / 3.), 8, (20. - 4) / 3}},
		{"R²", []float64{float64(*m.R2)}, []float64{1 - 416./(104*104+88*88+92*92-284*284/3.)}},
		{"NLL", []float64{float64(m.NLL)}, []float64{halfLog2Pi + (0.25/2+math.Log(8)+25./2+math.Log(4)+math.Log(16))/3}},
		{"CRPS", []float64{float64(*m.CRPS)}, []float64{(8*crps(0.5) + 4*crps(-5) + 16*crps(0)) / 3}},
		{"coverage", []float64{float64(m.Coverage.In50), float64(m.Coverage.In90), float64(m.Coverage.In95)}, []float64{2. / 3, 2. / 3, 2. / 3}},
		{"mean noise", []float64{float64(m.Spread[0].Aleatoric), float64(m.Spread[0].Epistemic)}, []float64{28. / 3, 0}},
	} {
		if len(c.got) != len(c.want) {
			t.Fatalf("%s: %v, want %v", c.name, c.got, c.want)
		}
		for i := range c.got {
			if !golden.Near(c.got[i], c.want[i], 1e-6, 1e-6) {
				t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
				break
			}
		}
	}
	nll, accuracy, err := Validation(t.Context(), e, p.Test, p, nil)
	if err != nil || accuracy != nil || !golden.Near(float64(nll), float64(m.NLL), 1e-12, 0) {
		t.Errorf("validation NLL %v, %v, %v, metrics have %v", nll, accuracy, err, m.NLL)
	}
}
