package starling

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/smc"
)

// TestCombine: what is shown, saved and served is weighed as the method says; both ways are computed.
func TestCombine(t *testing.T) {
	for _, by := range []string{"equal", "evidence"} {
		r := fitted(t, trees(t, "method.smc.combine="+by), Options{})
		want := r.Metrics.Combined.By("equal")
		if by == "evidence" {
			want = r.Metrics.Combined.By("evidence")
		}
		if d := cmp.Diff(*want, r.Metrics.Evaluation); d != "" {
			t.Errorf("%s: metrics are not those of combined.%s:\n%s", by, by, d)
		}
		if d := cmp.Diff(r.Metrics.Combined.By("equal"), r.Metrics.Combined.By("evidence")); d == "" {
			t.Error("equal weights and evidence give the same figures")
		}
		omega := make([]float64, len(r.Posterior.LogEvidence))
		for j, l := range r.Posterior.LogWeights {
			omega[r.Posterior.Island[j]] += math.Exp(l)
		}
		combined, err := smc.Combine(r.Posterior.LogEvidence)
		if err != nil {
			t.Fatal(err)
		}
		for p, w := range omega {
			want := combined.Omega[p]
			if by == "equal" {
				want = 1 / float64(len(omega))
			}
			if !(math.Abs(w-want) <= 1e-12) {
				t.Errorf("%s: island %d has weight %v, want %v", by, p, w, want)
			}
		}
	}
}

// TestEvaluatedOn: figures are of the test part, or of the training part where nothing is held out.
func TestEvaluatedOn(t *testing.T) {
	r := fitted(t, trees(t), Options{})
	if m := r.Metrics; m.On != "test" || m.N != 9 || m.MAP.N != 9 || r.Data.Train.Len() != 72 {
		t.Errorf("evaluated on %s, %d examples, of %d to train", m.On, m.N, r.Data.Train.Len())
	}
}

// TestRegressionScores: a likelihood of numbers gives scores of numbers.
func TestRegressionScores(t *testing.T) {
	r := fitted(t, regression(t, "inputs"), Options{})
	m := r.Metrics
	if m.Accuracy != nil || m.RMSE == nil || !(float64(*m.RMSE) > 0 && float64(*m.RMSE) < 1) {
		t.Errorf("metrics %+v", m)
	}
}

// TestValidation: restarts are chosen, and the trace's figures taken, on the validation examples; the MAP that is evaluated
// is the chosen one.
func TestValidation(t *testing.T) {
	r := fitted(t, trees(t), Options{})
	score := func(e *bnn.Ensemble, set *data.Set) float64 {
		s, err := e.Evaluate(context.Background(), set, nil, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		return float64(s.NLL)
	}
	for k, nll := range r.NLL {
		if got := score(member(r.Restarts, k), r.Data.Validate); !(math.Abs(got-nll) <= 1e-5) {
			t.Errorf("restart %d has validation NLL %v, kept as %v", k, got, nll)
		}
	}
	if r.Chosen == 0 {
		t.Error("restart 0 is chosen: take a seed that shows more")
	}
	if got := score(member(r.Restarts, r.Chosen), r.Data.Test); float64(r.Metrics.MAP.NLL) != got {
		t.Errorf("the MAP is evaluated at %v, the chosen restart is worth %v", r.Metrics.MAP.NLL, got)
	}
	islands := split(t, r.Posterior)
	for _, line := range r.Trace {
		if line.Lambda == 1 {
			if got := score(islands[line.Island], r.Data.Validate); !(math.Abs(got-float64(*line.ValNLL)) <= 1e-9) {
				t.Errorf("island %d ends at validation NLL %v, the trace has %v", line.Island, got, *line.ValNLL)
			}
		}
	}
}
