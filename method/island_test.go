package method

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// followed are islands on a path of 22 iterations.
func followed() SMC {
	return SMC{
		Particles: 5, Islands: 2, Move: mcmc.Unadjusted{Steps: 2, Step: 0.05},
		Path: smc.Schedule[smc.Linear]{Iterations: 22, Rule: smc.Linear{Batch: 8, Grow: 5}},
	}.Settle(Around{}, unheard()).(SMC)
}

// Islands and chains by themselves, from bytes to bytes, end with the same state as within a run, on any number of threads,
// whenever they were saved.
func TestIslandAlone(t *testing.T) {
	for _, m := range []Method{
		followed(), stopping(2), MCMC{Chains: 2, Start: "prior", Epochs: 120, Keep: 4, Move: mcmc.HMC{Steps: 2}}.Settle(Around{}, unheard()),
		MCMC{Chains: 2, Start: "prior", Epochs: 33, Keep: 20, Move: mcmc.HMC{Steps: 1}, Trace: Trace{4}}.Settle(Around{}, unheard()),
	} {
		phases := func(threads int) (*Job, runs.Phase) {
			job := newJob(t, threads)
			all, err := m.Phases(job)
			if err != nil {
				t.Fatal(err)
			}
			return job, all[0]
		}
		job, within := phases(2)
		if err := job.Run.Phase(t.Context(), job.Pool, within); err != nil {
			t.Fatal(err)
		}
		_, alone := phases(1)
		_, resumed := phases(1)
		for i, part := range alone.Parts {
			want := packed(t, within.Parts[i])
			if _, err := part.WriteTo(new(bytes.Buffer)); err == nil {
				t.Error("an island that has not begun is written")
			}
			for range 3 {
				if _, err := part.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			saved := packed(t, part)
			got, err := runs.RunPart(t.Context(), part, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: part %d by itself ends with other bytes than in the run: %v", m.Title(), i, err)
			}
			if got, err = runs.RunPart(t.Context(), resumed.Parts[i], saved); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: part %d, resumed after 3 steps, ends with other bytes: %v", m.Title(), i, err)
			}
		}
	}
	if err := new(island).UnmarshalBinary([]byte("STARLING")); err == nil {
		t.Error("took eight bytes for a state")
	}
}

// An island that is stopped is as it was before, and one whose start is stopped has not begun.
func TestIslandIsStopped(t *testing.T) {
	job := newJob(t, 1)
	phases, err := followed().Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	p := phases[0].Parts[0].(*island)
	for k := range 3 {
		if _, err := p.Step(ended); err == nil || p.K() != k || (p.state == nil) != (k == 0) || p.Done() {
			t.Fatalf("step %d of a run that has ended: error %v, %d steps made", k+1, err, p.K())
		}
		if _, err := p.Step(t.Context()); err != nil || p.K() != k+1 {
			t.Fatalf("step %d: error %v, %d steps made", k+1, err, p.K())
		}
	}
}

// An iteration whose scores fail is taken back, as the trace has no line for it. Made again, it is the same.
func TestIslandIsNotScored(t *testing.T) {
	job, other := newJob(t, 1), newJob(t, 1)
	phases, err := followed().Phases(job)
	if err != nil {
		t.Fatal(err)
	}
	undisturbed, err := followed().Phases(other)
	if err != nil {
		t.Fatal(err)
	}
	p, q := phases[0].Parts[0], undisturbed[0].Parts[0]
	good, bad := job.Data.Validate, *job.Data.Validate
	bad.Labels, bad.Values, bad.Outputs = nil, make([]float32, bad.Len()), 1
	for k := range 4 {
		var before []byte // a part that has not begun has no state to pack
		if k > 0 {
			before = packed(t, p)
		}
		job.Data.Validate = &bad
		if _, err := p.Step(t.Context()); err == nil || p.K() != k || k > 0 && !bytes.Equal(packed(t, p), before) {
			t.Fatalf("step %d without scores: error %v, %d steps made", k+1, err, p.K())
		}
		job.Data.Validate = good
		if _, err := p.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Step(t.Context()); err != nil || !bytes.Equal(packed(t, p), packed(t, q)) {
			t.Fatalf("step %d, made again, leads to another state: %v", k+1, err)
		}
	}
}

// The trace has after every iteration what the particles are worth together, by their weights, on the validation examples.
// Without them, it has every 20 iterations and at the end what they are worth on the test examples. Nothing depends on it.
func TestFollowed(t *testing.T) {
	m := followed()
	job := newJob(t, 2)
	validated := do(t, job, m)
	job = newJob(t, 2)
	job.Data.Test, job.Data.Validate = job.Data.Validate, nil // the same examples
	tested := do(t, job, m)
	if !slices.Equal(validated.Posterior.Theta, tested.Posterior.Theta) || !slices.Equal(validated.Posterior.LogWeights, tested.Posterior.LogWeights) {
		t.Error("scores on the test examples change the posterior")
	}
	for i, l := range tested.Trace {
		v := validated.Trace[i]
		if v.TestNLL != nil || v.TestAccuracy != nil || v.ValNLL == nil || v.ValAccuracy == nil {
			t.Errorf("with validation examples, island %d, k %d: test NLL %v, validation NLL %v", v.Island, v.K, v.TestNLL, v.ValNLL)
		}
		if l.ValNLL != nil || (l.TestNLL != nil) != (l.K == 20 || l.K == 22) || (l.TestAccuracy != nil) != (l.TestNLL != nil) {
			t.Errorf("island %d, k %d: validation NLL %v, test NLL %v, accuracy %v", l.Island, l.K, l.ValNLL, l.TestNLL, l.TestAccuracy)
		}
		if l.TestNLL != nil && (*l.TestNLL != *v.ValNLL || *l.TestAccuracy != *v.ValAccuracy) {
			t.Errorf("island %d, k %d: %v and %v on the same examples", l.Island, l.K, *l.TestNLL, *v.ValNLL)
		}
		if l.K < 22 {
			continue
		}
		score := func(logw []float64) (nll, accuracy float64) {
			d := job.Net.Dim()
			theta := make([]float64, 5*d)
			for k := range theta {
				theta[k] = float64(tested.Posterior.Theta[5*l.Island*d+k])
			}
			e, err := bnn.Combine(job.Net, []bnn.Island{{Theta: theta, LogWeights: logw}}, bnn.Equal{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.Evaluate(t.Context(), job.Data.Test, nil, pool.New(1))
			if err != nil {
				t.Fatal(err)
			}
			return float64(s.NLL), float64(s.Accuracy)
		}
		nll, accuracy := score(tested.Posterior.LogWeights[5*l.Island : 5*l.Island+5])
		if !(math.Abs(nll-float64(*l.TestNLL)) <= 1e-9) || accuracy != float64(*l.TestAccuracy) {
			t.Errorf("island %d ends at test NLL %v, accuracy %v, the trace has %v, %v", l.Island, nll, accuracy, *l.TestNLL, *l.TestAccuracy)
		}
		if nll, _ := score(nil); !(math.Abs(nll-float64(*l.TestNLL)) > 1e-3) {
			t.Errorf("island %d: the weights change nothing: take a seed that shows more", l.Island)
		}
	}
	// Paths that see all examples at once are not followed on the test examples.
	for _, m := range []Method{SMC{Particles: 4}.Settle(Around{}, unheard()), chains(1, 40, 0.01)} {
		job := newJob(t, 1)
		job.Data.Validate = nil
		for _, l := range do(t, job, m).Trace {
			if l.TestNLL != nil || l.ValNLL != nil {
				t.Errorf("%s, k %d: test NLL %v", m.Title(), l.K, l.TestNLL)
			}
		}
	}
}

// By a clock that ticks whenever it is asked, the scores on the test examples are no time of the work.
func TestFollowedSeconds(t *testing.T) {
	now := time.Unix(1e9, 0)
	run, err := runs.Open(nil, nil, runs.Manifest{}, runs.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	if err != nil {
		t.Fatal(err)
	}
	m := followed()
	m.Islands, m.Path = 1, smc.Schedule[smc.Full]{Iterations: 61}
	job := newJob(t, 1)
	job.Run, job.Data.Validate = run, nil
	trace := do(t, job, m).Trace
	if err := run.Finish(nil); err != nil {
		t.Fatal(err)
	}
	if got := run.Manifest.EvaluationSeconds; got != 4 {
		t.Errorf("the evaluation took %v s, want 4: at 20, 40, 60 and 61", got)
	}
	steps := map[float64]int{}
	for k := range trace[1:] {
		steps[trace[k+1].Seconds-trace[k].Seconds]++
	}
	if len(steps) != 2 || steps[1] != 60-4 || steps[2] != 4 { // one tick more, to ask when the evaluation begins
		t.Errorf("seconds between iterations: %v", steps)
	}
}

// A trace line is read as it was written; a malformed one is refused with its number.
func TestReadTrace(t *testing.T) {
	fields := []byte(`{"ess":3.5,"temperature":0.25,"log_evidence":"-Infinity","val_nll":0.5,"ancestors":2}`)
	trace, err := ReadTrace([]runs.TraceLine{{Part: 2, K: 3, Progress: 0.5, Seconds: 7, Fields: fields}})
	if err != nil {
		t.Fatal(err)
	}
	l := trace[0]
	if l.Island != 2 || l.K != 3 || l.Progress != 0.5 || l.Seconds != 7 || l.ESS != 3.5 || l.Lambda != 0.25 || l.Ancestors != 2 ||
		!math.IsInf(float64(l.LogZ), -1) || *l.ValNLL != 0.5 || l.TestNLL != nil {
		t.Errorf("%+v", l)
	}
	if _, err := ReadTrace([]runs.TraceLine{{Fields: fields}, {Fields: []byte(`{"ess":[]}`)}}); err == nil || err.Error()[:7] != "line 2:" {
		t.Errorf("error %v", err)
	}
}
