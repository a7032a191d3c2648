package starling

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/smc"
)

// TestSamplingEvent: one island has not begun, two run, one has ended.
func TestSamplingEvent(t *testing.T) {
	r := &run{}
	r.Spec.Method.MCMC = &MCMC{}
	w := newWatch(t.Context(), r, slices.Repeat([]*smc.Sampler{{Particles: 5}}, 4))
	w.islands[1].info = smc.Info{K: 3, Progress: 0.5, Lambda: 0.25, Epochs: 8, ESS: 4, Acceptance: 0.75, Step: 0.5, Ancestors: 2}
	w.islands[2].info = smc.Info{K: 2, Progress: 0.25, Lambda: 0.5, Epochs: 4, ESS: 3, Acceptance: 0.25, Step: 0.25, Ancestors: 5}
	w.islands[3].info = smc.Info{K: 9, Progress: 1, Lambda: 1, Epochs: 20, ESS: 1, Acceptance: 0.125, Step: 3, Ancestors: 1}
	want := &Sampling{
		Islands: 4, Done: 1, Share: 1.75 / 4, Epochs: 32.0 / 4, Temperature: 0.25,
		Iteration: 2.5, ESS: 3.5, Acceptance: 0.5, Step: 0.375, Ancestors: 3.5, Particles: 5,
	}
	if d := cmp.Diff(want, w.event()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLogLikelihood: a dead particle does not count, whatever it remembers.
func TestLogLikelihood(t *testing.T) {
	for _, dead := range []float64{-1e9, math.NaN(), math.Inf(-1)} {
		st := &smc.State{LogW: []float64{-0.5, math.Inf(-1), -40}}
		st.LL = []float64{-3, dead, -8}
		if got := logLikelihood(st); got != -5.5 {
			t.Errorf("with a dead particle at %v the mean is %v, want -5.5", dead, got)
		}
	}
}

// TestPowerEvent: smooth annealing shows the power of the newest block, whatever the examples so far stand for.
func TestPowerEvent(t *testing.T) {
	for _, c := range []struct {
		scale  bool
		lambda float64
	}{{false, .5}, {true, 2}} {
		r := &run{}
		r.Data = &data.Problem{Train: &data.Set{Shape: []int{1}, U8: make([]uint8, 40)}}
		r.Spec.Method.SMC = &SMC{Path: Path{SDA: &Schedule{Scale: c.scale}}}
		w := newWatch(t.Context(), r, []*smc.Sampler{{Particles: 5}})
		w.islands[0].info = smc.Info{K: 3, Progress: 0.5, Lambda: c.lambda, Examples: 10}
		if got := w.event().Temperature; got != .5 {
			t.Errorf("scale %v: power %v, want 0.5", c.scale, got)
		}
	}
}

// TestDescentShare: nothing is done, none has ended, one has, one takes longer than those before, all have.
func TestDescentShare(t *testing.T) {
	for _, c := range []struct {
		made  []int
		ended []bool
		want  float64
	}{
		{[]int{0, 0}, []bool{false, false}, 0},
		{[]int{30, 0}, []bool{false, false}, 30.0 / 200},
		{[]int{40, 10}, []bool{true, false}, 50.0 / 80},
		{[]int{40, 60, 0}, []bool{true, false, false}, 100.0 / (40 + 61 + 40)},
		{[]int{40, 61}, []bool{true, true}, 1},
	} {
		if got := descent(c.made, c.ended, 100); got != c.want {
			t.Errorf("%v, ended %v: share %v, want %v", c.made, c.ended, got, c.want)
		}
	}
}

// TestStuckChains: steps that are far too long are never accepted, and the notes say which chains they are; short ones
// are no trouble.
func TestStuckChains(t *testing.T) {
	const method = "method={mcmc: {chains: 2, epochs: 6, keep: last, move: {hmc: {steps: 1, step: "
	notes := fit(t, trees(t, method+"1000}}}}"), Options{}).Notes
	if len(notes) != 3 || !strings.Contains(notes[1], "chain 0 is stuck") || !strings.Contains(notes[2], "chain 1 is stuck") {
		t.Errorf("chains that cannot move: notes %q", notes)
	}
	if notes := fit(t, trees(t, method+"1e-4}}}}"), Options{}).Notes; len(notes) != 1 {
		t.Errorf("chains that move: notes %q", notes)
	}
}

// TestChainsNote against the trace: the range over chains of their last log-likelihoods and of their mean acceptance in
// the second half.
func TestChainsNote(t *testing.T) {
	r := fit(t, trees(t, "method={mcmc: {chains: 3, epochs: 20, keep: last, move: {hmc: {steps: 1}}}}"), Options{})
	var end, acceptance []float64
	for c := range 3 {
		chain := r.Trace[20*c : 20*c+20]
		end = append(end, float64(chain[19].LogLikelihood))
		sum := 0.0
		for _, line := range chain[10:] {
			sum += line.Acceptance / 10
		}
		acceptance = append(acceptance, sum)
	}
	slices.Sort(end)
	slices.Sort(acceptance)
	want := fmt.Sprintf("log-likelihoods of %.1f to %.1f; they accepted %.2f to %.2f of", end[0], end[2], acceptance[0], acceptance[2])
	if !strings.Contains(r.Notes[0], want) {
		t.Errorf("note %q, want %q", r.Notes[0], want)
	}
}

// followed is a run on 40 examples that are all kept, with 15 to test.
func followed(t *testing.T, sets ...string) Spec {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for part, n := range map[string]int{"train": 40, "test": 15} {
		var x []float64
		labels := []byte{0, 0, 8, 1, 0, 0, 0, byte(n)} // IDX: bytes of one dimension
		for i := range n {
			a, b := math.Sin(float64(3*i+n)), math.Cos(float64(i*i))
			x, labels = append(x, a, b), append(labels, byte(a+b+2))
		}
		var inputs bytes.Buffer
		if err := data.WriteNPY(&inputs, []int{n, 2}, x); err != nil {
			t.Fatal(err)
		}
		save(t, file(part+".npy"), inputs.Bytes())
		save(t, file(part+".idx"), labels)
	}
	spec, err := ParseSpec("followed.yaml", fmt.Appendf(nil, `
name: followed
data: {train: {inputs: %[1]strain.npy, targets: %[1]strain.idx}, test: {inputs: %[1]stest.npy, targets: %[1]stest.idx}, whole: true}
model: {layers: [{dense: 4}, tanh, {dense: 4}], likelihood: categorical}
prior: {normal: {variance: 1}}
method: {smc: {particles: 5, islands: 2, path: {linear: {iterations: 22, batch: 8, grow: 5}}, move: {leapfrog: {steps: 2, step: 0.05}}}}
`, dir+string(filepath.Separator)), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestFollowed: where all examples are kept, the trace has every 20 iterations and at the end what the particles are worth
// together on the test examples, by their weights. Nothing depends on it: with the same examples to validate, which are
// scored in every iteration in place of it, the posterior is the same.
func TestFollowed(t *testing.T) {
	spec := followed(t)
	r := fit(t, spec, Options{})
	islands, err := split(r.Posterior)
	if err != nil {
		t.Fatal(err)
	}
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
	v := fit(t, validated, Options{})
	if !slices.Equal(v.Posterior.Theta, r.Posterior.Theta) || !slices.Equal(v.Posterior.LogWeights, r.Posterior.LogWeights) {
		t.Error("scores on the test examples change the posterior")
	}
	for _, line := range v.Trace {
		if line.TestNLL != nil || line.ValNLL == nil {
			t.Errorf("with validation examples, k %d: test NLL %v, validation NLL %v", line.K, line.TestNLL, line.ValNLL)
		}
	}
}

// TestFollowedSeconds: by a clock that ticks whenever it is asked, each look at the test examples takes a second, and so
// does judging the result; an interrupted run keeps what its looks took.
func TestFollowedSeconds(t *testing.T) {
	now := time.Unix(1e9, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	one := Options{Threads: 1, now: clock}
	spec := followed(t, "method.smc.islands=1", "method.smc.path={full: {iterations: 61}}")
	r := fit(t, spec, one)
	if want := 4 + 1; r.evaluation != time.Duration(want)*time.Second {
		t.Errorf("evaluation took %v, want %d s: at 20, 40, 60 and 61, and in the end", r.evaluation, want)
	}
	steps := map[float64]int{}
	for k := range r.Trace[1:] {
		steps[r.Trace[k+1].Seconds-r.Trace[k].Seconds]++
	}
	if len(steps) != 2 || steps[2] != 60-3 || steps[3] != 3 { // one tick more, to ask when a look begins
		t.Errorf("seconds between iterations: %v", steps)
	}
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	one.Every = time.Hour
	one.Progress = func(e Event) {
		if s, ok := e.(*Sampling); ok && s.Iteration == 30 {
			cancel()
		}
	}
	if _, err := resume(ctx, dir, spec, one); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if m, err := readManifest(dir); err != nil || m.EvaluationSeconds != 1 {
		t.Errorf("stopped after one look: evaluation took %v s, %v", m.EvaluationSeconds, err)
	}
	if _, err := resume(t.Context(), dir, spec, one); err != nil {
		t.Fatal(err)
	}
	if m, err := readManifest(dir); err != nil || m.EvaluationSeconds != 5 {
		t.Errorf("gone on with: evaluation took %v s, want 5; %v", m.EvaluationSeconds, err)
	}
}

// TestSearchSeconds: of a run that was stopped in the search of point estimates, an hour after it began, and gone on with a day
// later, the hour counts and the day does not.
func TestSearchSeconds(t *testing.T) {
	now := time.Unix(1e9, 0)
	spec := trees(t, "map={restarts: 3, epochs: 4}",
		"method.smc={particles: 3, start: sgd, path: {constant: {iterations: 3, batch: 9}}, move: {leapfrog: {step: 0.05}}}")
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Threads: 1, Every: time.Hour, now: func() time.Time { return now }}
	o.Progress = func(e Event) {
		if d, ok := e.(*Descending); ok && d.Share > 0.5 && ctx.Err() == nil {
			now = now.Add(time.Hour)
			cancel()
		}
	}
	if _, err := resume(ctx, dir, spec, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	now = now.Add(24 * time.Hour)
	r, err := resume(t.Context(), dir, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := readManifest(dir); err != nil || m.WorkSeconds != 3600 || r.Trace[0].Seconds != 3600 {
		t.Errorf("the manifest has %v s, the first iteration %v, want 3600; %v", m.WorkSeconds, r.Trace[0].Seconds, err)
	}
}

// TestLooksShareTheTime: of an hour in which one of two islands that run looks at the test examples, half went into it; of
// one in which both do, all.
func TestLooksShareTheTime(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := &run{begun: now, before: time.Minute, pool: pool.New(2), now: func() time.Time { return now }}
	w := newWatch(t.Context(), r, slices.Repeat([]*smc.Sampler{{Particles: 5}}, 4))
	w.islands[3].info.Progress = 1
	for i, c := range []struct {
		more    int
		seconds float64
	}{{0, 3600}, {1, 3600}, {1, 1800}, {0, 0}, {-1, 0}, {-1, 1800}, {0, 3600}} {
		before := w.seconds()
		now = now.Add(time.Hour)
		if i == 0 && before != 60 {
			t.Errorf("%v s at the start, want those of the process before", before)
		}
		w.pause(c.more)
		if got := w.seconds() - before; got != c.seconds {
			t.Errorf("hour %d: %v s of sampling, want %v", i, got, c.seconds)
		}
	}
	if w.aside != 3*time.Hour {
		t.Errorf("%v went into looking, want 3 h", w.aside)
	}
}
