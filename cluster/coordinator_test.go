package cluster

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestOrder: results that arrive in the reverse order are handed on in the order of the parts.
func TestOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(0)
		work.length = func(part int) int { return 10 - part }
		for range 10 {
			go worker(c, "w", work.work).Run(ctx)
		}
		all := tasks(10)
		if err := collect(t, c, all, work); err != nil {
			t.Error(err)
		}
		if e, err := c.Results.Next(ctx, all[0].Run(), 0); err != nil || e.Task != all[9].Digest() {
			t.Errorf("the last part does not arrive first: this tests nothing (%v)", err)
		}
	})
}

// TestWindow: no more tasks are open than the window and the queue allow, and all are done.
func TestWindow(t *testing.T) {
	for _, one := range []struct{ window, queue, want int }{{3, 0, 3}, {0, 2, 2}} {
		everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
			c, work, most := m.Make(t, one.queue, 0), always(2), 0
			work.each = func(int, int) error {
				queued, err := c.Queue.Queued(ctx, tasks(1)[0].Run())
				most = max(most, len(queued))
				return err
			}
			go worker(c, "w", work.work).Run(ctx)
			n := 0
			err := (&Coordinator{c, one.window}).Do(ctx, tasks(9), func(int, End) error { n++; return nil })
			if err != nil || n != 9 || most != one.want {
				t.Errorf("%v, %d results, %d tasks in the queue", err, n, most)
			}
		})
	}
}

// TestJoin: a run that is submitted twice is computed once, and both submitters get all results. So does a third, later.
func TestJoin(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(3)
		go worker(c, "w", work.work).Run(ctx)
		other := make(chan error)
		go func() {
			time.Sleep(5 * time.Second)
			other <- collect(t, c, tasks(4), work)
		}()
		if err := errors.Join(collect(t, c, tasks(4), work), <-other, collect(t, c, tasks(4), work)); err != nil {
			t.Error(err)
		}
		for part := range 4 {
			if made := work.made(part); len(made) != 3 {
				t.Errorf("part %d: steps %v", part, made)
			}
		}
		if err := collect(t, c, append(tasks(2), tasks(1)...), work); err == nil || !strings.Contains(err.Error(), "task 2") {
			t.Errorf("a task that is there twice: %v", err)
		}
	})
}

// TestStop: a worker that is asked to stop saves its state after the step and gives the task back: no step is lost, and it is no attempt.
func TestStop(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(30)
		go func() {
			for {
				one, stop := context.WithTimeout(ctx, 2*time.Second+time.Second/2)
				w := worker(c, "w", work.work)
				w.Every = time.Hour
				if err := w.Run(one); err != nil {
					t.Error(err)
				}
				stop()
				if ctx.Err() != nil {
					return
				}
			}
		}()
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
		for i, k := range work.made(0) {
			if i != k {
				t.Fatalf("steps %v", work.made(0))
			}
		}
	})
}

// TestStopIsNoAttempt: a task whose workers are asked to stop before they make a step is not given up.
func TestStopIsNoAttempt(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, work := InMemory(0, 0), always(3)
		go func() {
			for range 2 * attempts {
				one, stop := context.WithTimeout(ctx, time.Second)
				worker(c, "stopped", func(ctx context.Context, job *Job) ([]byte, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}).Run(one)
				stop()
			}
			worker(c, "w", work.work).Run(ctx)
		}()
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
	})
}

// TestCancel: workers of a cancelled run stop within a heartbeat and a step. Submitted again, the run goes on from where it was.
func TestCancel(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(100)
		all := tasks(3)
		go worker(c, "w", work.work).Run(ctx)
		time.AfterFunc(20*time.Second+time.Second/2, func() {
			if err := c.Cancel(ctx, all[0].Run()); err != nil {
				t.Error(err)
			}
		})
		begun := time.Now()
		if err := collect(t, c, all, work); !errors.Is(err, ErrCancelled) || time.Since(begun) > 22*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		time.Sleep(LeaseTime/4 + time.Second)
		n := len(work.made(0))
		time.Sleep(5 * LeaseTime)
		if queued, _ := c.Queue.Queued(ctx, all[0].Run()); len(work.made(0)) != n || len(work.made(1)) > 0 || len(queued) > 0 {
			t.Errorf("steps %v and %v after cancelling, %d tasks queued", work.made(0), work.made(1), len(queued))
		}
		if err := collect(t, c, all, work); err != nil {
			t.Error(err)
		}
		if made := work.made(0); len(made) != 100 {
			t.Errorf("steps %v", made)
		}
	})
}

// TestForeign: a worker of another program refuses, names both, and leaves the task to others.
func TestForeign(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, work := InMemory(0, 0), always(1)
		done := make(chan error)
		go func() { done <- collect(t, c, tasks(1), work) }()
		for what, change := range map[string]func(*Worker){
			"version 1.1, and the run asks for 1.0":          func(w *Worker) { w.Version = "1.1" },
			"architecture arm64, and the run asks for amd64": func(w *Worker) { w.Arch = "arm64" },
			"kernel sse, and the run asks for [avx2 go]":     func(w *Worker) { w.Kernel = "sse" },
		} {
			w := worker(c, "w", work.work)
			change(w)
			if err := w.Run(ctx); !errors.As(err, new(*ForeignError)) || !strings.Contains(err.Error(), what) {
				t.Error(err)
			}
		}
		go worker(c, "w", work.work).Run(ctx)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestForeignEnded: what a cancelled run of another program has left in the queue is removed, and holds up no other run.
func TestForeignEnded(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, work := InMemory(0, 0), always(1)
		old := tasks(3)
		for i := range old {
			old[i].Version = "0.9"
		}
		submitter, leave := context.WithCancel(ctx)
		go (&Coordinator{Cluster: c}).Do(submitter, old, func(int, End) error { return nil })
		time.Sleep(time.Second)
		leave()
		if err := c.Cancel(ctx, old[0].Run()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- worker(c, "w", work.work).Run(ctx) }()
		if err := collect(t, c, tasks(3), work); err != nil {
			t.Error(err)
		}
		if left, err := c.Queue.Queued(ctx, old[0].Run()); err != nil || len(left) > 0 || len(ended) > 0 {
			t.Errorf("%d tasks are left, %v; %d workers have ended", len(left), err, len(ended))
		}
	})
}

// stalling are results whose reader waits in vain for a while, as after a server's restart.
type stalling struct {
	Results
	calls int
}

func (r *stalling) Next(ctx context.Context, run Sum, after uint64) (Entry, error) {
	if r.calls++; r.calls%3 != 0 {
		<-ctx.Done()
		return Entry{}, ctx.Err()
	}
	return r.Results.Next(ctx, run, after)
}

// counting is a queue that counts the tasks that are put.
type counting struct {
	Queue
	puts map[int]int
}

func (q *counting) Put(ctx context.Context, task Task) error {
	q.puts[task.Part]++
	return q.Queue.Put(ctx, task)
}

// TestTimeoutIsNoEnd: a coordinator that joins a run and waits in vain for its results reads on to the last one. It puts no task again that
// has a result.
func TestTimeoutIsNoEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(1)
		go worker(c, "w", work.work).Run(ctx)
		if err := collect(t, c, tasks(5), work); err != nil {
			t.Error(err)
		}
		queue := &counting{c.Queue, map[int]int{}}
		c.Queue, c.Results = queue, &stalling{Results: c.Results}
		if err := collect(t, c, tasks(6), work); err != nil {
			t.Error(err)
		}
		if len(queue.puts) != 1 || queue.puts[5] != 1 {
			t.Errorf("tasks are put: %v", queue.puts)
		}
	})
}

// TestDigests: a digest depends on all fields of a task, and a run's on all but the part's own.
func TestDigests(t *testing.T) {
	base := tasks(1)[0]
	content := Content{SumOf(nil), 0, nil}
	for name, one := range map[string]struct {
		change func(*Task)
		run    bool
	}{
		"config":       {func(t *Task) { t.Config = content }, true},
		"data":         {func(t *Task) { t.Data = []Input{{"x", content}} }, true},
		"version":      {func(t *Task) { t.Version = "2" }, true},
		"architecture": {func(t *Task) { t.Arch = "arm64" }, true},
		"kernels":      {func(t *Task) { t.Kernels = t.Kernels[:1] }, true},
		"phase":        {func(t *Task) { t.Phase = "map" }, false},
		"part":         {func(t *Task) { t.Part++ }, false},
		"earlier":      {func(t *Task) { t.Earlier = []Input{{"anchor", content}} }, false},
	} {
		other := base
		one.change(&other)
		if other.Digest() == base.Digest() || other.Run() == base.Run() == one.run {
			t.Errorf("%s: digests %v %v, runs %v %v", name, other.Digest(), base.Digest(), other.Run(), base.Run())
		}
		var back Task
		if err := decode(encode(other), &back); err != nil || back.Digest() != other.Digest() || !bytes.Equal(encode(back), encode(other)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnfit: a machine that lacks what the tasks need leaves them to others, however often it takes them. That is no attempt.
func TestUnfit(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, work := InMemory(0, 0), always(1)
		done := make(chan error)
		go func() { done <- collect(t, c, tasks(1), work) }()
		for range 3 * attempts {
			small := worker(c, "small", func(context.Context, *Job) ([]byte, error) { return nil, &ForeignError{Why: errors.New("no memory")} })
			var foreign *ForeignError
			if err := small.Run(ctx); !errors.As(err, &foreign) || !strings.Contains(err.Error(), "leaves the task to others: no memory") || foreign.task.Phase != "islands" {
				t.Fatal(err)
			}
		}
		go worker(c, "large", work.work).Run(ctx)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
