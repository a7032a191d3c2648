package pool

import (
	"sync/atomic"
	"testing"
	"time"
)

// Every task runs once, in nested runs too, and never more at a time than there are threads.
func TestEveryTaskRunsOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		p := New(threads)
		if p.Threads() != threads {
			t.Errorf("%d threads, want %d", p.Threads(), threads)
		}
		var done [12][9]atomic.Int32
		var busy, most atomic.Int32
		p.Run(len(done), func(i int) {
			p.Run(len(done[i]), func(j int) {
				n := busy.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(100 * time.Microsecond) // time for the others to come
				done[i][j].Add(1)
				busy.Add(-1)
			})
		})
		for i := range done {
			for j := range done[i] {
				if n := done[i][j].Load(); n != 1 {
					t.Errorf("%d threads: task %d of run %d ran %d times", threads, j, i, n)
				}
			}
		}
		if int(most.Load()) > threads {
			t.Errorf("%d tasks at the same time on %d threads", most.Load(), threads)
		}
	}
	New(2).Run(0, func(int) { t.Error("a run of no tasks has one") })
}

// All threads work, also after runs that ended and one that panicked: tasks that wait for each other meet.
func TestAllThreadsWork(t *testing.T) {
	const threads = 5
	p := New(threads)
	meet := func() {
		var here atomic.Int32
		all := make(chan struct{})
		p.Run(threads, func(int) {
			if here.Add(1) == threads {
				close(all)
			}
			if t.Failed() {
				return // one long wait is enough
			}
			select {
			case <-all:
			case <-time.After(10 * time.Second):
				t.Error("tasks waited in vain for each other")
			}
		})
	}
	meet()
	meet()
	func() {
		defer func() {
			if r := recover(); r != "task 3" {
				t.Errorf("recovered %v from a run whose task 3 panicked", r)
			}
		}()
		p.Run(100, func(i int) {
			if i == 3 {
				panic("task 3")
			}
		})
	}()
	meet()
}
