package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/starling-smc/starling/internal/regular"
)

// Done reports whether the work is done: Finish was called, or the run was done before it was opened.
func (r *Run) Done() bool { return r.Manifest.Status == Done }

// ReadBack replaces the work if the run was done before it was opened. read reads the files of the result; its error becomes
// a *DamagedError that says what to do.
func (r *Run) ReadBack(read func() error) error {
	if err := read(); err != nil {
		return r.folder.damaged(err)
	}
	if err := r.folder.tidy(&r.Manifest); err != nil {
		return err
	}
	r.notice("the run in " + r.folder.Dir + " is done; this is its result")
	return nil
}

// resume reads the state of the run that was begun in the folder, if there is one.
func (k *keeper) resume(r *Run) error {
	f := k.folder
	m, err := ReadManifest(f.Dir)
	begun := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var record *Record
	if begun && m.Status == Done {
		f.kept = true
		if record, err = Read(f.Dir, f.kind); err != nil {
			return err
		}
	}
	if begun && (m.Status == Done || f.has(checkpointFile) || f.has(previousFile)) {
		config, err := regular.Read(f.path(configFile), limit(configFile))
		if err != nil {
			return f.damaged(err)
		}
		was := identity{m.Kind, m.Version, m.Revision, config, m.Data, m.Init}
		if m.Status == Done { // nothing is computed: any version may show it
			was.release, was.revision = k.state.release, k.state.revision
			was.data = maps.Clone(k.state.data) // with parts that the run's version did not know
			maps.Copy(was.data, m.Data)
		}
		if err := k.state.differ(&was, f.kind.Differ); err != nil {
			var other *OtherRunError
			errors.As(err, &other)
			return &OtherRunError{other.Differs, fmt.Errorf("%s cannot be resumed: %w", f.Dir, err)}
		}
		r.Manifest.Started = m.Started
	}
	if record != nil {
		r.Manifest, r.trace = record.Manifest, record.Trace
		return nil
	}
	if err := k.load(r.notice); err != nil || !f.kept {
		return err
	}
	kept, phase, err := k.cut()
	if err != nil {
		return err
	}
	if r.traced = phase; !f.kind.Streams {
		r.trace = kept
	}
	r.clock.evaluation = time.Duration(m.EvaluationSeconds * float64(time.Second))
	if len(kept) == 0 { // the run was stopped in a phase that is not traced
		r.clock.work = time.Duration(m.WorkSeconds * float64(time.Second))
	}
	for _, l := range kept {
		r.clock.work = max(r.clock.work, time.Duration(l.Seconds*float64(time.Second)))
	}
	r.Manifest.WorkSeconds, r.Manifest.EvaluationSeconds = r.clock.work.Seconds(), r.clock.evaluation.Seconds()
	return nil
}

// load reads the checkpoint or, if it or the trace up to it is damaged, the previous one. There may be none.
func (k *keeper) load(notice func(text string)) error {
	var faults []error
	for _, name := range []string{checkpointFile, previousFile} {
		path := k.folder.path(name)
		c, trace, err := savedState(k.folder.Dir, name)
		if errors.Is(err, fs.ErrNotExist) && !k.folder.has(name) {
			continue
		}
		if c != nil && k.state.differ(&c.identity, k.folder.kind.Differ) != nil {
			err = errors.New("it belongs to another run")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s is refused: %w", path, err))
			continue
		}
		for _, fault := range faults {
			notice(fmt.Sprintf("%v; the run goes on from %s", fault, path))
		}
		k.state.phases, k.state.sorted, k.from, k.begun = c.phases, c.sorted, name, trace
		k.rotate, k.folder.kept = name == checkpointFile, true
		return nil
	}
	if faults != nil {
		return &DamagedError{fmt.Errorf("%w; there is no good one left: begin anew in another folder", errors.Join(faults...))}
	}
	return nil
}

// cut reads the trace up to the checkpoint, of a run that Streams the last line alone, and finds the phase whose steps it holds.
func (k *keeper) cut() (trace []TraceLine, phase string, err error) {
	p := k.state.traced()
	if p == nil {
		return nil, "", nil
	}
	if k.folder.kind.Streams {
		var last TraceLine
		if err = last.UnmarshalJSON(k.begun.last.whole); err == nil && (len(p.steps) != 1 || last.K != p.steps[0]) {
			err = fmt.Errorf("it ends with k %d, and the checkpoint with %v", last.K, p.steps)
		}
		trace = []TraceLine{last}
	} else {
		var text []byte
		if text, err = regular.ReadFirst(k.folder.path(traceFile), k.begun.bytes); err == nil {
			trace, err = cutTrace(text, p.steps)
		}
	}
	if err != nil {
		return nil, "", &DamagedError{fmt.Errorf("%s: %w: begin anew in another folder", k.folder.path(traceFile), err)}
	}
	return trace, p.name, nil
}
