package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
)

// workers starts workers whose operations take 5 ms each.
func workers(t *testing.T, ctx context.Context, c Cluster, n int, work *chain) map[string]*life {
	all := map[string]*life{}
	for i := range n {
		one, stop := context.WithCancel(ctx)
		l := &life{stop: stop, slow: 5 * time.Millisecond}
		w := worker(mortal{t, c, l}.cluster(), fmt.Sprint("worker ", i), work.work)
		w.Every = 0
		all[w.Name] = l
		go w.Run(one)
	}
	return all
}

// TestIslandsOnAThousand: 64 islands of uneven length on 1,000 workers take the time of the longest one, within 5 %, even if the worker of
// every other island is killed, and three of the longest.
func TestIslandsOnAThousand(t *testing.T) {
	for _, kills := range []int{0, 35} {
		if testing.Short() && kills == 0 {
			continue
		}
		simulate(t, func(t *testing.T, ctx context.Context) {
			c, all, longest := InMemory(0, 0), tasks(64), 0
			work := &chain{length: func(part int) int { return 120 + part*37%64*3 }, step: 40 * time.Second}
			for part := range all {
				if work.length(part) > work.length(longest) {
					longest = part
				}
			}
			ideal := time.Duration(work.length(longest)) * work.step
			lives := workers(t, ctx, c, 1000, work)
			random := rand.New(rand.NewPCG(1, 2))
			for i := range kills {
				part := min(2*i, 64)
				if part == 64 {
					part = longest
				}
				span := time.Duration(work.length(part)-10) * work.step
				time.AfterFunc(time.Duration(random.Int64N(int64(span))), func() {
					var s state
					if _, err := read(ctx, c.Values, stateKey(all[part].Run(), all[part].Digest()), &s); err != nil {
						t.Error(err)
					}
					lives[s.Worker].kill()
				})
			}
			begun := time.Now()
			if err := collect(t, c, all, work); err != nil {
				t.Error(err)
			}
			took, moved := time.Since(begun), 0
			for _, task := range all {
				var r Result
				if record, err := c.Results.Read(ctx, task.Run(), task.Digest()); err != nil || decode(record, &r) != nil {
					t.Error(err)
				}
				moved += r.Epoch - 1
			}
			share := float64(ideal) / float64(took)
			t.Logf("%d kills: %v, ideal %v: %.4f", kills, took, ideal, share)
			if !(share >= 0.95 && share <= 1) || moved != kills {
				t.Errorf("%.4f of the ideal; %d islands moved after %d kills", share, moved, kills)
			}
		})
	}
}

// losing is a queue that loses every hundredth task.
type losing struct {
	Queue
	puts, asked atomic.Int64
}

func (q *losing) Put(ctx context.Context, task Task) error {
	if q.puts.Add(1)%100 == 7 {
		return nil
	}
	return q.Queue.Put(ctx, task)
}

func (q *losing) Queued(ctx context.Context, run Sum) ([]Sum, error) {
	q.asked.Add(1)
	return q.Queue.Queued(ctx, run)
}

// TestTenThousandTasks: 10,000 short tasks on 1,000 workers, of which 300 are killed, from a queue that loses a hundredth: each has its
// result, and only what was lost is put again.
func TestTenThousandTasks(t *testing.T) {
	n, machines := 10_000, 1000
	if testing.Short() {
		n, machines = 2_000, 200
	}
	simulate(t, func(t *testing.T, ctx context.Context) {
		c, work := InMemory(0, 0), &chain{length: func(int) int { return 1 }, step: 2 * time.Second}
		queue := &losing{Queue: c.Queue}
		c.Queue = queue
		lives, random := workers(t, ctx, c, machines, work), rand.New(rand.NewPCG(3, 4))
		for i := range machines * 3 / 10 {
			time.AfterFunc(time.Duration(random.Int64N(int64(30*time.Second))), lives[fmt.Sprint("worker ", i)].kill)
		}
		begun := time.Now()
		if err := collect(t, c, tasks(n), work); err != nil {
			t.Error(err)
		}
		took, ideal := time.Since(begun), time.Duration(n/machines)*work.step
		again := int(queue.puts.Load()) - n
		t.Logf("%v for %v of work on each worker; the reconciler asked the queue %d times, and put %d tasks again", took, ideal, queue.asked.Load(), again)
		if again < n/100 || again > n/100+n/1000 {
			t.Errorf("%d tasks were put again; the queue lost %d", again, n/100)
		}
		if last, _ := c.Results.Last(ctx, tasks(1)[0].Run()); last != uint64(n) {
			t.Errorf("%d results", last)
		}
	})
}

// BenchmarkReconcile is one comparison of 10,000 tasks, a half of which have results and a half are queued.
func BenchmarkReconcile(b *testing.B) {
	const n = 10_000
	c, all := InMemory(0, 0), tasks(n)
	p := &phase{Coordinator: &Coordinator{Cluster: c}, run: all[0].Run(), tasks: all, place: map[Sum]int{}, results: make([]*Result, n), put: n}
	for i, task := range all {
		id := task.Digest()
		p.ids, p.place[id] = append(p.ids, id), i
		if i%2 == 0 {
			c.Queue.Put(ctx, task)
		} else {
			p.results[i] = new(Result)
		}
	}
	for b.Loop() {
		if err := p.again(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
