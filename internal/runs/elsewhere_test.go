package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-smc/starling/cluster"
)

// toyCluster is a cluster in memory and the executor of a job on it. A worker has begun if steps is not nil, which counts its steps.
func toyCluster(ctx context.Context, steps *atomic.Int64, before func(ctx context.Context, k int) error) (cluster.Cluster, *Elsewhere) {
	c := cluster.InMemory(0, 0)
	task := cluster.Task{Version: "1", Arch: "toy", Kernels: []string{"none"}}
	if steps != nil {
		w := &cluster.Worker{Cluster: c, Name: "w", Machine: "m", Version: "1", Arch: "toy", Kernel: "none", Work: func(ctx context.Context, job *cluster.Job) ([]byte, error) {
			run, alone := NewAlone(job, false)
			j := newJob()
			j.before = func(ctx context.Context, k int) error {
				if before != nil {
					if err := before(ctx, k); err != nil {
						return err
					}
				}
				steps.Add(1)
				return nil
			}
			if err := j.work(ctx, run); !errors.Is(err, ErrCarriedOut) {
				return nil, err
			}
			return alone.Result(), nil
		}}
		go w.Run(ctx)
	}
	return c, &Elsewhere{Cluster: c, Task: func(context.Context) (cluster.Task, error) { return task, nil }}
}

// A run whose parts are carried out elsewhere has the folder of one that is not. Each part is carried out once, and the progress says so.
func TestElsewhere(t *testing.T) {
	_, want := whole(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var steps atomic.Int64
		pause := func(context.Context, int) error { time.Sleep(time.Second); return nil }
		_, e := toyCluster(ctx, &steps, pause)
		var last Away
		e.Tell = func(a Away) {
			if a.Phase == last.Phase && (a.Done < last.Done || a.Share < last.Share) {
				t.Errorf("%+v after %+v", a, last)
			}
			last = a
		}
		j := newJob()
		j.options.Executor = e
		dir := filepath.Join(t.TempDir(), "run")
		if err := j.resume(ctx, dir); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, dir); got != want {
			t.Errorf("elsewhere:\n%s\nwant:\n%s", got, want)
		}
		if n := steps.Load(); n != 3+4+5+12+5+9+1 {
			t.Errorf("%d steps elsewhere", n)
		}
		if last.Phase != "islands" || last.Done != 4 || last.Share != 1 || len(last.Machines) != 0 {
			t.Errorf("%+v", last)
		}
		if n := len(j.watched); n != 3+4 || j.watched[6].Part != 3 || j.watched[5].K != 9 {
			t.Errorf("Watch was told of %d steps: %+v", n, j.watched)
		}
		seconds := 0.0
		for line := range strings.Lines(string(read(t, dir, traceFile))) {
			var l TraceLine
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if !(l.Seconds >= 13) || l.K > 1 && l.Seconds < seconds { // the points took 12 s, and the first step was heard of after a second
				t.Errorf("%s after %v s", line, seconds)
			}
			seconds = l.Seconds
		}
	})
}

// Parts that have begun here go on there: no step is made twice.
func TestSeeded(t *testing.T) {
	_, want := whole(t)
	for after := 1; after < 39; after += 5 {
		synctest.Test(t, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			stoppedAfter(t, dir, after)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var steps atomic.Int64
			_, e := toyCluster(ctx, &steps, nil)
			j := newJob()
			j.options.Executor = e
			if err := j.resume(ctx, dir); err != nil {
				t.Fatal(err)
			}
			if got := contents(t, dir); got != want {
				t.Errorf("after %d steps here:\n%s\nwant:\n%s", after, got, want)
			}
			if n := int(steps.Load()); n > 39-after || n < 39-after-2 { // two threads, which both end their steps
				t.Errorf("%d steps elsewhere after %d here", n, after)
			}
		})
	}
}

// A step that fails ends the run at once with its error, and the end of the context cancels the run.
func TestElsewhereFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var steps atomic.Int64
		_, e := toyCluster(ctx, &steps, func(_ context.Context, k int) error {
			if k == 3 {
				return errors.New("no luck")
			}
			return nil
		})
		j := newJob()
		j.options.Executor = e
		begun := time.Now()
		_, err := j.in(ctx, nil)
		if failed := (*cluster.FailedError)(nil); !errors.As(err, &failed) || !strings.Contains(err.Error(), `part 1 of phase "points": no luck`) {
			t.Error(err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("it took %v to say so", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		c, e := toyCluster(ctx, nil, nil)
		j := newJob()
		j.options.Executor = e
		if _, err := j.in(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		task, _ := e.Task(ctx)
		short, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if value, _, err := c.Values.Value(short, "run."+task.Run().String()); err != nil || !strings.Contains(string(value), "cancelled") {
			t.Errorf("%s, %v", value, err)
		}
	})
}

// Results that are no ends of the part are refused, with the place.
func TestElsewhereRefuses(t *testing.T) {
	end := func(part *toy, o outcome) []byte {
		b, err := o.pack(part)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	half, full := &toy{steps: 3, k: 2, silent: true}, &toy{steps: 3, k: 3, silent: true}
	lines := []TraceLine{{Part: 7, K: 1, Fields: []byte("{}")}, {Part: 7, K: 2, Fields: []byte("{}")}, {Part: 7, K: 3, Fields: []byte("{}")}}
	for want, result := range map[string][]byte{
		"is not done": end(half, outcome{steps: 2}), "2 steps, not 1": end(half, outcome{steps: 1}), "too few": []byte("no container"),
		"lines of part 7": end(full, outcome{steps: 3, lines: lines}), "2 lines of 3 steps": end(full, outcome{steps: 3, lines: lines[:2]}),
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c, e := toyCluster(ctx, nil, nil)
			w := &cluster.Worker{Cluster: c, Name: "w", Version: "1", Arch: "toy", Kernel: "none", Work: func(context.Context, *cluster.Job) ([]byte, error) { return result, nil }}
			go w.Run(ctx)
			r, err := Open(nil, nil, Manifest{}, Options{Executor: e})
			if err != nil {
				t.Fatal(err)
			}
			err = r.Phase(ctx, nil, Phase{Name: "p", Parts: []Part{&toy{steps: 3, silent: true}}})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `phase "p": part 0, as it came back`) {
				t.Errorf("want %q, have %v", want, err)
			}
		})
	}
}

// A worker whose run has no such phase says so.
func TestAloneRefuses(t *testing.T) {
	job := &cluster.Job{Task: cluster.Task{Phase: "chains", Part: 1}}
	run, _ := NewAlone(job, false)
	err := newJob().work(t.Context(), run)
	if want := `the task is part 1 of phase "chains", and the run comes to phase "points" of 3 parts first`; err == nil || err.Error() != want {
		t.Error(err)
	}
	job.Task.Phase, job.Task.Part = "points", 3
	if err := newJob().work(t.Context(), run); err == nil || !strings.Contains(err.Error(), fmt.Sprint("part ", 3)) {
		t.Error(err)
	}
}
