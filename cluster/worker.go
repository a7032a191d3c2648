package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Work computes the result of a task. The same task must give the same bytes, on whichever machine, and from whichever saved state. When
// ctx ends, Work finishes or drops its step, saves its state, and returns an error.
type Work func(ctx context.Context, job *Job) (result []byte, err error)

// FinalError is an error of Work that every worker would meet: the run fails at once. Any other error counts as an attempt.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }
func (e *FinalError) Unwrap() error { return e.Err }

// Worker takes tasks from a cluster and computes them, one at a time. A process may have several.
type Worker struct {
	Cluster
	Name    string // of this worker and no other, such as the host, the process and a number
	Machine string // on which it is, for people
	Work    Work

	Version, Arch, Kernel string // of this program: tasks that ask for others are refused

	Lease    time.Duration // the queue's, of which a worker is heard four times; 0: LeaseTime
	Every    time.Duration // between two saved states; 0: 10 s
	Deadline time.Duration // the longest time without progress, longer than any step; 0: 1 h

	// Note, if not nil, is told of faults that the worker has survived.
	Note func(task Task, err error)
}

// ErrStopped is why the context of a [Work] has ended whose worker was asked to stop: its task is given back. Where the run was cancelled or has
// failed, the cause is ErrCancelled or a *FailedError.
var ErrStopped = errors.New("the worker was asked to stop")

var errLost = errors.New("another worker has taken the task over")

// attempts is how often a task may end without progress before its run fails. pause is the time after the first; it doubles with each.
const (
	attempts = 5
	pause    = time.Second
)

// HungError says that a task has made no progress for too long. The goroutine that computes it cannot be stopped: end the process.
type HungError struct{ After time.Duration }

func (e *HungError) Error() string { return fmt.Sprintf("no progress for %v", e.After) }

// Run takes and computes tasks until ctx ends. Then it gives its task back after the step, and returns nil. It returns a *ForeignError
// for a task that this program or machine cannot compute, and a *HungError if a task hangs: another worker gets the task in either case.
func (w *Worker) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		lease, err := w.Queue.Take(ctx)
		if err == nil {
			err = w.carryOut(ctx, lease)
			if errors.As(err, new(*ForeignError)) || errors.As(err, new(*HungError)) {
				return err
			}
		} else if ctx.Err() == nil {
			w.note(Task{}, err)
			wait(ctx, pause)
		}
	}
	return nil
}

// carryOut sees a task to its end, or gives it back. This goroutine keeps the lease alive while another one computes, so that a long step
// does not lose the task.
func (w *Worker) carryOut(ctx context.Context, lease Lease) error {
	after := context.WithoutCancel(ctx) // the end of ctx ends the work, not what is written about it
	task := lease.Task()
	if err := task.foreign(w.Version, w.Arch, w.Kernel); err != nil {
		var r runState
		if _, unread := read(after, w.Values, runKey(task.Run()), &r); unread == nil && r.ended() != nil {
			w.noteIf(task, lease.Acknowledge(after)) // else what an older program left behind would come again and again, before other tasks
			return nil
		}
		return errors.Join(err, lease.GiveBack(after))
	}
	work, stop := context.WithCancelCause(after)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(ErrStopped) })()
	a := &attempt{Worker: w, task: task, run: task.Run(), id: task.Digest(), lease: lease, stop: stop, begun: time.Now()}
	ended := make(chan error, 1)
	go func() { ended <- a.steps(work) }()
	err := a.watch(work, ended)
	switch hung, failed, foreign := new(*HungError), new(*FailedError), new(*ForeignError); {
	case err == nil:
	case errors.Is(err, errLost): // neither acknowledge the task nor give it back
		w.note(task, errLost)
	case errors.Is(err, ErrCancelled), errors.As(err, failed):
		a.end(after, nil)
		w.noteIf(task, lease.Acknowledge(after))
	case errors.As(err, hung): // the queue delivers the task again when the lease has ended
		a.end(after, err)
		return err
	case errors.Is(err, ErrStopped):
		a.end(after, nil)
		w.noteIf(task, lease.GiveBack(after))
	case errors.As(err, foreign):
		(*foreign).task = task
		a.end(after, nil)
		return errors.Join(err, lease.GiveBack(after))
	default:
		w.note(task, err)
		tried := a.end(after, err)
		wait(ctx, min(pause<<max(0, tried-1), LeaseTime/2))
		w.noteIf(task, lease.GiveBack(after))
	}
	return nil
}

// watch extends the lease until the attempt has ended. It stops an attempt that makes no progress, or whose run has ended.
func (a *attempt) watch(ctx context.Context, ended <-chan error) error {
	beat := time.NewTicker(a.beatTime())
	defer beat.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-beat.C:
		}
		if still := time.Since(a.begun) - time.Duration(a.moved.Load()); still > or(a.Deadline, time.Hour) {
			hung := &HungError{still}
			a.stop(hung)
			return hung
		}
		if err := a.beat(context.WithoutCancel(ctx)); err != nil {
			a.stop(err)
		}
	}
}

// beatTime is the time between two words to the queue.
func (w *Worker) beatTime() time.Duration { return or(w.Lease, LeaseTime) / 4 }

// beat extends the lease, and returns how the run has ended, if it has. A server that does not answer holds it up for a beat at most.
func (a *attempt) beat(ctx context.Context) error {
	most := a.beatTime()
	ctx, stop := context.WithTimeoutCause(ctx, most, fmt.Errorf("the server has not answered for %v", most))
	defer stop()
	err := a.lease.Extend(ctx)
	var r runState
	if ctx.Err() == nil {
		a.noteIf(a.task, err)
		_, err = read(ctx, a.Values, runKey(a.run), &r)
	}
	a.noteIf(a.task, err)
	return r.ended()
}

func (w *Worker) note(task Task, err error) {
	if w.Note != nil {
		w.Note(task, err)
	}
}

func (w *Worker) noteIf(task Task, err error) {
	if err != nil {
		w.note(task, err)
	}
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// wait waits for a time, or for the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
