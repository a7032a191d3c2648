package starling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// Fit carries a Spec out: it loads the data, searches for point estimates if the Spec asks for them, makes the posterior, and
// evaluates the ensembles on the test examples. With Options.Folder it saves the run there; without, it writes no files. Given
// the folder of a stopped run (ResumeFolder), it resumes the run, with the same result bit for bit. A run that is done is read
// back.
//
// The error is a *ConfigError for a fault of the Spec, a *DataError for a fault of the data, or the context's error if it
// ended. Other errors name the part of the run that failed.
func Fit(ctx context.Context, spec Spec, o Options) (*Result, error) {
	f := &fit{}
	if err := f.prepare(spec, o); err != nil {
		return nil, err
	}
	if err := f.open(o); err != nil {
		return nil, err
	}
	if f.job.Run.Done() {
		return f.readBack(ctx, o.Folder.Dir)
	}
	err := f.checkDisk()
	if err == nil {
		err = f.work(ctx)
	}
	if err := f.job.Run.Close(err); err != nil {
		return nil, damage(err)
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

// fit is a Fit in progress.
type fit struct {
	Result
	job      method.Job
	initSum  string // checksum of the file of model.init
	most     int64  // bytes beyond which the posterior is written as several files; 0: no limit
	began    time.Time
	progress func(Event)
}

// prepare loads the data and makes the network and the prior.
func (f *fit) prepare(spec Spec, o Options) (err error) {
	if f.progress = o.Progress; f.progress == nil {
		f.progress = func(Event) {}
	}
	now := time.Now
	if o.now != nil {
		now = o.now
	}
	f.began = now()
	if err := spec.Verify(); err != nil {
		return err
	}
	f.Spec = spec
	faults := config.NewFaults()
	if method.CheckLoading(spec.Data.LoadBytes(o.DataDir), o.Memory, faults.In("data")); len(faults.All()) > 0 {
		return f.Spec.Error(faults.All()...)
	}
	if f.Data, err = f.Spec.Load(o.DataDir, nil); err != nil {
		return readFault(err)
	}
	if f.Net = f.Spec.Model.Network(f.Data, faults.In("model")); f.Net == nil || len(faults.All()) > 0 {
		return f.Spec.Error(faults.All()...)
	}
	f.job = method.Job{Seed: spec.Seed, Data: f.Data, Net: f.Net, Search: f.Spec.MAP, Anchor: f.Spec.Prior.Anchor, Pool: pool.New(o.Threads)}
	f.job.Tell = func(s method.Status) { f.progress(&Progress{s}) }
	if f.job.Model, err = nn.NewTraining(f.Net, f.Data, f.job.Pool); err != nil {
		return f.Spec.Fault("model", "%v", err)
	}
	if err := f.Spec.CompleteFor(f.Data.Train.Len(), f.Net.Flops()); err != nil {
		return err
	}
	f.Spec.Method.CheckData(f.Data.Train.Len(), f.Net.Dim(), f.Spec.At(), faults)
	f.job.Files = o.Folder != nil
	f.job.CheckMemory(f.Spec.Way(), o.Memory, f.Spec.At(), faults)
	if err := f.Spec.Error(faults.All()...); err != nil {
		return err
	}
	f.Findings = f.Data.Findings()
	if f.Data.Amounts > 0 {
		last := fmt.Sprint("model.layers.", len(f.Spec.Model.Layers)-1)
		f.Findings = append(f.Findings, finding.Of(finding.WholeAmounts{Target: f.Data.Schema.Target, Values: f.Data.Amounts, Layer: last}))
	}
	if f.Spec.InitUnused() {
		f.Findings = append(f.Findings, finding.Of(finding.InitUnused{}))
	}
	if f.job.Init, f.initSum, err = f.Spec.Model.ReadInit(f.Net.Whole()); err != nil {
		return &DataError{fmt.Errorf("model.init: %w", err)}
	}
	if f.Spec.Prior.Family != nil {
		if f.job.Prior, err = f.Spec.Prior.Family.Prior(f.Net.Random(), f.Data.Train.Len()); err != nil {
			return err
		}
		f.Findings = append(f.Findings, f.Spec.Prior.Family.Findings(f.Data.Train.Len())...)
	}
	f.progress(&Loaded{&f.Spec, f.Data, f.Net})
	if o.Folder != nil && o.Folder.Kept() { // a run that goes on has said it
		return nil
	}
	var early []Finding
	for _, found := range f.Findings {
		if found.Early() {
			early = append(early, found)
		}
	}
	if s := f.Spec.Way().Sampling(); s != nil {
		early = append(early, s.Foresee(f.Net.Dim())...)
	}
	for _, found := range early {
		f.progress(&Notice{found.Words()})
	}
	return nil
}

// open begins the run in the folder, if there is one, or reads the state of the run that was begun there.
func (f *fit) open(o Options) (err error) {
	if o.Folder != nil {
		f.most = o.Folder.Most()
	}
	m := Manifest{Started: f.began, Threads: f.job.Pool.Threads(), Kernel: lanes.Kernel(), Data: f.Data.Checksums(), Init: f.initSum}
	m.Version, m.Revision = Version()
	f.job.Run, err = runs.Open(o.Folder, f.Spec.YAML(), m, runs.Options{
		Every: o.Every, Now: o.now, Free: o.free, Notice: func(text string) { f.progress(&Notice{text}) },
	})
	return damage(err)
}

// checkDisk refuses a run whose kept states and checkpoints will not fit on the disk. Those that a resumed run has there already count as
// free.
func (f *fit) checkDisk() error {
	free, ok := f.job.Run.Free()
	if !ok {
		return nil
	}
	faults := config.NewFaults()
	f.job.CheckDisk(f.Spec.Way(), free, f.Spec.At(), faults)
	return f.Spec.Error(faults.All()...)
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

// work carries out the run, from the data to the result.
func (f *fit) work(ctx context.Context) error {
	out, err := f.job.Do(ctx, f.Spec.Way())
	if err != nil {
		return f.withReasons(err)
	}
	f.Ensembles, f.Trace, f.Courses, f.Findings = out.Ensembles, out.Trace, out.Courses, append(f.Findings, out.Findings...)
	if err := f.evaluate(ctx); err != nil {
		return err
	}
	if chains := f.Metrics.Chains; chains != nil {
		f.Findings = append(f.Findings, chains.Findings()...)
		f.Metrics.Findings = f.Findings
	}
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
	return f.job.Run.Finish(files)
}

func (f *fit) evaluate(ctx context.Context) error {
	f.job.Tell(method.Status{Phase: "evaluation"})
	return f.job.Run.Aside(func() (err error) {
		if !f.job.Run.Done() { // a run that is done keeps its decision, or an older version made it without one
			var found []Finding
			if f.Decision, found, err = eval.Decide(ctx, f.Posterior, f.Data.Validate, f.job.Pool); err != nil {
				return fmt.Errorf("evaluation of the validation examples: %w", err)
			}
			f.Findings = append(f.Findings, found...)
		}
		f.Assessment, err = f.Spec.Evaluate(ctx, &f.Ensembles, f.Data, f.job.Pool)
		if err != nil {
			return fmt.Errorf("evaluation: %w", err)
		}
		f.Metrics.Findings, f.Metrics.TrainedOn = f.Findings, testTrains(f.Spec, f.Data)
		f.Metrics.Predicted = f.Assessment.Findings(&f.Ensembles, f.Spec.Method.Needs().Whole)
		return nil
	})
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
		return nil, damage(err)
	}
	if err := f.evaluate(ctx); err != nil {
		return nil, err
	}
	return &f.Result, nil
}

// damage wraps an error about a damaged run's folder in a *DataError.
func damage(err error) error {
	var damaged *runs.DamagedError
	if errors.As(err, &damaged) {
		return &DataError{err}
	}
	return err
}
