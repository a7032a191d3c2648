package pool

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var threadCounts = []int{1, 2, 3, 7}

func TestEachTaskRunsOnce(t *testing.T) {
	for _, threads := range threadCounts {
		p := New(threads)
		for _, n := range []int{-1, 0, 1, 2, 6, 1000} {
			times := make([]atomic.Int32, max(0, n))
			p.Run(n, func(i int) { times[i].Add(1) })
			for i := range times {
				if k := times[i].Load(); k != 1 {
					t.Errorf("%d threads: task %d of %d ran %d times", threads, i, n, k)
				}
			}
		}
	}
}

func TestThreads(t *testing.T) {
	if have := New(5).Threads(); have != 5 {
		t.Errorf("%d threads, want 5", have)
	}
	for _, n := range []int{0, -1} {
		if have, want := New(n).Threads(), runtime.GOMAXPROCS(0); have != want {
			t.Errorf("New(%d) has %d threads, want %d", n, have, want)
		}
	}
}

// nest runs leaf 4^depth times, in runs within runs.
func nest(p *Pool, depth int, leaf func()) {
	if depth == 0 {
		leaf()
		return
	}
	p.Run(4, func(int) { nest(p, depth-1, leaf) })
}

// Runs may nest and several callers may share a pool: all ends, and no more goroutines are busy than there are threads
// and further callers.
func TestBusyGoroutinesAreBounded(t *testing.T) {
	for _, threads := range threadCounts {
		for depth := 1; depth <= 4; depth++ {
			for _, callers := range []int{1, 3} {
				p := New(threads)
				var busy, most, leaves atomic.Int64
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						nest(p, depth, func() {
							now := busy.Add(1)
							for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
							}
							leaves.Add(1)
							runtime.Gosched()
							busy.Add(-1)
						})
					})
				}
				wg.Wait()
				name := fmt.Sprintf("%d threads, depth %d, %d callers", threads, depth, callers)
				if have, want := leaves.Load(), int64(callers<<(2*depth)); have != want {
					t.Errorf("%s: %d tasks, want %d", name, have, want)
				}
				if have := most.Load(); have > int64(threads+callers-1) {
					t.Errorf("%s: %d goroutines were busy", name, have)
				}
				if len(p.spare) != 0 {
					t.Errorf("%s: %d tokens are not back", name, len(p.spare))
				}
			}
		}
	}
}

// As many tasks run at the same time as there are threads: each waits for all.
func allAtOnce(t *testing.T, p *Pool) {
	t.Helper()
	var arrived atomic.Int64
	all := make(chan struct{})
	p.Run(p.Threads(), func(int) {
		if arrived.Add(1) == int64(p.Threads()) {
			close(all)
		}
		select {
		case <-all:
		case <-time.After(10 * time.Second):
			t.Errorf("%d of %d tasks run at the same time", arrived.Load(), p.Threads())
		}
	})
}

func TestAllThreadsWork(t *testing.T) {
	for _, threads := range threadCounts {
		allAtOnce(t, New(threads))
	}
}

// A panic reaches the caller with its value, from any task, any thread and through nested runs, and the pool serves on.
func TestPanicIsPassedOn(t *testing.T) {
	value := errors.New("a value")
	for _, threads := range threadCounts {
		p := New(threads)
		for _, bad := range []int{0, 1, 50, 99} {
			for depth := range 3 {
				var run func(depth int)
				run = func(depth int) {
					p.Run(100, func(i int) {
						switch {
						case i != bad:
						case depth > 0:
							run(depth - 1)
						default:
							panic(value)
						}
					})
				}
				func() {
					defer func() {
						if r := recover(); r != any(value) {
							t.Errorf("%d threads, task %d, depth %d: recovered %v", threads, bad, depth, r)
						}
					}()
					run(depth)
				}()
			}
		}
		allAtOnce(t, p)
	}
}

// After a panic no thread takes another task: here the second would have a second's worth of them.
func TestPanicEndsTheRun(t *testing.T) {
	var ran atomic.Int64
	defer func() {
		if recover() == nil || ran.Load() == 1000 {
			t.Errorf("%d of 1000 tasks ran", ran.Load())
		}
	}()
	New(2).Run(1000, func(i int) {
		if ran.Add(1); i == 0 {
			panic("the first")
		}
		time.Sleep(time.Millisecond)
	})
}
