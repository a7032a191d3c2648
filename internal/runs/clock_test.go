package runs

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/pool"
)

// TestEvaluationSharesTheTime: of an hour in which one of two parts that run evaluates, half is evaluation; of one in
// which both do, all. Where no parts run, an hour of evaluation is an hour.
func TestEvaluationSharesTheTime(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := &clock{now: func() time.Time { return now }, work: time.Minute, counted: now}
	c.share(2)
	for i, s := range []struct {
		aside   int
		seconds float64
	}{{0, 3600}, {1, 3600}, {1, 1800}, {0, 0}, {-1, 0}, {-1, 1800}, {0, 3600}} {
		before, _ := c.read()
		now = now.Add(time.Hour)
		if i == 0 && before != time.Minute {
			t.Errorf("%v at the start, want that of the process before", before)
		}
		c.step(s.aside)
		if work, _ := c.read(); (work - before).Seconds() != s.seconds {
			t.Errorf("hour %d: %v of work, want %v s", i, work-before, s.seconds)
		}
	}
	if _, evaluation := c.read(); evaluation != 3*time.Hour {
		t.Errorf("%v of evaluation, want 3 h", evaluation)
	}
	c.share(0)
	c.step(1)
	now = now.Add(time.Hour)
	c.step(-1)
	if _, evaluation := c.read(); evaluation != 4*time.Hour {
		t.Errorf("%v of evaluation, want 4 h", evaluation)
	}
}

// TestSharing: parts that have ended, and those for which there is no thread, have no share of the time.
func TestSharing(t *testing.T) {
	for _, c := range []struct{ threads, parts, want int }{{1, 4, 1}, {2, 4, 2}, {8, 3, 3}} {
		run := new(Run)
		var most, last int
		p := Phase{Name: "a", Watch: func(l TraceLine) error {
			most, last = max(most, run.clock.sharing), run.clock.sharing
			return nil
		}}
		for range c.parts {
			p.Parts = append(p.Parts, &toy{steps: 1, silent: true})
		}
		w := &work{Phase: p, run: run, made: make([]int, c.parts), threads: c.threads}
		if err := w.restore(); err != nil || run.clock.sharing != c.want {
			t.Errorf("%d parts on %d threads: %d share the time, %v", c.parts, c.threads, run.clock.sharing, err)
		}
		if err := run.Phase(t.Context(), pool.New(1), p); err != nil || last != 0 || run.clock.sharing != 0 {
			t.Errorf("at the end %d share the time, then %d, %v", last, run.clock.sharing, err)
		}
	}
}

// TestEvaluationSeconds: by a clock that ticks whenever it is asked, each evaluation takes a second; an interrupted run keeps
// what its evaluations took.
func TestEvaluationSeconds(t *testing.T) {
	now := time.Unix(1e9, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	dir := filepath.Join(t.TempDir(), "run")
	do := func(stop int) *Run {
		f, err := ResumeFolder(dir, fitKind)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		run, err := Open(f, nil, Manifest{}, Options{Every: time.Hour, Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		part := &toy{steps: 61}
		part.before = func(_ context.Context, k int) error {
			if k == stop {
				cancel()
			}
			if (k+1)%20 == 0 || k == 60 {
				return run.Aside(func() error { return nil })
			}
			return nil
		}
		err = run.Phase(ctx, pool.New(1), Phase{Name: "one", Parts: []Part{part}})
		if err == nil {
			err = run.Aside(func() error { return nil })
		}
		if err == nil {
			err = run.Finish(nil)
		}
		if err := run.Close(err); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return run
	}
	do(30)
	if m, err := ReadManifest(dir); err != nil || m.EvaluationSeconds != 1 || m.Status != Interrupted {
		t.Errorf("stopped after one evaluation: %v s of it, %s, %v", m.EvaluationSeconds, m.Status, err)
	}
	run := do(-1)
	if m, err := ReadManifest(dir); err != nil || m.EvaluationSeconds != 4+1 || m.WorkSeconds < run.Trace()[60].Seconds {
		t.Errorf("%v s of evaluation, want 5: after 20, 40, 60 and 61 steps, and at the end; %v s of work, %v", m.EvaluationSeconds, m.WorkSeconds, err)
	}
	dir = filepath.Join(t.TempDir(), "run")
	trace := do(-1).Trace()
	usual := trace[1].Seconds - trace[0].Seconds
	for k := range trace[1:] {
		want := usual
		if (k+2)%20 == 0 || k+2 == 61 {
			want++ // one tick more, to ask when the evaluation begins
		}
		if got := trace[k+1].Seconds - trace[k].Seconds; got != want {
			t.Errorf("step %d takes %v s, want %v", k+2, got, want)
		}
	}
}

// TestPausesAreNoWork: of a run that was stopped in a phase without a trace, an hour after it began, and resumed a day
// later, the hour counts and the day does not; likewise when it is stopped again where it leaves a trace.
func TestPausesAreNoWork(t *testing.T) {
	now := time.Unix(1e9, 0)
	dir := filepath.Join(t.TempDir(), "run")
	for i, stop := range []int{6, 20, 0} { // steps of 12 and 27
		j := newJob()
		j.threads = 1
		j.options = Options{Every: time.Hour, Now: func() time.Time { return now }}
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		j.before = func(context.Context, int) error {
			if steps++; steps == stop {
				now = now.Add(time.Hour)
				cancel()
			}
			return nil
		}
		if err := j.resume(ctx, dir); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
		m, err := ReadManifest(dir)
		if want := min(i+1, 2) * 3600; err != nil || m.WorkSeconds != float64(want) {
			t.Errorf("start %d: %v s of work, want %v, %v", i, m.WorkSeconds, want, err)
		}
		if m.Started.Unix() != 1e9 {
			t.Errorf("start %d: started %v", i, m.Started)
		}
		now = now.Add(24 * time.Hour)
	}
	trace, err := ReadTrace(read(t, dir, traceFile))
	if err != nil || trace[0].Seconds != 3600 || trace[26].Seconds != 7200 {
		t.Errorf("seconds from %v to %v, want 3600 to 7200; %v", trace[0].Seconds, trace[26].Seconds, err)
	}
	if m, err := ReadManifest(dir); err != nil || m.Finished.Unix() != 1e9+2*3600+2*24*3600 {
		t.Errorf("finished %v, %v", m.Finished, err)
	}
}
