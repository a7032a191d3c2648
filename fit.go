package starling

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/smc"
)

// Fit carries a Spec out: it loads the data, searches for point estimates if the Spec asks for them, makes the posterior, and
// evaluates the ensembles on the test examples. With Options.Folder it saves the run there; without, it writes no files. Given
// the folder of a stopped run (ResumeFolder), it resumes the run, with the same result bit for bit. A run that is done is read
// back.
//
// The error is a *ConfigError for a fault of the Spec, a *DataError for a fault of the data, or the context's error if it
// ended. Other errors name the part of the run that failed.
func Fit(ctx context.Context, spec Spec, o Options) (_ *Result, err error) {
	defer func() { err = damage(err) }()
	defer regular.Caught(&err)
	f, err := plan(spec, o)
	if err != nil {
		return nil, err
	}
	if f.job.Run.Done() {
		return f.readBack(ctx, o.Folder.Dir)
	}
	if err := f.job.Run.Close(f.work(ctx)); err != nil {
		return nil, err
	}
	f.Manifest = f.job.Run.Manifest
	if f.Posterior.Members != nil { // of files that are gone, since the run is done
		was, err := OpenRun(o.Folder.Dir)
		if err != nil {
			return nil, err
		}
		f.Posterior = was.Posterior
	}
	return &f.Result, nil
}

// fit is a Fit in progress: a plan, which is run, and whose result is assessed. Each step returns its findings.
type fit struct {
	Result
	job      method.Job
	way      method.Method // that the job does
	most     int64         // bytes beyond which the posterior is written as several files; 0: no limit
	progress func(Event)
	told     atomic.Pointer[method.Status] // the last that the method told; nil: nothing
	others   *runs.Elsewhere               // carry out the parts; nil: this process does
}

// plan makes all checks before the work begins. The last of them, of the disk, needs the run, which it begins in the folder or reads
// back from there.
func plan(s Spec, o Options) (*fit, error) {
	f := &fit{progress: oneByOne(o.Progress)}
	now := time.Now
	if o.now != nil {
		now = o.now
	}
	m := Manifest{Started: now(), Kernel: lanes.Kernel()}
	m.Version, m.Revision = Version()
	switch {
	case o.from != nil:
		m.From = *o.from
	case o.Folder != nil:
		m.From = whence(o.Folder.Dir)
	}
	p, err := s.Plan(o.DataDir, o.Memory, method.Job{
		Pool: pool.New(o.Threads), Files: o.Folder != nil, Tell: func(s method.Status) {
			f.told.Store(&s)
			f.progress(&Progress{s})
		},
	})
	if err != nil {
		return nil, err
	}
	if s.Data.OwnCalibrate() || s.Data.CalibrateGroups != nil {
		p.Findings = append(p.Findings, calibrated(p.Job.Data, !s.Method.Needs().Whole)...)
	}
	f.job, f.way, f.Spec, f.Data, f.Net, f.Findings = p.Job, p.Way, p.Spec, p.Job.Data, p.Job.Net, p.Findings
	f.progress(&Loaded{&f.Spec, f.Data, f.Net})
	if o.Folder == nil || !o.Folder.Kept() { // a run that goes on has said it
		early := slices.DeleteFunc(slices.Clone(p.Findings), func(f Finding) bool { return !f.Early() })
		for _, found := range append(early, p.Short...) {
			f.progress(&Notice{found.Words(), &found})
		}
	}
	if o.Folder != nil {
		f.most = o.Folder.Most()
	}
	m.Threads, m.Data, m.Init = f.job.Pool.Threads(), f.Data.Checksums(), p.InitSum
	var by runs.Executor
	if f.others = elsewhere(o, &f.Spec, sumsOf(p), func() method.Status { return *cmp.Or(f.told.Load(), &method.Status{}) }, f.progress); f.others != nil {
		by = f.others
	}
	f.job.Run, err = runs.Open(o.Folder, f.Spec.YAML(), m, runs.Options{
		Every: o.Every, Now: o.now, Free: o.free, Notice: func(text string) { f.progress(&Notice{Text: text}) },
		Executor: by,
	})
	if err != nil || f.job.Run.Done() {
		return f, err
	}
	f.job.Run.Intact = f.Data.Unchanged
	faults := config.NewFaults()
	if free, ok := f.job.Run.Free(); ok { // with what a run that goes on has there
		p.Memory.CheckDisk(free, faults)
	}
	if err := f.Spec.Error(faults.All()...); err != nil {
		return nil, f.job.Run.Close(err)
	}
	return f, nil
}

// work runs the plan, assesses the result, and writes the files.
func (f *fit) work(ctx context.Context) (err error) {
	defer regular.Caught(&err)
	found, err := f.run(ctx)
	if err != nil {
		return err
	}
	assessed, err := f.assess(ctx)
	if err != nil {
		return err
	}
	if err := f.Data.Unchanged(); err != nil {
		return err
	}
	f.Findings = slices.Concat(f.Findings, found, assessed)
	f.Metrics.Findings = f.Findings
	m := &f.job.Run.Manifest
	m.Notes = f.Notes()
	if m.Findings, err = json.Marshal(f.Findings); err != nil {
		return err
	}
	if m.Cost, err = json.Marshal(f.Cost); err != nil {
		return err
	}
	files, err := f.files(f.most)
	if err != nil {
		return err
	}
	if err := f.job.Run.Finish(files); err != nil || f.others == nil {
		return err
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // an interrupt comes too late
	defer end()
	if err := f.others.Finish(ctx); err != nil {
		f.progress(&Notice{Text: fmt.Sprintf("the run is done, and the server could not be told: %v", err)})
	}
	return nil
}

// run carries out the method, and returns what it found of the particles.
func (f *fit) run(ctx context.Context) ([]Finding, error) {
	out, err := f.job.Do(ctx, f.way)
	if err != nil {
		return nil, f.withReasons(err)
	}
	f.Ensembles, f.Trace, f.Courses = out.Ensembles, out.Trace, out.Courses
	return out.Findings, nil
}

// assess scores the ensembles, and returns what it found of their validation and of the chains.
func (f *fit) assess(ctx context.Context) (found []Finding, err error) {
	f.job.Tell(method.Status{Phase: "evaluation"})
	err = f.job.Run.Aside(func() (err error) {
		if !f.job.Run.Done() { // a run that is done keeps its decision, or an older version made it without one
			if f.Decision, found, err = eval.Decide(ctx, &f.Ensembles, f.Data.Lessons(), f.Spec.Decide, f.Data.Schema, f.Spec.Seed, f.job.Pool); err != nil {
				return fmt.Errorf("evaluation of the validation and calibration examples: %w", err)
			}
		}
		if f.Assessment, err = f.Spec.Evaluate(ctx, &f.Ensembles, f.Data, f.job.Pool); err != nil {
			return fmt.Errorf("evaluation: %w", err)
		}
		f.Metrics.TrainedOn = testTrains(f.Spec, f.Data)
		whole := f.Spec.Method.Needs().Whole
		if err := f.Assessment.Propose(ctx, &f.Ensembles, f.Data.Lessons(), whole, f.job.Pool); err != nil {
			return fmt.Errorf("evaluation of the validation examples: %w", err)
		}
		f.Metrics.Predicted = f.Assessment.Findings(&f.Ensembles, whole)
		if chains := f.Metrics.Chains; chains != nil {
			found = append(found, chains.Findings()...)
		}
		return nil
	})
	return found, err
}

// files returns the files of a result, in addition to those of package runs. A posterior of more than most bytes has several.
func (r *Result) files(most int64) ([]runs.File, error) {
	files := []runs.File{{Name: schemaFile, Write: func(w io.Writer) error { return jsontext.Write(w, r.Data.Schema) }}}
	posterior, err := bnn.PosteriorFiles(r.Posterior, posteriorFile, most)
	if err != nil {
		return nil, err
	}
	for _, f := range posterior {
		files = append(files, runs.File{Name: f.Name, Write: f.Write})
	}
	files = append(files, runs.File{Name: metricsFile, Write: r.Metrics.WriteJSON})
	if r.Restarts != nil {
		files = append(files, runs.File{Name: restartsFile, Write: func(w io.Writer) error {
			return bnn.WriteRestarts(w, r.Restarts, r.NLL, r.Chosen)
		}}, runs.File{Name: coursesFile, Write: func(w io.Writer) error { return method.WriteCourses(w, r.Courses) }})
	}
	if r.Decision != nil {
		files = append(files, runs.File{Name: decisionFile, Write: func(w io.Writer) error { return jsontext.Write(w, r.Decision) }})
	}
	return files, nil
}

// withReasons adds to an error of particles that are too different, or that cannot begin, what in the data and the prior makes them so.
func (f *fit) withReasons(err error) error {
	if !errors.Is(err, smc.ErrFew) && !errors.Is(err, smc.ErrStart) {
		return err
	}
	if scale := f.Data.LargeScale(); scale != "" {
		err = fmt.Errorf("%w; or the reason is the data's scale: %s", err, scale)
	}
	if prior := f.Spec.Prior.Family; prior != nil && prior.Wide() != "" {
		err = fmt.Errorf("%w; or the reason is the prior: %s", err, prior.Wide())
	}
	return err
}

// readBack returns the result of a run that is done.
func (f *fit) readBack(ctx context.Context, dir string) (*Result, error) {
	err := f.job.Run.ReadBack(func() error {
		was, err := OpenRun(dir)
		if err != nil {
			return err
		}
		f.Ensembles, f.Trace, f.Courses, f.Findings, f.Manifest = was.Ensembles, was.Trace, was.Courses, was.Findings, was.Manifest
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := f.assess(ctx); err != nil {
		return nil, err
	}
	f.Metrics.Findings = f.Findings
	return &f.Result, nil
}

// damage wraps an error about a damaged run's folder, or about a file that was changed while the run used it, in a *DataError.
func damage(err error) error {
	switch {
	case errors.As(err, new(*DataError)):
	case errors.As(err, new(*runs.DamagedError)), errors.As(err, new(*regular.ChangedError)):
		return &DataError{Err: err}
	}
	return err
}
