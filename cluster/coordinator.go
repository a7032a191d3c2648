package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Coordinator submits the tasks of a phase and collects their results. Any number of coordinators may be at the same run, one after
// another or side by side.
type Coordinator struct {
	Cluster
	Window int // tasks that are queued or computed at a time: twice the workers or more; 0: 4096
}

const (
	look      = time.Second      // between two looks at whether the run has ended
	reconcile = 30 * time.Second // between two comparisons of the queue with the results
)

// End is the result of a task: what its worker computed, and what came beside it.
type End struct{ Result, Beside []byte }

// Do has all tasks computed, and calls each for every result in the order of the tasks, whatever order they arrive in. The tasks are
// those of one phase of one run, and different. A run that exists is joined: results that are there are not computed again. Do returns
// ErrCancelled or a *FailedError if the run ends before. When ctx ends, Do returns; the tasks that are queued go on.
func (c *Coordinator) Do(ctx context.Context, tasks []Task, each func(i int, end End) error) error {
	if len(tasks) == 0 {
		return nil
	}
	p := &phase{Coordinator: c, run: tasks[0].Run(), tasks: tasks, place: map[Sum]int{}, results: make([]*Result, len(tasks))}
	for i, t := range tasks {
		id := t.Digest()
		if _, twice := p.place[id]; twice || t.Run() != p.run {
			return fmt.Errorf("task %d is there twice, or is of another run than task 0", i)
		}
		p.ids, p.place[id] = append(p.ids, id), i
	}
	if err := p.join(ctx); err != nil {
		return err
	}
	for {
		if err := p.deliver(ctx, each); err != nil || p.delivered == len(tasks) {
			return err
		}
		if err := p.fill(ctx); err != nil {
			return err
		}
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
}

// phase is a list of tasks at work.
type phase struct {
	*Coordinator
	run     Sum
	tasks   []Task
	ids     []Sum
	place   map[Sum]int // of a task in tasks
	results []*Result   // in the order of the tasks; nil: not yet

	after             uint64 // the number of the last result that was read
	put               int    // tasks before this one were put into the queue
	open              int    // of them, without a result
	delivered         int    // results that each has
	looked, reconcile time.Time
}

// join begins the run, or joins the one that is there, and reads the results that there are.
func (p *phase) join(ctx context.Context) error {
	r, err := p.changeRun(ctx, p.run, func(r *runState) bool {
		changes := r.Status == "" || r.Status == cancelled || r.Status == done
		if changes {
			r.Status = open
		}
		return changes
	})
	if err == nil {
		err = r.ended()
	}
	if err != nil {
		return err
	}
	p.looked, p.reconcile = time.Now(), time.Now()
	return p.catchUp(ctx)
}

// catchUp reads all results that there are now. It reads to the number of the last one: a server that starts again may deliver nothing
// for seconds, and that is not the end.
func (p *phase) catchUp(ctx context.Context) error {
	last, err := p.Results.Last(ctx, p.run)
	for err == nil && p.after < last {
		if _, err = p.next(ctx, 5*time.Second); errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = nil
		}
	}
	return err
}

// next reads one result, and waits for it if there is none yet.
func (p *phase) next(ctx context.Context, most time.Duration) (found bool, err error) {
	waiting, stop := context.WithTimeout(ctx, most)
	defer stop()
	e, err := p.Results.Next(waiting, p.run, p.after)
	if err != nil {
		return false, err
	}
	p.after = e.Number
	i, ours := p.place[e.Task]
	if !ours || p.results[i] != nil { // of another phase
		return true, nil
	}
	var r Result
	if err := decode(e.Record, &r); err != nil {
		return true, fmt.Errorf("the result of task %d: %w", i, err)
	}
	if p.results[i] = &r; i < p.put {
		p.open--
	}
	return true, nil
}

// deliver hands on the results that have come, up to the first that has not.
func (p *phase) deliver(ctx context.Context, each func(int, End) error) error {
	for p.delivered < len(p.tasks) && p.results[p.delivered] != nil {
		r := p.results[p.delivered]
		b, err := Load(ctx, p.Blocks, Shared, r.Content)
		var beside []byte
		if err == nil && r.Beside.Bytes > 0 {
			beside, err = Load(ctx, p.Blocks, Shared, r.Beside)
		}
		if err != nil {
			return fmt.Errorf("the result of task %d: %w", p.delivered, err)
		}
		if err := each(p.delivered, End{b, beside}); err != nil {
			return err
		}
		p.delivered++
	}
	return nil
}

// fill puts tasks into the queue, as many as the window and the queue have room for.
func (p *phase) fill(ctx context.Context) error {
	window := p.Window
	if window == 0 {
		window = 4096
	}
	for ; p.put < len(p.tasks) && p.open < window; p.put++ {
		if p.results[p.put] != nil {
			continue
		}
		switch err := p.Queue.Put(ctx, p.tasks[p.put]); {
		case errors.Is(err, ErrFull):
			return nil
		case err != nil && !errors.Is(err, ErrQueued):
			return err
		}
		p.open++
	}
	return nil
}

// wait waits for the next result. Meanwhile it looks whether the run has ended, and puts tasks again that the queue has lost.
func (p *phase) wait(ctx context.Context) error {
	_, err := p.next(ctx, look)
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return err
	}
	now := time.Now()
	if now.Sub(p.looked) >= look {
		p.looked = now
		var r runState
		if _, err := read(ctx, p.Values, runKey(p.run), &r); err != nil {
			return err
		}
		if err := r.ended(); err != nil {
			return err
		}
	}
	if now.Sub(p.reconcile) >= reconcile {
		p.reconcile = now
		return p.again(ctx)
	}
	return nil
}

// again puts the tasks again that have neither a result nor a place in the queue. The queue is asked first: a task that ends in between is
// then counted as queued, and is not put again.
func (p *phase) again(ctx context.Context) error {
	queued, err := p.Queue.Queued(ctx, p.run)
	if err != nil {
		return err
	}
	if err := p.catchUp(ctx); err != nil {
		return err
	}
	there := map[Sum]bool{}
	for _, id := range queued {
		there[id] = true
	}
	for i := range p.put {
		if p.results[i] != nil || there[p.ids[i]] {
			continue
		}
		switch err := p.Queue.Put(ctx, p.tasks[i]); {
		case errors.Is(err, ErrFull):
			return nil
		case err != nil && !errors.Is(err, ErrQueued):
			return err
		}
	}
	return nil
}
