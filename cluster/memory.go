package cluster

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"
)

// InMemory returns a cluster within this process. It holds at most so many tasks in the queue and so many bytes of blocks; 0 is no limit.
// It does the worst that the contracts of [Queue] and [Lease] allow.
func InMemory(tasks int, blockBytes int64) Cluster {
	return Cluster{
		Queue:   &memoryQueue{most: tasks, held: map[Sum]*held{}},
		Blocks:  &memoryBlocks{most: blockBytes, blocks: map[memoryName][]byte{}},
		Values:  &memoryValues{values: map[string]memoryValue{}},
		Results: &memoryResults{runs: map[Sum]*memoryRun{}},
		News:    &memoryNews{},
		Wire:    MemoryWire(1<<20, nil),
	}
}

// memoryQueue is a Queue. A task is in held from Put to Acknowledge, and in waiting while nobody leases it.
type memoryQueue struct {
	turn    sync.Mutex
	most    int
	held    map[Sum]*held
	waiting []Sum        // may name tasks that are leased or gone: lease passes over them
	takers  []chan Lease // that wait for a task
}

type held struct {
	task   Task
	run    Sum
	lease  int         // counts the deliveries
	expiry *time.Timer // of the lease; nil: nobody leases the task
}

func (q *memoryQueue) Put(_ context.Context, task Task) error {
	q.turn.Lock()
	defer q.turn.Unlock()
	id := task.Digest()
	if q.held[id] != nil {
		return ErrQueued
	}
	if q.most > 0 && len(q.held) >= q.most {
		return ErrFull
	}
	q.held[id] = &held{task: task, run: task.Run()}
	q.offer(id)
	return nil
}

// offer hands a task to the worker that has waited longest, if one waits. The turn is held.
func (q *memoryQueue) offer(id Sum) {
	if len(q.takers) == 0 {
		q.waiting = append(q.waiting, id)
		return
	}
	taker := q.takers[0]
	q.takers = q.takers[1:]
	taker <- q.lease(id)
}

func (q *memoryQueue) Take(ctx context.Context) (Lease, error) {
	q.turn.Lock()
	for len(q.waiting) > 0 {
		id := q.waiting[0]
		q.waiting = q.waiting[1:]
		if h := q.held[id]; h != nil && h.expiry == nil {
			defer q.turn.Unlock()
			return q.lease(id), nil
		}
	}
	mine := make(chan Lease, 1)
	q.takers = append(q.takers, mine)
	q.turn.Unlock()
	select {
	case l := <-mine:
		return l, nil
	case <-ctx.Done():
	}
	q.turn.Lock()
	defer q.turn.Unlock()
	if i := slices.Index(q.takers, mine); i >= 0 {
		q.takers = slices.Delete(q.takers, i, i+1)
		return nil, ctx.Err()
	}
	return <-mine, nil // offered meanwhile
}

// lease leases a task. The turn is held.
func (q *memoryQueue) lease(id Sum) Lease {
	h := q.held[id]
	h.lease++
	l := &memoryLease{q, id, h.task, h.lease}
	h.expiry = time.AfterFunc(LeaseTime, func() { l.GiveBack(context.Background()) })
	return l
}

func (q *memoryQueue) Queued(_ context.Context, run Sum) ([]Sum, error) {
	q.turn.Lock()
	defer q.turn.Unlock()
	var ids []Sum
	for id, h := range q.held {
		if h.run == run {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

type memoryLease struct {
	queue *memoryQueue
	id    Sum
	task  Task
	lease int
}

func (l *memoryLease) Task() Task { return l.task }

// mine returns what the queue holds of the task, if this is the newest lease and has not ended. The queue's turn is held.
func (l *memoryLease) mine() *held {
	if h := l.queue.held[l.id]; h != nil && h.lease == l.lease && h.expiry != nil {
		return h
	}
	return nil
}

func (l *memoryLease) Extend(context.Context) error {
	l.queue.turn.Lock()
	defer l.queue.turn.Unlock()
	if h := l.mine(); h != nil {
		h.expiry.Reset(LeaseTime)
	}
	return nil
}

func (l *memoryLease) GiveBack(context.Context) error {
	l.queue.turn.Lock()
	defer l.queue.turn.Unlock()
	if h := l.mine(); h != nil {
		h.expiry.Stop()
		h.expiry = nil
		l.queue.offer(l.id)
	}
	return nil
}

// Acknowledge removes the task even where another worker leases it by now, as NATS does.
func (l *memoryLease) Acknowledge(context.Context) error {
	l.queue.turn.Lock()
	defer l.queue.turn.Unlock()
	if h := l.queue.held[l.id]; h != nil {
		if h.expiry != nil {
			h.expiry.Stop()
		}
		delete(l.queue.held, l.id)
	}
	return nil
}

type memoryBlocks struct {
	turn       sync.Mutex
	most, size int64
	blocks     map[memoryName][]byte
}

type memoryName struct {
	space string
	sum   Sum
}

func (s *memoryBlocks) Put(_ context.Context, space string, sum Sum, block []byte) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	name := memoryName{space, sum}
	grows := int64(len(block) - len(s.blocks[name]))
	if len(block) > MaxBlock || s.most > 0 && s.size+grows > s.most {
		return ErrFull
	}
	s.size += grows
	s.blocks[name] = bytes.Clone(block)
	return nil
}

func (s *memoryBlocks) Get(_ context.Context, space string, sum Sum) ([]byte, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	block, ok := s.blocks[memoryName{space, sum}]
	if !ok {
		return nil, ErrNone
	}
	return bytes.Clone(block), nil
}

func (s *memoryBlocks) Drop(_ context.Context, space string, sum Sum) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.size -= int64(len(s.blocks[memoryName{space, sum}]))
	delete(s.blocks, memoryName{space, sum})
	return nil
}

type memoryValues struct {
	turn      sync.Mutex
	values    map[string]memoryValue
	revisions uint64
}

type memoryValue struct {
	bytes    []byte
	revision uint64
}

func (s *memoryValues) Value(_ context.Context, key string) ([]byte, uint64, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	v := s.values[key]
	return v.bytes, v.revision, nil
}

func (s *memoryValues) Swap(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.values[key].revision != revision {
		return 0, ErrConflict
	}
	s.revisions++
	s.values[key] = memoryValue{bytes.Clone(value), s.revisions}
	return s.revisions, nil
}

type memoryResults struct {
	turn sync.Mutex
	runs map[Sum]*memoryRun
}

type memoryRun struct {
	entries []Entry
	of      map[Sum][]byte
	more    chan struct{} // closed when an entry comes
}

// run returns the results of a run. The turn is held.
func (r *memoryResults) run(id Sum) *memoryRun {
	if r.runs[id] == nil {
		r.runs[id] = &memoryRun{of: map[Sum][]byte{}, more: make(chan struct{})}
	}
	return r.runs[id]
}

func (r *memoryResults) Write(_ context.Context, run, task Sum, record []byte) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	m := r.run(run)
	if m.of[task] != nil {
		return ErrExists
	}
	m.of[task] = bytes.Clone(record)
	m.entries = append(m.entries, Entry{uint64(len(m.entries) + 1), task, m.of[task]})
	close(m.more)
	m.more = make(chan struct{})
	return nil
}

func (r *memoryResults) Read(_ context.Context, run, task Sum) ([]byte, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	if record := r.run(run).of[task]; record != nil {
		return slices.Clip(record), nil
	}
	return nil, ErrNone
}

func (r *memoryResults) Next(ctx context.Context, run Sum, after uint64) (Entry, error) {
	for {
		r.turn.Lock()
		m := r.run(run)
		more := m.more
		if after < uint64(len(m.entries)) {
			e := m.entries[after]
			r.turn.Unlock()
			return e, nil
		}
		r.turn.Unlock()
		select {
		case <-ctx.Done():
			return Entry{}, ctx.Err()
		case <-more:
		}
	}
}

func (r *memoryResults) Last(_ context.Context, run Sum) (uint64, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	return uint64(len(r.run(run).entries)), nil
}
