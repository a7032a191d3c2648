package starling

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/pool"
)

// TestStuckChains: the notes of a run say which chains are stuck, and of chains that move no such thing. The chains keep one state each, and
// their log-likelihoods do not agree after ten moves, but these states predict alike: that is for the page.
func TestStuckChains(t *testing.T) {
	const method = "method={mcmc: {chains: 2, epochs: 20, keep: last, move: {hmc: {steps: 1, step: "
	notes := fitted(t, trees(t, method+"1000}}}}"), Options{}).Notes()
	if len(notes) != 4 || !strings.Contains(notes[2], "chains 0 and 1 are stuck") || !strings.Contains(notes[3], "diverged") {
		t.Errorf("chains that cannot move: notes %q", notes)
	}
	if notes := fitted(t, trees(t, method+"1e-2}}}}"), Options{}).Notes(); len(notes) != 2 { // of the search, and where the chains end
		t.Errorf("chains that move: notes %q", notes)
	}
}

// TestFollowed: where all examples are kept, the trace has every 20 iterations and at the end what the particles are worth
// together on the test examples, by their weights. Nothing depends on it: with the same examples to validate, which are
// scored in every iteration in place of it, the posterior is the same.
func TestFollowed(t *testing.T) {
	spec := followed(t)
	r := fitted(t, spec, Options{})
	islands := split(t, r.Posterior)
	for _, line := range r.Trace {
		if line.ValNLL != nil || (line.TestNLL != nil) != (line.K == 20 || line.K == 22) || (line.TestAccuracy != nil) != (line.TestNLL != nil) {
			t.Errorf("island %d, k %d: validation NLL %v, test NLL %v, accuracy %v", line.Island, line.K, line.ValNLL, line.TestNLL, line.TestAccuracy)
		}
		if line.K < 22 || line.TestNLL == nil {
			continue
		}
		score := func(e *bnn.Ensemble) (nll, accuracy float64) {
			s, err := e.Evaluate(t.Context(), r.Data.Test, nil, pool.New(1))
			if err != nil {
				t.Fatal(err)
			}
			return float64(s.NLL), float64(s.Accuracy)
		}
		e := islands[line.Island]
		nll, accuracy := score(e)
		if !(math.Abs(nll-float64(*line.TestNLL)) <= 1e-9) || accuracy != float64(*line.TestAccuracy) {
			t.Errorf("island %d ends at test NLL %v, accuracy %v, the trace has %v, %v", line.Island, nll, accuracy, *line.TestNLL, *line.TestAccuracy)
		}
		alike := *e
		alike.LogWeights = make([]float64, e.Size())
		if nll, _ := score(&alike); !(math.Abs(nll-float64(*line.TestNLL)) > 1e-3) {
			t.Errorf("island %d: the weights change nothing: take a seed that shows more", line.Island)
		}
	}
	validated := spec
	validated.Data.Validate = spec.Data.Test
	v := fitted(t, validated, Options{})
	if !slices.Equal(v.Posterior.Theta, r.Posterior.Theta) || !slices.Equal(v.Posterior.LogWeights, r.Posterior.LogWeights) {
		t.Error("scores on the test examples change the posterior")
	}
	for _, line := range v.Trace {
		if line.TestNLL != nil || line.ValNLL == nil {
			t.Errorf("with validation examples, k %d: test NLL %v, validation NLL %v", line.K, line.TestNLL, line.ValNLL)
		}
	}
}

// TestFollowedSeconds: by a clock that ticks whenever it is asked, each evaluation on the test examples takes a second, and so
// does that of the result; an interrupted run keeps what its evaluations took.
func TestFollowedSeconds(t *testing.T) {
	now := time.Unix(1e9, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	one := Options{Threads: 1, now: clock}
	spec := followed(t, "method.smc.islands=1", "method.smc.path={full: {iterations: 61}}")
	r := fitted(t, spec, one)
	if want := 4 + 1; r.Manifest.EvaluationSeconds != float64(want) {
		t.Errorf("evaluation took %v s, want %d s: at 20, 40, 60 and 61, and in the end", r.Manifest.EvaluationSeconds, want)
	}
	steps := map[float64]int{}
	for k := range r.Trace[1:] {
		steps[r.Trace[k+1].Seconds-r.Trace[k].Seconds]++
	}
	if len(steps) != 2 || steps[1] != 60-4 || steps[2] != 4 { // one tick more, to ask when an evaluation begins
		t.Errorf("seconds between iterations: %v", steps)
	}
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	one.Every = time.Hour
	one.Progress = func(e Event) {
		if p, ok := e.(*Progress); ok && p.Share >= 30.0/61 && ctx.Err() == nil {
			cancel()
		}
	}
	if _, err := resume(ctx, dir, spec, one); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if m := readManifest(t, dir); m.EvaluationSeconds != 1 {
		t.Errorf("stopped after one evaluation: it took %v s", m.EvaluationSeconds)
	}
	if _, err := resume(t.Context(), dir, spec, one); err != nil {
		t.Fatal(err)
	}
	if m := readManifest(t, dir); m.EvaluationSeconds != 5 {
		t.Errorf("resumed: evaluation took %v s, want 5", m.EvaluationSeconds)
	}
}
