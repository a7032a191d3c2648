package eval

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/nn"
)

// TestErrorOfNumbers: an answer is wrong that is off by more than the tolerance. Without one no share of wrong answers is told, rather than 0.
func TestErrorOfNumbers(t *testing.T) {
	p := lessonsOf(t, false)
	e := &Ensembles{Posterior: ensemble(t, network(t, 1, nn.Gaussian{SD: nn.Learned}), 1, 4, bnn.Equal{})}
	judged := func(a decide.Abstain) (*Abstention, *Assessment) {
		e.Decision, _ = learned(t, p, e, decide.Settings{Abstain: &a}, nil)
		v, err := Evaluate(t.Context(), e, p, nil, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.Metrics.Abstention, v
	}
	without, _ := judged(decide.Abstain{By: decide.SD{}, At: decide.Coverage(0.8)})
	if !math.IsNaN(float64(without.Error)) || without.Tolerance != 0 || without.Answered.Wrong+without.Refused.Wrong != 0 {
		t.Errorf("without a tolerance: %+v", without)
	}
	const off = 30
	with, v := judged(decide.Abstain{By: decide.SD{}, At: decide.F1{}, Tolerance: off})
	wrong, answered := 0, 0
	for i, d := range v.Doubts.Doubts {
		if d > v.Rule.Threshold {
			continue
		}
		answered++
		if math.Abs(v.Regression.Mean[i]-v.Regression.Targets[i]) > off {
			wrong++
		}
	}
	if want := float64(wrong) / float64(answered); wrong == 0 || wrong == answered || !(math.Abs(float64(with.Error)-want) < 1e-12) || with.Tolerance != off {
		t.Errorf("%+v, want %d wrong of %d answers", with, wrong, answered)
	}
}
