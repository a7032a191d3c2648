package bnn

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
)

// TestLogDensity against the sum written out: two particles that disagree, with noise of their own, and two outputs. A
// target far from both shows that nothing underflows.
func TestLogDensity(t *testing.T) {
	net := denseNet(t, 1, 2, nn.Gaussian{Learned: true})
	if net.Dim() != 3 {
		t.Fatalf("%d parameters", net.Dim())
	}
	theta := []float32{1, -1, 0 /* σ 1 */, 3, 2, -1 /* σ 1/e */}
	w := []float64{0.25, 0.75}
	e := &Ensemble{Net: net, Theta: theta, LogWeights: []float64{math.Log(w[0]), math.Log(w[1])}, Island: []int32{0, 0}, LogEvidence: []float64{0}}
	set := &data.Set{Name: "two", Shape: []int{1}, F32: []float32{1, 1, 1}, Values: []float32{1, -1, 2, 0.5, 500, 2}, Outputs: 2}
	got, err := e.LogDensity(t.Context(), set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		terms := make([]float64, 2)
		for j, mu := range [][]float64{{1, -1}, {3, 2}} {
			sd := math.Exp(float64(-j))
			terms[j] = math.Log(w[j])
			for c := range 2 {
				z := (float64(set.Values[2*i+c]) - mu[c]) / sd
				terms[j] -= 0.5*z*z + math.Log(sd) + 0.5*math.Log(2*math.Pi)
			}
		}
		top := max(terms[0], terms[1])
		want := top + math.Log(math.Exp(terms[0]-top)+math.Exp(terms[1]-top))
		if !(math.Abs(got[i]-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("example %d: %v, want %v", i, got[i], want)
		}
	}
	set.Values = nil
	if _, err := e.LogDensity(t.Context(), set, pool.New(1)); err == nil || !strings.Contains(err.Error(), "0 target values") {
		t.Errorf("without targets: %v", err)
	}
}
