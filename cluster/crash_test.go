package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrashAnywhere kills a worker after each of its operations, with the reply lost: the results are those of a run without kills. The
// worker takes over from one that was killed, so that it also loads a state.
func TestCrashAnywhere(t *testing.T) {
	var order []string
	for _, m := range Makers {
		t.Run(m.Name, func(t *testing.T) { order = crashAnywhere(t, m, order) })
	}
}

// crashAnywhere returns the operations in their order. Where it is given them, it kills only after the first of each kind.
func crashAnywhere(t *testing.T, m Maker, known []string) (order []string) {
	seen := map[string]bool{}
	for last := 1; ; last++ {
		if last <= len(known) && seen[known[last-1]] {
			continue
		}
		reached := false
		simulate(t, func(t *testing.T, ctx context.Context) {
			c, work := m.Make(t, 0, 0), always(3)
			go func() {
				l, _ := start(t, ctx, c, "first", work.work, 12)
				time.Sleep(2 * LeaseTime)
				if _, dead := l.died(); !dead {
					t.Error("the first worker lives")
				}
				l, _ = start(t, ctx, c, "second", work.work, last)
				time.Sleep(2 * LeaseTime)
				var after string
				if after, reached = l.died(); reached {
					seen[after], order = true, append(order, after)
				} else {
					l.kill()
				}
				start(t, ctx, c, "third", work.work, 0)
			}()
			if err := collect(t, c, tasks(2), work); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * LeaseTime)
			run := tasks(1)[0].Run()
			if n, _ := c.Results.Last(ctx, run); n != 2 {
				t.Errorf("%d results", n)
			}
			if left, _ := c.Queue.Queued(ctx, run); len(left) > 0 {
				t.Errorf("%d tasks are left in the queue", len(left))
			}
		})
		if !reached || t.Failed() {
			break
		}
	}
	for _, step := range []string{"Take", "Value", "Read", "Swap", "Get", "Put", "Write", "Acknowledge", "Drop"} {
		if !seen[step] {
			t.Errorf("no kill after %s", step)
		}
	}
	return order
}

// TestRandomDeaths kills workers after random operations; a third of them have lost their heartbeats. Three are at work at any time.
func TestRandomDeaths(t *testing.T) {
	for _, m := range Makers {
		t.Run(m.Name, func(t *testing.T) { randomDeaths(t, m) })
	}
}

func randomDeaths(t *testing.T, m Maker) {
	deaths, again, seeds := 0, 0, 40
	if testing.Short() {
		seeds = 5
	}
	if m.Name != "memory" {
		seeds = 1
	}
	for seed := range uint64(seeds) {
		simulate(t, func(t *testing.T, ctx context.Context) {
			c, random := m.Make(t, 0, 0), rand.New(rand.NewPCG(seed, 0))
			work := &chain{length: func(part int) int { return 5 + 7*part }, step: 25 * time.Second}
			for i := range 3 {
				lasts := random.Perm(60)[:12]
				go func() {
					for j, last := range append(lasts, -20) {
						l, ended := start(t, ctx, c, fmt.Sprint("worker ", i, ".", j), work.work, last+20)
						l.mute.Store(last%3 == 1)
						<-ended
						if n := count(l.ops, "GiveBack"); n > 0 && ctx.Err() == nil {
							t.Errorf("%v", l.ops)
						}
					}
				}()
			}
			if err := collect(t, c, tasks(6), work); err != nil {
				t.Error(seed, err)
			}
			for _, task := range tasks(6) {
				var r Result
				if record, err := c.Results.Read(ctx, task.Run(), task.Digest()); err != nil || decode(record, &r) != nil {
					t.Error(seed, err)
				}
				deaths += r.Epoch - 1
				made := work.made(task.Part)
				again += len(made) - work.length(task.Part)
			}
		})
	}
	t.Logf("tasks were taken over %d times, and %d steps were made again", deaths, again)
	if deaths < 10*seeds {
		t.Errorf("%d times", deaths)
	}
}

// TestZombie: a worker whose heartbeats are lost is refused at its next save, and neither writes a result nor acknowledges.
func TestZombie(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(4)
		work.step = LeaseTime + LeaseTime/2
		go func() {
			zombie, _ := start(t, ctx, c, "zombie", work.work, 0)
			zombie.mute.Store(true)
			time.Sleep(time.Second)
			start(t, ctx, c, "heir", work.work, 0)
			time.Sleep(8 * LeaseTime)
			zombie.turn.Lock()
			defer zombie.turn.Unlock()
			first := slices.Index(zombie.ops, "Acknowledge")
			if n := count(zombie.ops, "Write"); first >= 0 || n > 0 {
				t.Errorf("the zombie went on: %v", zombie.ops)
			}
			if !slices.ContainsFunc(zombie.notes, func(err error) bool { return errors.Is(err, errLost) }) {
				t.Errorf("the zombie has not said that another worker has its task: %v", zombie.notes)
			}
		}()
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * LeaseTime)
		record, _ := c.Results.Read(ctx, tasks(1)[0].Run(), tasks(1)[0].Digest())
		var r Result
		if err := decode(record, &r); err != nil || r.Worker != "heir" || r.Epoch != 2 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// TestLateAcknowledgement: a zombie's acknowledgement takes the task from the queue while another worker computes it, and that one dies. The
// reconciler puts the task again.
func TestLateAcknowledgement(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(10)
		go func() {
			late, err := c.Queue.Take(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(LeaseTime + time.Second)
			heir, _ := start(t, ctx, c, "heir", work.work, 0)
			time.Sleep(3 * time.Second)
			late.Acknowledge(ctx)
			heir.kill()
			if left, _ := c.Queue.Queued(ctx, late.Task().Run()); len(left) > 0 {
				t.Error("the late acknowledgement does nothing: this tests nothing")
			}
			start(t, ctx, c, "third", work.work, 0)
		}()
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
		if made := work.made(0); len(made) > 11 {
			t.Errorf("steps %v: the saved state was not used", made)
		}
	})
}

// twice delivers every task twice.
type twice struct {
	Queue
	leases    chan Lease
	delivered atomic.Int64
}

func deliverTwice(ctx context.Context, q Queue) *twice {
	t := &twice{Queue: q, leases: make(chan Lease)}
	go func() {
		for {
			l, err := q.Take(ctx)
			if err != nil {
				return
			}
			for range 2 {
				select {
				case <-ctx.Done():
					return
				case t.leases <- l:
				}
			}
		}
	}()
	return t
}

func (q *twice) Take(ctx context.Context) (Lease, error) {
	select {
	case l := <-q.leases:
		q.delivered.Add(1)
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestDeliveredTwice: every task is delivered to two workers, most at the same time.
func TestDeliveredTwice(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(5)
		queue := deliverTwice(ctx, c.Queue)
		c.Queue = queue
		for i := range 4 {
			start(t, ctx, c, fmt.Sprint("worker ", i), work.work, 0)
		}
		if err := collect(t, c, tasks(20), work); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if n := queue.delivered.Load(); n < 40 {
			t.Errorf("%d deliveries", n)
		}
	})
}

// TestPoison: a task that ends its worker five times without progress fails the run, with the last error.
func TestPoison(t *testing.T) {
	for name, end := range map[string]func(*life) error{
		"worker 5 took it and was not heard of": func(l *life) error { l.kill(); return errDead },
		"worker 5: the tile is cracked":         func(*life) error { return errors.New("the tile is cracked") },
		"worker 5: panic: index out of":         func(*life) error { panic("index out of range") },
	} {
		simulate(t, func(t *testing.T, ctx context.Context) {
			c, ended := InMemory(0, 0), make(chan struct{})
			var tries atomic.Int64
			healthy := always(2)
			go func() {
				defer close(ended)
				for i := 1; i <= 6; i++ {
					var l *life
					tried := false
					bad := func(ctx context.Context, job *Job) ([]byte, error) {
						if job.Task.Part == 1 && tried { // a worker may get it twice before it is stopped
							<-ctx.Done()
							return nil, ctx.Err()
						}
						if job.Task.Part == 1 {
							tried = true
							tries.Add(1)
							return nil, end(l)
						}
						return healthy.work(ctx, job)
					}
					one, stop := context.WithCancel(ctx)
					l = &life{stop: stop}
					go worker(mortal{t, c, l}.cluster(), fmt.Sprint(i), bad).Run(one)
					time.Sleep(2 * time.Second)
					for tries.Load() < int64(min(i, attempts)) {
						time.Sleep(time.Second)
					}
					time.Sleep(time.Second / 2) // stopped in that instant, it would be no attempt
					stop()
					time.Sleep(2 * LeaseTime)
				}
			}()
			err := collect(t, c, tasks(3), healthy)
			var failed *FailedError
			if !errors.As(err, &failed) || tries.Load() != attempts || !strings.Contains(failed.Reason, name) || !strings.Contains(failed.Reason, "part 1") {
				t.Errorf("%v after %d attempts, want %q", err, tries.Load(), name)
			}
			<-ended
			go worker(c, "7", healthy.work).Run(ctx)
			if err := collect(t, c, tasks(3), healthy); err != nil { // what ended the workers is mended
				t.Errorf("submitted again: %v", err)
			}
		})
	}
}

// TestProgressIsNoPoison: a task whose workers die twenty times, each after a step, ends well.
func TestProgressIsNoPoison(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(22)
		go func() {
			for i := 0; i < 20; i++ {
				l, _ := start(t, ctx, c, fmt.Sprint(i), work.work, 0)
				for len(work.made(0)) <= i {
					time.Sleep(time.Second / 2)
				}
				l.kill()
				time.Sleep(2 * LeaseTime)
			}
			start(t, ctx, c, "last", work.work, 0)
		}()
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
	})
}

// TestDeterminismFault: two workers compute different bytes from one task. The run fails, and both results are kept.
func TestDeterminismFault(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c := m.Make(t, 0, 0)
		c.Queue = deliverTwice(ctx, c.Queue)
		go func() {
			for i := range 2 {
				start(t, ctx, c, fmt.Sprint("worker ", i), func(context.Context, *Job) ([]byte, error) {
					time.Sleep(time.Second)
					return []byte{byte(i)}, nil
				}, 0)
				time.Sleep(time.Second / 2) // of two that claim a task in the same instant, one is refused and computes nothing
			}
		}()
		co := &Coordinator{Cluster: c}
		all := tasks(1)
		if err := co.Do(ctx, all, func(int, End) error { return nil }); err != nil {
			t.Error(err) // the first result was there before the second
		}
		time.Sleep(LeaseTime)
		var failed *FailedError
		err := co.Do(ctx, all, func(int, End) error { return nil })
		if !errors.As(err, &failed) || len(failed.Differing) != 2 {
			t.Fatalf("%v", err)
		}
		for i, r := range failed.Differing {
			if b, err := Load(ctx, c.Blocks, Shared, r.Content); err != nil || len(b) != 1 || b[0] != byte(i) || r.Worker != fmt.Sprint("worker ", i) {
				t.Errorf("result %d: %v, %v", i, b, err)
			}
		}
		if record, err := c.Results.Read(ctx, all[0].Run(), all[0].Digest()); err != nil || !strings.Contains(string(record), SumOf([]byte{0}).String()) {
			t.Errorf("the first result does not stay: %s, %v", record, err)
		}
	})
}

// TestMalformedState: a state that this program did not write ends the run, and is not computed with.
func TestMalformedState(t *testing.T) {
	for _, forged := range []string{`{"epoch":1,"more":2}`, `{"epoch":-`, `{}{}`} {
		everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
			c, work := m.Make(t, 0, 0), always(1)
			task := tasks(1)[0]
			if _, err := c.Values.Swap(ctx, stateKey(task.Run(), task.Digest()), []byte(forged), 0); err != nil {
				t.Fatal(err)
			}
			go worker(c, "w", work.work).Run(ctx)
			if err := collect(t, c, tasks(1), work); !errors.As(err, new(*FailedError)) || !strings.Contains(err.Error(), "did not write") {
				t.Errorf("%s: %v", forged, err)
			}
		})
	}
}

// TestHung: a task that makes no progress goes to another worker; the process that hangs is told to end.
func TestHung(t *testing.T) {
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, work, free := InMemory(0, 0), always(3), make(chan struct{})
		l := &life{stop: func() {}}
		w := worker(mortal{t, c, l}.cluster(), "hangs", func(ctx context.Context, job *Job) ([]byte, error) {
			<-free
			return []byte("late"), nil
		})
		w.Deadline = 10 * time.Minute
		ended := make(chan error, 1)
		go func() {
			ended <- w.Run(ctx)
			worker(c, "healthy", work.work).Run(ctx)
		}()
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.As(err, new(*HungError)) {
			t.Errorf("Run returns %v", err)
		}
		close(free)
		synctest.Wait()
		if count(l.ops, "Write") > 0 || count(l.ops, "Acknowledge") > 0 {
			t.Errorf("it went on: %v", l.ops)
		}
	})
}

// TestLongStep: a step of many leases keeps its task, since the heartbeat has a goroutine of its own.
func TestLongStep(t *testing.T) {
	everywhere(t, func(t *testing.T, ctx context.Context, m Maker) {
		c, work := m.Make(t, 0, 0), always(2)
		work.step = 20 * LeaseTime
		for i := range 2 {
			start(t, ctx, c, fmt.Sprint(i), work.work, 0)
		}
		if err := collect(t, c, tasks(1), work); err != nil {
			t.Error(err)
		}
		if made := work.made(0); len(made) != 2 {
			t.Errorf("steps %v", made)
		}
	})
}
