package starling

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// TestCombine: what is shown, saved and served is weighted as the method says; both ways are computed.
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

// TestScoresAreInTheTargetsUnits: the same table with targets 1024·y, which rounds nothing, is the same to a network that
// learns standardised targets. Package eval tests each score; this test has those that a run computes on its way.
func TestScoresAreInTheTargetsUnits(t *testing.T) {
	text, err := os.ReadFile("testdata/wave.csv")
	if err != nil {
		t.Fatal(err)
	}
	const factor = 1024
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		y, err := strconv.ParseFloat(cells[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		cells[2] = strconv.FormatFloat(factor*y, 'g', -1, 64)
		lines[i+1] = strings.Join(cells, ",")
	}
	large := regression(t, "both")
	csv := *large.Data.CSV
	csv.File = filepath.Join(t.TempDir(), "large.csv")
	large.Data.CSV = &csv
	if err := os.WriteFile(csv.File, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var told []string
	fit := func(spec Spec) *Result {
		spec.MAP = &method.Search{Restarts: 2, Rate: 0.01, Batch: 50, Epochs: 4, Start: bnn.FromPrior{}, Keep: method.KeepBestEpoch, Patience: 2, Optimiser: nn.SGD{}, Schedule: nn.Constant{}}
		best := ""
		r := fitted(t, spec, Options{Progress: func(e Event) {
			if p, ok := e.(*Progress); ok && p.Phase == "MAP" {
				best = p.Long
			}
		}})
		told = append(told, best)
		return r
	}
	a, b := fit(regression(t, "both")), fit(large)
	if best := a.NLL[a.Chosen]; best != slices.Min(a.NLL) || !strings.HasSuffix(told[0], fmt.Sprintf(" validation NLL %.3f", best)) || b.Chosen != a.Chosen {
		t.Errorf("restart %d of %v is chosen, %q was told", a.Chosen, a.NLL, told[0])
	}
	density, err := member(a.Restarts, 1).LogDensity(t.Context(), a.Data.Validate, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Log(a.Data.Schema.Targets.SD[0]) - uq.Mean(density); !(math.Abs(a.NLL[1]-want) <= 1e-5) {
		t.Errorf("restart 1 has validation NLL %v, its density %v", a.NLL[1], want)
	}
	if best := b.NLL[b.Chosen]; !strings.HasSuffix(told[1], fmt.Sprintf(" validation NLL %.3f", best)) {
		t.Errorf("%q was told of a best NLL of %v", told[1], best)
	}
	if !slices.Equal(a.Posterior.Theta, b.Posterior.Theta) {
		t.Fatal("the networks differ")
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"RMSE", float64(*b.Metrics.RMSE), factor * float64(*a.Metrics.RMSE)},
		{"NLL", float64(b.Metrics.NLL), float64(a.Metrics.NLL) + math.Log(factor)},
		{"validation NLL", float64(*b.Trace[0].ValNLL), float64(*a.Trace[0].ValNLL) + math.Log(factor)},
		{"restart's NLL", b.NLL[1], a.NLL[1] + math.Log(factor)},
	} {
		if !golden.Near(c.got, c.want, 1e-9, 0) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	// The targets that come back are those of the file.
	for _, y := range a.Regression.Targets {
		if !(math.Abs(y*1000-math.Round(y*1000)) <= 1e-3) {
			t.Errorf("target %v is none of wave.csv, which has three decimals", y)
		}
	}
}
