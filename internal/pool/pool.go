// Package pool shares the machine's cores between islands, particles and ranges of data.
//
// A Pool holds threads−1 spare tokens. The caller of Run works itself, and each spare token adds a goroutine that
// helps. Runs may nest: an island inside a run asks for gradients, which run in parallel in turn. The number of busy
// goroutines never exceeds the number of threads, and nothing can deadlock, since a caller never waits for a token.
//
// Results do not depend on the number of threads if tasks write to separate memory.
package pool

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Pool bounds the goroutines that compute at the same time. The zero value is not usable; see New.
type Pool struct {
	threads int
	spare   chan struct{}
}

// New returns a pool for the given number of threads; 0 means runtime.GOMAXPROCS(0).
func New(threads int) *Pool {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &Pool{threads: threads, spare: make(chan struct{}, threads-1)}
}

// Threads is the number of goroutines that may compute at the same time.
func (p *Pool) Threads() int {
	if p == nil {
		return runtime.GOMAXPROCS(0)
	}
	return p.threads
}

// Run calls task(0) … task(n−1), each once, in any order and partly at the same time, and returns when all are
// done. A panic in a task is raised again in the caller, as a *Panic. A nil pool is a new one with one thread for each CPU.
func (p *Pool) Run(n int, task func(i int)) {
	if p == nil {
		p = New(0)
	}
	if n <= 0 {
		return
	}
	var (
		next   atomic.Int64
		wg     sync.WaitGroup
		failed atomic.Pointer[Panic]
	)
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failed.CompareAndSwap(nil, panicOf(r))
				next.Store(int64(n))
			}
		}()
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			task(i)
		}
	}
	for helpers := min(n, p.threads) - 1; helpers > 0 && p.take(); helpers-- {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-p.spare }()
			work()
		}()
	}
	work()
	wg.Wait()
	if r := failed.Load(); r != nil {
		panic(r)
	}
}

// Panic is what a task panicked with, and where: another goroutine raises it again, whose own stack does not say.
type Panic struct {
	Value any
	Stack []byte // of the task's goroutine
}

func (p *Panic) Error() string {
	return fmt.Sprintf("%v\n\nin a task, of which this is the stack:\n%s", p.Value, p.Stack)
}

// Unwrap is the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// panicOf is the Panic of a value that was recovered; one of a nested run stays as it is.
func panicOf(r any) *Panic {
	if p, ok := r.(*Panic); ok {
		return p
	}
	return &Panic{r, debug.Stack()}
}

// take takes a spare token if there is one.
func (p *Pool) take() bool {
	select {
	case p.spare <- struct{}{}:
		return true
	default:
		return false
	}
}
