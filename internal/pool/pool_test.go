package pool

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/testkit"
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
			case <-time.After(testkit.Patience):
				t.Error("tasks waited in vain for each other")
			}
		})
	}
	meet()
	meet()
	func() {
		defer func() {
			if r, ok := recover().(*Panic); !ok || r.Value != "task 3" {
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

var threadCounts = []int{1, 2, 3, 7}

func TestThreads(t *testing.T) {
	if have := New(5).Threads(); have != 5 {
		t.Errorf("%d threads, want 5", have)
	}
	for _, p := range []*Pool{New(0), New(-1), nil} {
		if have, want := p.Threads(), runtime.GOMAXPROCS(0); have != want {
			t.Errorf("%d threads, want %d", have, want)
		}
		var ran atomic.Int64
		if p.Run(100, func(int) { ran.Add(1) }); ran.Load() != 100 {
			t.Errorf("%d of 100 tasks ran", ran.Load())
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

// Runs may nest deeply and several callers may share a pool: all ends, and no more goroutines are busy than there are threads
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

// A panic reaches the caller with its value, from any task, any thread and through nested runs.
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
						if r, ok := recover().(*Panic); !ok || r.Value != any(value) || !bytes.Contains(r.Stack, []byte("pool.TestPanic")) {
							t.Errorf("%d threads, task %d, depth %d: recovered %v", threads, bad, depth, r)
						}
					}()
					run(depth)
				}()
			}
		}
		if len(p.spare) != 0 {
			t.Errorf("%d threads: %d tokens are not back", threads, len(p.spare))
		}
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
