package runs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/regular"
)

// SaveEvery is the interval between checkpoints where none is given.
const SaveEvery = 10 * time.Second

// Options change how a run is saved and reported. They do not change the result.
type Options struct {
	Every  time.Duration     // interval between checkpoints; 0: SaveEvery
	Notice func(text string) // called with messages for the user; nil: no messages
	Now    func() time.Time  // nil: time.Now

	Free func(dir string) (bytes int64, ok bool) // of the disk of a folder, where it is known; nil: as the system says

	Executor Executor // carries out the parts; nil: the threads of this process
}

// Run is work in progress, in a folder or without one. The zero Run has no folder. Its methods, except Aside, must be called
// by one goroutine.
type Run struct {
	Manifest Manifest // current state; the caller adds Notes and Findings

	// Intact, if not nil, is asked after each step whether the data are as they were when the run began. An error stops the run, and the step
	// does not count.
	Intact func() error

	config []byte
	notice func(text string)
	free   func(dir string) (bytes int64, ok bool)
	clock  clock
	folder *Folder
	keep   *keeper // nil: nothing is saved
	open   bool    // in a folder, and neither finished nor closed

	executor Executor // nil: the threads of this process
	shelf    shelf    // for shards; nil: the folder

	telling sync.Mutex // guards the fields below, and makes calls of Phase.Watch take turns
	trace   []TraceLine
	traced  string // the phase whose steps leave lines in the trace; empty: none so far
}

// shelf has a place for shards outside of a folder.
type shelf interface {
	store(n int, write func(io.Writer) error) (sum [sha256.Size]byte, err error)
	stored(n int, sum [sha256.Size]byte, read func(file io.ReaderAt, size int64) error) error
}

// Open begins a run, or resumes the one that was begun in the folder. config is the resolved config; with the manifest's
// version and checksums it is the run's identity. If another run was begun in the folder, the error is an *OtherRunError. If
// the saved state cannot be read, it is a *DamagedError. In both cases the folder is not changed. If folder is nil, the run
// saves nothing; everything else is the same.
//
// If the run in the folder is already done, Run.Done reports it. The caller then calls ReadBack instead of Phase and Finish.
func Open(folder *Folder, config []byte, m Manifest, o Options) (*Run, error) {
	r := &Run{Manifest: m, config: config, notice: o.Notice, free: o.Free, folder: folder, executor: o.Executor}
	if r.notice == nil {
		r.notice = func(string) {}
	}
	if r.free == nil {
		r.free = regular.DiskFree
	}
	r.clock.now = o.Now
	if r.Manifest.Started.IsZero() {
		r.Manifest.Started = r.clock.time()
	}
	r.clock.counted = r.Manifest.Started // the start of this process
	r.Manifest.Started = r.Manifest.Started.UTC()
	r.Manifest.machine()
	if folder == nil {
		return r, nil
	}
	if !folder.held() {
		return nil, fmt.Errorf("folder %s is not taken, or was closed", folder.Dir)
	}
	if !folder.busy.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("a run is at work in folder %s, and another was begun in it: take a folder of its own for each run", folder.Dir)
	}
	defer func() {
		folder.busy.Store(r.open)
	}()
	r.Manifest.Kind = folder.kind.Name
	k := &keeper{folder: folder, every: o.Every, now: r.clock.time, least: leastShortened}
	k.state.identity = r.identity()
	if k.every == 0 {
		k.every = SaveEvery
	}
	if !folder.made || folder.kept {
		if err := k.resume(r); err != nil {
			return nil, err
		}
		if r.Done() {
			return r, nil
		}
	}
	if folder.resumed && !folder.kept {
		r.notice(folder.Dir + " has no checkpoint: the run begins anew")
	}
	if err := k.open(r); err != nil {
		return nil, err
	}
	r.keep, r.open = k, true
	return r, nil
}

// open writes the files that a folder holds before the first step, and opens the trace.
func (k *keeper) open(r *Run) error {
	f := k.folder
	r.Manifest.Status = Running
	if err := f.writeManifest(&r.Manifest); err != nil { // first: it tells that the folder is a run's (sweep)
		return err
	}
	if err := ckpt.WriteFile(f.path(configFile), r.config); err != nil {
		return err
	}
	if err := k.openTrace(); err != nil {
		return err
	}
	k.saved = k.now()
	return nil
}

// openTrace opens the trace's file: an empty one, or the one that the run goes on with, cut back to the checkpoint. A file that has another
// name as well, such as a copy by links, is left to that name.
func (k *keeper) openTrace() (err error) {
	path := k.folder.path(traceFile)
	if k.begun == nil {
		k.traced = newSumming()
		if err := ckpt.WriteFile(path, nil); err != nil {
			return err
		}
		return k.reopen()
	}
	k.traced = k.begun.summing
	k.begun = nil
	if err := k.reopen(); err == nil {
		return os.Truncate(path, k.traced.bytes)
	} else if !errors.Is(err, regular.ErrIrregular) {
		return err
	}
	if err := ckpt.Replace(path, "", func(w io.Writer) error { return copyOf(w, path, 0, k.traced.bytes) }); err != nil {
		return err
	}
	return k.reopen()
}

func (r *Run) identity() identity {
	m := &r.Manifest
	return identity{kind: m.Kind, release: m.Version, revision: m.Revision, config: r.config, data: m.Data, init: m.Init}
}

// Trace returns the lines so far; none of an open phase. Once their phase has ended, they are sorted by part and then by step.
func (r *Run) Trace() []TraceLine { return r.trace }

// Lines reads the trace of an open phase that has ended. A run without a folder has no lines: its Watch has seen them.
func (r *Run) Lines() Lines {
	return func(yield func(TraceLine, error) bool) {
		if r.keep == nil {
			return
		}
		r.keep.lines(yield)
	}
}

// append adds a line of a phase to the trace.
func (r *Run) append(p *Phase, l TraceLine) error {
	if r.traced != "" && r.traced != p.Name {
		return fmt.Errorf("phases %q and %q of a run both leave lines in the trace", r.traced, p.Name)
	}
	if r.traced = p.Name; r.folder != nil && r.folder.kind.Streams != p.Open {
		return fmt.Errorf("phase %q: open: %v, and the kind of its run streams: %v", p.Name, p.Open, r.folder.kind.Streams)
	}
	if err := r.keep.line(l); err != nil {
		return err
	}
	if !p.Open {
		r.trace = append(r.trace, l)
	}
	return nil
}

// Aside runs f and counts its time as evaluation, not as work. Several parts may call it at the same time.
func (r *Run) Aside(f func() error) error {
	if r == nil {
		return f()
	}
	r.clock.step(1)
	defer r.clock.step(-1)
	return f()
}

// measure records the seconds so far in the manifest.
func (r *Run) measure() {
	work, evaluation := r.clock.read()
	r.Manifest.WorkSeconds, r.Manifest.EvaluationSeconds = work.Seconds(), evaluation.Seconds()
}

// Finish ends a run whose work is done: it writes the files of the result and, last of all, the manifest, which says that
// the run is done.
func (r *Run) Finish(files []File) error {
	r.measure()
	r.Manifest.Finished, r.Manifest.Status = r.clock.time().UTC(), Done
	if !r.open {
		return nil
	}
	if !r.keep.rotate { // no phase has written a checkpoint
		if err := r.keep.write(sum{}); err != nil {
			return err
		}
	}
	err := r.keep.close()
	if err == nil {
		if r.folder.kind.Streams {
			err = r.folder.write(r.config, files, nil, map[string]sum{traceFile: r.keep.traced.sum()}, &r.Manifest)
		} else {
			err = r.folder.Write(r.config, r.trace, files, &r.Manifest)
		}
	}
	if err != nil {
		return fmt.Errorf("the run is done but could not be written: %w", remedied(err))
	}
	r.end()
	return nil
}

// KeptError is the error that ended a run, where the run's folder has a good state to go on from.
type KeptError struct {
	Err error
	Dir string
}

func (e *KeptError) Error() string {
	return fmt.Sprintf("%v\nthe last good state is kept in %s", e.Err, e.Dir)
}
func (e *KeptError) Unwrap() error { return e.Err }

// end lets another run have the folder.
func (r *Run) end() {
	r.open = false
	r.folder.busy.Store(false)
}

// Close ends a run and returns err, the error that stopped it if there was one. A run that is not done is marked as
// interrupted or failed if a state of it was saved. Close does not release the folder. Closing a run again does nothing.
func (r *Run) Close(err error) error {
	if r == nil || !r.open {
		return err
	}
	defer r.end()
	err = errors.Join(err, r.keep.close())
	r.Manifest.Finished, r.Manifest.Status = time.Time{}, Failed
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		r.Manifest.Status = Interrupted
	}
	if !r.folder.kept {
		return err
	}
	r.measure()
	r.folder.writeManifest(&r.Manifest) // the first error is reported, not this one
	// A state that counts a damaged file cannot be gone on from.
	damaged := errors.As(err, new(*DamagedError))
	if r.Manifest.Status == Failed && !damaged && (r.folder.has(checkpointFile) || r.folder.has(previousFile)) {
		err = &KeptError{err, r.folder.Dir}
	}
	return err
}
