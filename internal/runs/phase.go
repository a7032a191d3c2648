package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/pool"
)

// Part is one of the independent parts of a phase. Its methods are called one at a time.
type Part interface {
	// Step makes one step. After an error the part is as it was before. A part of an open phase whose work ends before this step
	// returns io.EOF; it is done then.
	Step(ctx context.Context) (Line, error)
	// Done reports whether the part has made its last step.
	Done() bool
	// K is the number of steps made so far.
	K() int
	// WriteTo saves the part. A Writer with a Grow(n int) may be told the size first.
	WriteTo(w io.Writer) (int64, error)
	// UnmarshalBinary restores the saved state. It is called before the first step. It must not keep the bytes.
	UnmarshalBinary(saved []byte) error
}

// Line is what a step leaves in the trace.
type Line struct {
	Progress float64 // 0 to 1: of the part's work. It is 1 after the last step and no other

	// Fields becomes a JSON object, whose keys follow island, k, progress and seconds in the trace. Either all steps of a
	// phase have fields or none has. Steps without fields are not traced. At most one phase of a run is traced.
	Fields any
}

// Phase is a list of independent parts that go on side by side.
type Phase struct {
	Name  string // unique within a run
	Parts []Part

	// Open says that the number of steps is not known beforehand: the phase has one part, its lines have no progress, and it
	// ends when Step returns io.EOF. Its lines are not held in memory: the kind of its run Streams (Run.Lines).
	Open bool

	// First, if not nil, is asked from time to time, and when an open phase ends, which step is the first whose line is still needed. The
	// lines before it are removed from the trace.
	First func(so Lines) (k int, err error)

	// SaveEnds asks for a checkpoint whenever a part ends: for few parts that each take long.
	SaveEnds bool

	// Watch, if not nil, is called for each step after its line is in the trace, one call at a time. It may look at the part
	// that made the step, and at no other. An error stops the run.
	Watch func(l TraceLine) error

	// Resumed, if not nil, is called once before the first step if a part of the phase was restored. It receives the lines of
	// the trace or, if the phase is not traced or is open, a line with Part and K alone for each part that has begun.
	Resumed func(kept []TraceLine) error
}

// Phase restores the parts that were saved and takes all of them to their ends, side by side on the pool's threads or by the run's Executor.
// The run is saved as it goes on. The first error, or the end of ctx, stops all parts after their steps; then they are saved where they are.
// A nil Run, like one without a folder, saves nothing.
func (r *Run) Phase(ctx context.Context, workers *pool.Pool, p Phase) error {
	if r == nil {
		r = new(Run)
	}
	w := &work{Phase: p, run: r, made: make([]int, len(p.Parts)), threads: workers.Threads()}
	if err := w.restore(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	by := r.executor
	if by == nil || p.Open {
		by = threads{workers}
	}
	if err := by.carry(ctx, w); err != nil {
		stop(err)
	}
	r.clock.share(0)
	stopped := context.Cause(ctx)
	if stopped == nil {
		sortTrace(r.trace)
	}
	if err := r.keep.end(stopped, p.Parts, w.made, r.trace); err != nil {
		return err
	}
	if !w.traced || p.Open { // the lines of an open phase were counted one by one
		return nil
	}
	if err := CheckTrace(r.trace, len(p.Parts)); err != nil {
		return fmt.Errorf("the trace of phase %q: %w", p.Name, err)
	}
	return nil
}

// Executor takes the parts of a phase to their ends: the threads of this process, the workers of a cluster (Elsewhere), or a worker that has
// one of them to carry out (Alone).
type Executor interface {
	// carry returns once all parts are done, or with the error that stopped them.
	carry(ctx context.Context, w *work) error
}

// threads carry out parts in this process.
type threads struct{ *pool.Pool }

func (t threads) carry(ctx context.Context, w *work) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t.Run(len(w.Parts), func(i int) {
		if err := w.advance(ctx, i); err != nil {
			stop(err)
		}
	})
	return context.Cause(ctx)
}

// work is a Phase in progress.
type work struct {
	Phase
	run     *Run
	threads int
	made    []int // steps of each part for which Watch was called

	// In turn, by run.telling:
	begun, traced bool // some part has made a step; steps leave lines in the trace
	ended         int  // parts
}

// restore brings back the parts that were saved.
func (w *work) restore() error {
	saved, err := w.run.keep.begin(w.Name, len(w.Parts), w.First)
	if err != nil {
		return w.refused(err)
	}
	w.traced = saved.traced
	var kept []TraceLine
	for i, part := range w.Parts {
		if k := saved.steps[i]; k > 0 {
			w.begun = true
			if err := part.UnmarshalBinary(saved.parts[i]); err != nil {
				return w.refused(fmt.Errorf("part %d: %w", i, err))
			}
			if w.made[i] = part.K(); w.made[i] != k {
				return w.refused(fmt.Errorf("part %d has made %d steps, not %d", i, w.made[i], k))
			}
			kept = append(kept, TraceLine{Part: i, K: k})
		}
		if part.Done() {
			w.ended++
		}
	}
	w.share()
	if w.traced && !w.Open {
		kept = w.run.trace
	}
	if w.Resumed == nil || len(kept) == 0 {
		return nil
	}
	return w.Resumed(kept)
}

// refused returns the error for a checkpoint of this run that is complete, but holds a part that cannot be restored.
func (w *work) refused(err error) error {
	if errors.As(err, new(*DamagedError)) { // another file is damaged, and says what to do: the checkpoint is good
		return &DamagedError{fmt.Errorf("phase %q: %w", w.Name, err)}
	}
	return &DamagedError{fmt.Errorf("the checkpoint %s is refused: phase %q: %w; remove it to go on from the one before, or begin anew in another folder",
		w.run.keep.folder.path(w.run.keep.from), w.Name, err)}
}

// share tells the clock how many parts share the threads.
func (w *work) share() { w.run.clock.share(min(len(w.Parts)-w.ended, w.threads)) }

// advance runs part i to its end.
func (w *work) advance(ctx context.Context, i int) error {
	for part := w.Parts[i]; !part.Done(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := w.run.step(ctx, part)
		if w.Open && err == io.EOF && part.Done() {
			w.end()
			return w.run.keep.step(i, part, w.SaveEnds)
		}
		if err != nil {
			return err
		}
		if err := w.record(i, line); err != nil {
			return err
		}
		if err := w.run.keep.step(i, part, w.SaveEnds && part.Done()); err != nil {
			return err
		}
	}
	return nil
}

// step makes a step of a part. What it made of data that have changed meanwhile, which may be an error, is worth nothing.
func (r *Run) step(ctx context.Context, part Part) (Line, error) {
	line, err := part.Step(ctx)
	if r.Intact != nil {
		if changed := r.Intact(); changed != nil {
			return line, changed
		}
	}
	return line, err
}

// end notes that a part has ended without a further step.
func (w *work) end() {
	w.run.telling.Lock()
	defer w.run.telling.Unlock()
	w.ended++
	w.share()
}

// record appends a trace line and shows the step to Watch.
func (w *work) record(i int, line Line) error {
	part := w.Parts[i]
	l := TraceLine{Part: i, K: part.K(), Progress: line.Progress}
	if l.K != w.made[i]+1 {
		return fmt.Errorf("phase %q: part %d counts %d steps after %d", w.Name, i, l.K, w.made[i])
	}
	if line.Fields != nil {
		var err error
		if l.Fields, err = json.Marshal(line.Fields); err != nil {
			return fmt.Errorf("phase %q: part %d: %w", w.Name, i, err)
		}
		if done := part.Done(); !w.Open && done != (l.Progress >= 1) {
			return fmt.Errorf("phase %q: part %d is at progress %v, done: %v", w.Name, i, l.Progress, done)
		}
	}
	seconds, _ := w.run.clock.read()
	l.Seconds = seconds.Seconds()
	w.run.telling.Lock()
	defer w.run.telling.Unlock()
	if traced := line.Fields != nil; w.begun && traced != w.traced {
		return fmt.Errorf("phase %q: some steps leave lines in the trace, others none", w.Name)
	} else if traced {
		if err := w.run.append(&w.Phase, l); err != nil {
			return err
		}
		w.traced = true
	}
	w.begun = true
	w.made[i]++
	if part.Done() {
		w.ended++
		w.share()
	}
	if w.Watch == nil {
		return nil
	}
	return w.Watch(l)
}

// RunPart runs one part to its end by itself, as a task for any machine: bytes in, bytes out. saved is the state to resume
// from, nil to begin. The result is the part's final state, with the same bytes as within a run.
func RunPart(ctx context.Context, part Part, saved []byte) ([]byte, error) {
	if saved != nil {
		if err := part.UnmarshalBinary(saved); err != nil {
			return nil, err
		}
	}
	for !part.Done() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := part.Step(ctx); err != nil && (err != io.EOF || !part.Done()) {
			return nil, err
		}
	}
	var b bytes.Buffer
	if _, err := part.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
