package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Record holds the files of a finished run's folder that every kind of run has.
type Record struct {
	Dir      string
	Config   []byte
	Manifest Manifest
	Trace    []TraceLine // CheckTrace tells whether it is complete
}

// Read reads the folder of a finished run. If there is no finished run, the error is a *NotDoneError, which says how to
// resume a run that was begun. If a file is damaged or missing, it is a *DamagedError; if the run is of another kind, an
// *OtherRunError.
func Read(dir string, kind Kind) (*Record, error) {
	config, err := os.ReadFile(filepath.Join(dir, configFile))
	m, unknown := ReadManifest(dir)
	switch {
	case err != nil && unknown != nil:
		return nil, &NotDoneError{fmt.Errorf("%s holds no run: %w", dir, err)}
	case errors.Is(unknown, fs.ErrNotExist): // the process was killed before it wrote the manifest
		m.Status = "without a manifest"
	case unknown != nil:
		return nil, unknown
	case m.Kind != "" && m.Kind != kind.Name:
		return nil, &OtherRunError{OtherKind, fmt.Errorf("the run in %s was made by starling %s, not by starling %s", dir, m.Kind, kind.Name)}
	case err != nil && m.Status != Done:
		return nil, &NotDoneError{fmt.Errorf("the run in %s is %s and has lost its config: %w; begin it anew in another folder", dir, m.Status, err)}
	}
	if m.Status != Done {
		return nil, &NotDoneError{fmt.Errorf("the run in %s is %s; to go on with it: starling %s %s --out %s --resume",
			dir, m.Status, kind.Name, filepath.Join(dir, configFile), dir)}
	}
	if err != nil {
		return nil, &DamagedError{err}
	}
	path := filepath.Join(dir, traceFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &DamagedError{err}
	}
	trace, err := ReadTrace(text)
	if err != nil {
		return nil, &DamagedError{fmt.Errorf("%s: %w", path, err)}
	}
	return &Record{dir, config, m, trace}, nil
}

// Done reports whether the work is done: Finish was called, or the run was done before it was opened.
func (r *Run) Done() bool { return r.Manifest.Status == Done }

// ReadBack replaces the work if the run was done before it was opened. read reads the files of the result; its error becomes
// a *DamagedError that says what to do.
func (r *Run) ReadBack(read func() error) error {
	if err := read(); err != nil {
		return r.folder.damaged(err)
	}
	if err := r.folder.tidy(); err != nil {
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
		return f.damaged(err)
	}
	if begun && (m.Status == Done || f.has(checkpointFile) || f.has(previousFile)) {
		config, err := os.ReadFile(f.path(configFile))
		if err != nil {
			return f.damaged(err)
		}
		was := identity{cmp.Or(m.Kind, f.kind.Name), m.Version, m.Revision, config, m.Data, m.Init}
		if m.Status == Done { // nothing is computed: any version may show it
			was.release, was.revision = k.state.release, k.state.revision
		}
		if err := k.state.differ(&was, f.kind.Differ); err != nil {
			var other *OtherRunError
			errors.As(err, &other)
			return &OtherRunError{other.Differs, fmt.Errorf("%s cannot be resumed: %w", f.Dir, err)}
		}
		r.Manifest.Started = m.Started
	}
	if begun && m.Status == Done {
		f.kept = true
		record, err := Read(f.Dir, f.kind)
		if err != nil {
			return f.damaged(err)
		}
		r.Manifest, r.trace = record.Manifest, record.Trace
		return nil
	}
	if err := k.load(r.notice); err != nil || !f.kept {
		return err
	}
	if r.trace, r.traced, err = k.cut(); err != nil {
		return err
	}
	r.clock.evaluation = time.Duration(m.EvaluationSeconds * float64(time.Second))
	if len(r.trace) == 0 { // the run was stopped in a phase that is not traced
		r.clock.work = time.Duration(m.WorkSeconds * float64(time.Second))
	}
	for _, l := range r.trace {
		r.clock.work = max(r.clock.work, time.Duration(l.Seconds*float64(time.Second)))
	}
	r.Manifest.WorkSeconds, r.Manifest.EvaluationSeconds = r.clock.work.Seconds(), r.clock.evaluation.Seconds()
	return nil
}

// load reads the checkpoint or, if it is damaged, the previous one. There may be none.
func (k *keeper) load(notice func(text string)) error {
	var faults []error
	for _, name := range []string{checkpointFile, previousFile} {
		path := k.folder.path(name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var c *checkpoint
		if err == nil {
			c, err = readCheckpoint(b)
		}
		if err == nil && k.state.differ(&c.identity, k.folder.kind.Differ) != nil {
			err = errors.New("it belongs to another run")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s is refused: %w", path, err))
			continue
		}
		for _, fault := range faults {
			notice(fmt.Sprintf("%v; the run goes on from %s", fault, path))
		}
		k.state.phases, k.from = c.phases, name
		k.rotate, k.folder.kept = name == checkpointFile, true
		return nil
	}
	if faults != nil {
		return &DamagedError{fmt.Errorf("%w; there is no good one left: begin anew in another folder", errors.Join(faults...))}
	}
	return nil
}

// cut reads the trace up to the checkpoint, and finds the phase whose steps it holds.
func (k *keeper) cut() (trace []TraceLine, phase string, err error) {
	path := k.folder.path(traceFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", &DamagedError{fmt.Errorf("%w: begin anew in another folder", err)}
	}
	p := k.state.traced()
	if p == nil {
		return nil, "", nil
	}
	if trace, err = cutTrace(text, p.steps); err != nil {
		return nil, "", &DamagedError{fmt.Errorf("%s: %w: begin anew in another folder", path, err)}
	}
	return trace, p.name, nil
}
