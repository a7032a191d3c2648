package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Job is what a worker gives to its [Work].
type Job struct {
	Task  Task
	State []byte // the saved state to go on from; nil: begin

	attempt *attempt
	ctx     context.Context
}

// Load returns the bytes of a content that the task names, from the space Shared.
func (j *Job) Load(c Content) ([]byte, error) {
	defer j.attempt.moves()
	return Load(context.WithoutCancel(j.ctx), j.attempt.Blocks, Shared, c)
}

// Progress is called after each step, with the share of the work that is done: 0 to 1. It says whether the state is to be saved now.
func (j *Job) Progress(share float64) (save bool) {
	a := j.attempt
	a.moves()
	if share >= 0 && share <= 1 {
		a.progress.Store(math.Float64bits(share))
	}
	return j.ctx.Err() != nil || time.Since(a.saved) >= or(a.Every, 10*time.Second)
}

// Save saves the state, to go on from if this worker ends. After an error Work must return it.
func (j *Job) Save(state []byte) error { return j.attempt.save(j.ctx, state) }

// attempt is a worker's try at a task.
type attempt struct {
	*Worker
	task    Task
	run, id Sum
	lease   Lease
	stop    context.CancelCauseFunc // ends the attempt

	// Used by the computing goroutine alone:
	beside Content   // what Job.Beside was given
	kept   []Content // what Job.Keep was given by this attempt and those before

	begun    time.Time
	moved    atomic.Int64  // nanoseconds from begun until the computing goroutine last made progress
	progress atomic.Uint64 // bits of a float64
	saved    time.Time     // when the state was last saved; used by the computing goroutine alone

	turn     sync.Mutex // guards the fields below
	state    state
	revision uint64 // of state in the store; 0: not claimed
	before   int    // attempts without progress before this one
}

func (a *attempt) moves() { a.moved.Store(int64(time.Since(a.begun))) }

// steps takes the task from the queue's delivery to its acknowledgement. It may end anywhere: another attempt then does what is left.
func (a *attempt) steps(ctx context.Context) error {
	keep := context.WithoutCancel(ctx)
	var r runState
	if _, err := read(keep, a.Values, runKey(a.run), &r); err != nil {
		return err
	}
	if err := r.ended(); err != nil {
		return err
	}
	if _, err := a.Results.Read(keep, a.run, a.id); err == nil {
		return a.lease.Acknowledge(keep)
	} else if !errors.Is(err, ErrNone) {
		return err
	}
	if err := a.claim(keep); err != nil {
		return err
	}
	job := &Job{Task: a.task, State: a.load(keep), attempt: a, ctx: ctx}
	a.moves()
	result, err := a.compute(ctx, job)
	if gone := over(ctx); gone != nil {
		return gone
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if final := (*FinalError)(nil); errors.As(err, &final) {
			return a.fail(keep, a.run, fmt.Sprintf("part %d of phase %q: %v", a.task.Part, a.task.Phase, final.Err))
		}
		return err
	}
	if err := a.finish(keep, result, time.Since(a.begun)); err != nil {
		return err
	}
	if err := a.lease.Acknowledge(keep); err != nil {
		return err
	}
	a.drop(keep, a.state.Saved, nil)
	return nil
}

// compute calls Work. A panic is an error like others: it counts as an attempt.
func (a *attempt) compute(ctx context.Context, job *Job) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return a.Work(ctx, job)
}

// over returns an error where the attempt has been given up, and may write nothing.
func over(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errLost) || errors.As(cause, new(*HungError)) {
		return errLost
	}
	return nil
}

// claim makes the task this worker's, and shuts out all that took it before. A task that has ended its workers too often fails its run.
func (a *attempt) claim(ctx context.Context) error {
	a.turn.Lock()
	defer a.turn.Unlock()
	var s state
	revision, err := read(ctx, a.Values, stateKey(a.run, a.id), &s)
	if errors.As(err, new(*malformedError)) {
		return a.fail(ctx, a.run, fmt.Sprintf("the state of part %d of phase %q: %v", a.task.Part, a.task.Phase, err))
	}
	if err != nil {
		return err
	}
	if s.Attempts >= attempts {
		return a.fail(ctx, a.run, fmt.Sprintf("part %d of phase %q has ended %d times without progress; the last time: %s", a.task.Part, a.task.Phase, s.Attempts, s.Last))
	}
	a.before = s.Attempts
	s.Epoch++
	s.Attempts++
	s.Worker, s.Last = a.Name, fmt.Sprintf("worker %s took it and was not heard of again", a.Name)
	return a.swap(ctx, s, revision)
}

// load returns the newest saved state whose bytes are as they were. Where none is, the part begins anew, with the same bytes in the end.
func (a *attempt) load(ctx context.Context) []byte {
	a.saved, a.kept = time.Now(), a.state.Kept
	for _, c := range a.state.Saved {
		b, err := Load(ctx, a.Blocks, stateKey(a.run, a.id), c)
		if err == nil {
			return b
		}
		a.note(a.task, err)
	}
	return nil
}

// save writes the blocks of a state, which changes nothing for others, and then points to them.
func (a *attempt) save(ctx context.Context, bytes []byte) error {
	keep := context.WithoutCancel(ctx)
	if err := over(ctx); err != nil {
		return err
	}
	c, err := Save(keep, a.Blocks, stateKey(a.run, a.id), bytes)
	if err != nil {
		return err
	}
	a.turn.Lock()
	defer a.turn.Unlock()
	if err := over(ctx); err != nil {
		return err
	}
	s, before := a.state, a.state.Saved
	if len(s.Saved) == 0 || s.Saved[0].Sum != c.Sum {
		s.Saved = append([]Content{c}, s.Saved[:min(1, len(s.Saved))]...)
		s.Attempts, a.before = 1, 0
	}
	s.Progress, s.Kept = math.Float64frombits(a.progress.Load()), a.kept
	if err := a.swap(keep, s, a.revision); err != nil {
		return err
	}
	a.moves()
	a.saved = time.Now()
	a.drop(keep, before, s.Saved)
	return nil
}

// drop removes the blocks of states that are needed no more, except those that are parts of a kept state.
func (a *attempt) drop(ctx context.Context, old, kept []Content) {
	needed := map[Sum]bool{}
	for _, c := range kept {
		for _, sum := range c.Blocks {
			needed[sum] = true
		}
	}
	for _, c := range old {
		for _, sum := range c.Blocks {
			if !needed[sum] {
				a.noteIf(a.task, a.Blocks.Drop(ctx, stateKey(a.run, a.id), sum))
			}
		}
	}
}

// swap writes the task's state at the revision that this worker holds. Where another worker has taken the task, it is errLost.
func (a *attempt) swap(ctx context.Context, s state, revision uint64) error {
	next, err := swap(ctx, a.Values, stateKey(a.run, a.id), s, revision)
	if errors.Is(err, ErrConflict) {
		a.stop(errLost)
		return errLost
	}
	if err == nil {
		a.state, a.revision = s, next
	}
	return err
}

// finish writes the result, unless there is one. Two results with different bytes fail the run.
func (a *attempt) finish(ctx context.Context, bytes []byte, took time.Duration) error {
	c, err := Save(ctx, a.Blocks, Shared, bytes)
	if err != nil {
		return err
	}
	mine := Result{a.id, c, a.beside, a.kept, a.Name, a.state.Epoch, took.Seconds()}
	err = a.Results.Write(ctx, a.run, a.id, encode(mine))
	if !errors.Is(err, ErrExists) {
		return err
	}
	record, err := a.Results.Read(ctx, a.run, a.id)
	if err != nil {
		return err
	}
	var first Result
	if err := decode(record, &first); err != nil {
		return err
	}
	if first.Content.Sum == mine.Content.Sum {
		return nil
	}
	return a.fail(ctx, a.run, fmt.Sprintf("part %d of phase %q has two results: workers %s and %s computed different bytes from the same task. One of the machines is at fault, or the program",
		a.task.Part, a.task.Phase, first.Worker, mine.Worker), first, mine)
}

// end writes how the attempt ended, where the task is still this worker's, and returns how many have ended so. An attempt that was asked to
// end (why is nil) does not count. It does not wait for a goroutine that hangs in a write, nor touch what that one uses.
func (a *attempt) end(ctx context.Context, why error) (tried int) {
	if !a.turn.TryLock() {
		return 0
	}
	defer a.turn.Unlock()
	if a.revision == 0 {
		return 0
	}
	s := a.state
	if s.Attempts = a.before; why != nil {
		s.Attempts, s.Last = a.before+1, fmt.Sprintf("worker %s: %v", a.Name, why)
	}
	_, err := swap(ctx, a.Values, stateKey(a.run, a.id), s, a.revision)
	if errors.Is(err, ErrConflict) {
		err = errLost
	}
	a.noteIf(a.task, err)
	return s.Attempts
}
