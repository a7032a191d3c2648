package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var ctx = context.Background()

// tasks returns the tasks of a phase.
func tasks(n int) []Task {
	var all []Task
	for i := range n {
		all = append(all, Task{Version: "1.0", Arch: "amd64", Kernels: []string{"avx2", "go"}, Phase: "islands", Part: i})
	}
	return all
}

// chain is work for tests: a chain of hashes, whose state is the number of steps and the last hash.
type chain struct {
	length func(part int) int
	step   time.Duration
	each   func(part, k int) error // before step k, if not nil

	turn  sync.Mutex
	steps map[int][]int // that were made of each part, in order
}

func link(part, k int, h []byte) []byte {
	s := sha256.Sum256(fmt.Appendf(nil, "%d %d %x", part, k, h))
	return s[:]
}

// want is the result of a part.
func (c *chain) want(part int) []byte {
	var h []byte
	for k := range c.length(part) {
		h = link(part, k, h)
	}
	return h
}

func (c *chain) work(ctx context.Context, job *Job) ([]byte, error) {
	part, k, h := job.Task.Part, 0, []byte(nil)
	if job.State != nil {
		k, h = int(binary.LittleEndian.Uint64(job.State)), job.State[8:]
	}
	pack := func() []byte { return append(binary.LittleEndian.AppendUint64(nil, uint64(k)), h...) }
	for n := c.length(part); k < n; {
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), job.Save(pack()))
		}
		if c.each != nil {
			if err := c.each(part, k); err != nil {
				return nil, err
			}
		}
		time.Sleep(c.step)
		c.turn.Lock()
		if c.steps == nil {
			c.steps = map[int][]int{}
		}
		c.steps[part] = append(c.steps[part], k)
		c.turn.Unlock()
		h = link(part, k, h)
		k++
		if job.Progress(float64(k) / float64(n)) {
			if err := job.Save(pack()); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

func (c *chain) made(part int) []int {
	c.turn.Lock()
	defer c.turn.Unlock()
	return slices.Clone(c.steps[part])
}

// always is a chain of equal lengths, whose steps take a second.
func always(n int) *chain { return &chain{length: func(int) int { return n }, step: time.Second} }

func worker(c Cluster, name string, work Work) *Worker {
	return &Worker{Cluster: c, Name: name, Work: work, Version: "1.0", Arch: "amd64", Kernel: "go", Every: time.Nanosecond}
}

// collect does tasks and compares every result with the chain's, in order. It gives up after two days of simulated time.
func collect(t *testing.T, c Cluster, all []Task, work *chain) error {
	t.Helper()
	ctx, stop := context.WithTimeout(ctx, 48*time.Hour)
	defer stop()
	next := 0
	err := (&Coordinator{Cluster: c}).Do(ctx, all, func(i int, end End) error {
		if result := end.Result; i != next || !bytes.Equal(result, work.want(all[i].Part)) {
			t.Errorf("result %d comes as number %d: %x, want %x", i, next, result, work.want(all[i].Part))
		}
		next++
		return nil
	})
	if err == nil && next != len(all) {
		t.Errorf("%d results of %d", next, len(all))
	}
	return err
}

// simulate runs a test in simulated time. Its goroutines have an hour to end when ctx ends.
func simulate(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		test(t, ctx)
		stop()
		time.Sleep(time.Hour)
	})
}

// Makers make the clusters that tests run on. The other ones than that in memory are added by tests outside of the package, since they import it.
var Makers = []Maker{{"memory", func(t *testing.T, tasks int, blockBytes int64) Cluster { return InMemory(tasks, blockBytes) }}}

// Maker makes a cluster that holds at most so many tasks, and so many bytes of small blocks; 0 is no limit.
type Maker struct {
	Name string
	Make func(t *testing.T, tasks int, blockBytes int64) Cluster
}

// everywhere runs a test in simulated time, on each kind of cluster.
func everywhere(t *testing.T, test func(t *testing.T, ctx context.Context, m Maker)) {
	t.Helper()
	for _, m := range Makers {
		t.Run(m.Name, func(t *testing.T) {
			simulate(t, func(t *testing.T, ctx context.Context) { test(t, ctx, m) })
		})
	}
}

var errDead = errors.New("the process is dead")

// life is a process that dies: after its last operation, none has any effect, and that one's reply is lost.
type life struct {
	stop context.CancelFunc // ends the goroutines that a kill would end
	last int                // the number of its last operation; 0: it is not killed by it
	mute atomic.Bool        // its heartbeats are lost
	slow time.Duration      // that each operation takes

	turn  sync.Mutex
	ops   []string
	dead  bool
	notes []error // what the worker noted
}

// do carries out an operation, unless the process is dead.
func (l *life) do(name string, op func() error) error {
	time.Sleep(l.slow)
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.dead {
		return errDead
	}
	err := op()
	l.ops = append(l.ops, name)
	if len(l.ops) == l.last {
		l.die()
		return errDead
	}
	return err
}

func (l *life) die() {
	l.dead = true
	l.stop()
}

func (l *life) kill() {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.die()
}

// died says whether the process is dead, and after which operation.
func (l *life) died() (after string, dead bool) {
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.dead && len(l.ops) > 0 {
		after = l.ops[len(l.ops)-1]
	}
	return after, l.dead
}

// mortal is a cluster as one process sees it. It checks what must hold at each operation of every worker.
type mortal struct {
	t *testing.T
	Cluster
	*life
}

func (m mortal) cluster() Cluster {
	return Cluster{mortalQueue{m}, mortalBlocks{m}, mortalValues{m}, mortalResults{m}, m.News, m.Wire}
}

type mortalQueue struct{ mortal }

func (q mortalQueue) Put(ctx context.Context, task Task) error {
	return q.do("Queue.Put", func() error { return q.Queue.Put(ctx, task) })
}

func (q mortalQueue) Take(ctx context.Context) (Lease, error) {
	l, err := q.Queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	err = q.do("Take", func() error { return nil })
	return mortalLease{q.mortal, l}, err
}

func (q mortalQueue) Queued(ctx context.Context, run Sum) (ids []Sum, err error) {
	err = q.do("Queued", func() error { ids, err = q.Queue.Queued(ctx, run); return err })
	return ids, err
}

type mortalLease struct {
	mortal
	lease Lease
}

func (l mortalLease) Task() Task { return l.lease.Task() }

func (l mortalLease) Extend(ctx context.Context) error {
	if l.mute.Load() {
		return nil
	}
	return l.do("Extend", func() error { return l.lease.Extend(ctx) })
}

func (l mortalLease) GiveBack(ctx context.Context) error {
	return l.do("GiveBack", func() error { return l.lease.GiveBack(ctx) })
}

func (l mortalLease) Acknowledge(ctx context.Context) error {
	return l.do("Acknowledge", func() error {
		var r runState
		if _, err := read(ctx, l.Cluster.Values, runKey(l.Task().Run()), &r); err != nil || r.ended() == nil {
			if _, err := l.Cluster.Results.Read(ctx, l.Task().Run(), l.Task().Digest()); err != nil {
				l.t.Errorf("part %d is acknowledged before its result: %v", l.Task().Part, err)
			}
		}
		return l.lease.Acknowledge(ctx)
	})
}

type mortalBlocks struct{ mortal }

func (s mortalBlocks) Put(ctx context.Context, space string, sum Sum, block []byte) error {
	return s.do("Put", func() error { return s.Cluster.Blocks.Put(ctx, space, sum, block) })
}

func (s mortalBlocks) Get(ctx context.Context, space string, sum Sum) (b []byte, err error) {
	err = s.do("Get", func() error { b, err = s.Cluster.Blocks.Get(ctx, space, sum); return err })
	return b, err
}

func (s mortalBlocks) Drop(ctx context.Context, space string, sum Sum) error {
	return s.do("Drop", func() error { return s.Cluster.Blocks.Drop(ctx, space, sum) })
}

type mortalValues struct{ mortal }

func (s mortalValues) Value(ctx context.Context, key string) (b []byte, revision uint64, err error) {
	err = s.do("Value", func() error { b, revision, err = s.Cluster.Values.Value(ctx, key); return err })
	return b, revision, err
}

func (s mortalValues) Swap(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	err = s.do("Swap", func() error {
		old, _, _ := s.Cluster.Values.Value(ctx, key)
		if next, err = s.Cluster.Values.Swap(ctx, key, value, revision); err == nil && strings.HasPrefix(key, "state.") {
			var before, now state
			if old != nil && decode(old, &before) != nil || decode(value, &now) != nil || now.Epoch < before.Epoch || now.Epoch == before.Epoch && now.Worker != before.Worker {
				s.t.Errorf("the state goes from epoch %d of %s to epoch %d of %s", before.Epoch, before.Worker, now.Epoch, now.Worker)
			}
		}
		return err
	})
	return next, err
}

type mortalResults struct{ mortal }

func (r mortalResults) Write(ctx context.Context, run, task Sum, record []byte) error {
	return r.do("Write", func() error { return r.Cluster.Results.Write(ctx, run, task, record) })
}

func (r mortalResults) Read(ctx context.Context, run, task Sum) (b []byte, err error) {
	err = r.do("Read", func() error { b, err = r.Cluster.Results.Read(ctx, run, task); return err })
	return b, err
}

func (r mortalResults) Next(ctx context.Context, run Sum, after uint64) (Entry, error) {
	return r.Cluster.Results.Next(ctx, run, after)
}

func (r mortalResults) Last(ctx context.Context, run Sum) (uint64, error) {
	return r.Cluster.Results.Last(ctx, run)
}

// start starts a worker that can be killed. The channel says how it ended.
func start(t *testing.T, ctx context.Context, c Cluster, name string, work Work, last int) (*life, <-chan error) {
	ctx, stop := context.WithCancel(ctx)
	l := &life{stop: stop, last: last}
	ended := make(chan error, 1)
	w := worker(mortal{t, c, l}.cluster(), name, work)
	w.Note = func(_ Task, err error) {
		l.turn.Lock()
		defer l.turn.Unlock()
		l.notes = append(l.notes, err)
	}
	go func() { ended <- w.Run(ctx) }()
	return l, ended
}
