package starling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// Files of a run's folder, in addition to those of package runs.
const (
	schemaFile    = "data.json"             // the data.Schema: how files become what the network sees
	posteriorFile = "posterior.safetensors" // the posterior ensemble
	restartsFile  = "map.safetensors"       // the MAP restarts, if there were any
	coursesFile   = "map.jsonl"             // their NLL epoch by epoch, a method.Course each
	metricsFile   = "metrics.json"          // eval.Metrics
	decisionFile  = "decision.json"         // eval.Decision, if there is one
	reportFile    = "report.html"           // the page, written by the command
)

// Kind is a kind of run: FitRuns, FilterRuns or SBCRuns.
type Kind = runs.Kind

// FitRuns is the kind of run that Fit makes.
var FitRuns = Kind{
	Name: "fit", Files: []string{schemaFile, posteriorFile, restartsFile, coursesFile, metricsFile, decisionFile, reportFile}, Replaced: []string{decisionFile}, Shards: "samples", Stored: method.StoredSums, Differ: config.Diff,
	Most: 1e9, IsCut: func(name string) bool { return safetensors.IsCut(posteriorFile, name) },
}

// TakeFolder makes a folder for a run. If dir exists, the error is fs.ErrExist.
func TakeFolder(dir string, kind Kind) (*Folder, error) { return runs.TakeFolder(dir, kind) }

// RetakeFolder takes the folder of a process that was killed before it saved anything. For any other folder the error is
// fs.ErrExist.
func RetakeFolder(dir string, kind Kind) (*Folder, error) { return runs.RetakeFolder(dir, kind) }

// ResumeFolder takes the folder of a run, so that Fit or Filter resumes the run, or makes the folder.
func ResumeFolder(dir string, kind Kind) (*Folder, error) {
	f, err := runs.ResumeFolder(dir, kind)
	return f, damage(err)
}

// IsRunFile reports whether path is a file in a run's folder. Other output should not be written there.
func IsRunFile(path string) bool { return runs.IsRunFile(path, FitRuns, FilterRuns, SBCRuns) }

// Run is a run's folder, read back.
type Run struct {
	Dir      string
	Spec     Spec
	Net      *nn.Net
	Schema   *data.Schema // how files become the network's inputs and targets
	Manifest Manifest
	Trace    []TraceLine // of islands that were not lost
	Courses  []Course    // of the MAP restarts; nil if there were none, or the run is older than they are
	Findings []Finding
	eval.Ensembles

	record *runs.Record
}

// Notes returns the findings in plain words, without those that only pages show.
func (r *Run) Notes() []string { return notes(r.Findings) }

// OpenRun reads the folder of a finished run. If there is no finished run, the error is a *NotDoneError, which says how to
// resume a run that was begun. If a file is damaged, missing or inconsistent with the others, or is not the one that the run
// wrote, it is a *DataError that names the file.
func OpenRun(dir string) (*Run, error) {
	r, err := OpenUndecided(dir)
	if err == nil {
		err = r.readDecision()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// OpenUndecided reads a run as OpenRun does, but without its decision. That may be damaged, or another posterior's: Run.Calibrate replaces it.
func OpenUndecided(dir string) (*Run, error) {
	record, err := runs.Read(dir, FitRuns)
	if err != nil {
		return nil, damage(err)
	}
	r := &Run{Dir: dir, Manifest: record.Manifest, record: record}
	damaged := r.damaged
	if r.Spec, err = ParseSpec(filepath.Join(dir, "config.yaml"), record.Config); err != nil {
		return nil, &DataError{Err: err}
	}
	if r.Net, err = r.Spec.Model.Random.Network(r.Spec.Model.Input, r.Spec.Model.Layers, r.Spec.Model.Likelihood); err != nil {
		return nil, damaged("config.yaml", err)
	}
	r.Net = r.Spec.Freeze(r.Net)
	if r.Trace, err = method.ReadTrace(record.Trace); err != nil {
		return nil, damaged("trace.jsonl", err)
	}
	if s := r.Spec.Way().Sampling(); s != nil {
		if err := runs.CheckTrace(record.Trace, s.Islands); err != nil {
			return nil, damaged("trace.jsonl", err)
		}
		r.Trace = method.Remaining(r.Trace)
		r.Chains, r.Precision = s.Record(r.Trace), s.Precision(r.Trace)
	} else if len(record.Trace) > 0 {
		if err := runs.CheckTrace(record.Trace, 1); err != nil {
			return nil, damaged("trace.jsonl", err)
		}
	}
	if err := r.readFindings(); err != nil {
		return nil, err
	}
	if len(r.Manifest.Cost) > 0 {
		if err := jsontext.Read(r.Manifest.Cost, &r.Cost); err != nil {
			return nil, damaged("manifest.json", fmt.Errorf("cost: %w", err))
		}
	}
	for _, f := range []struct {
		name string
		read func(text []byte) error
	}{{schemaFile, r.readSchema}, {restartsFile, r.readRestarts}, {coursesFile, r.readCourses}} {
		if f.name == restartsFile && r.Spec.MAP == nil {
			continue
		}
		if _, listed := r.Manifest.Files[f.name]; !listed && f.name == coursesFile {
			continue // there were no restarts, or the run is older
		}
		text, err := record.File(f.name)
		if err != nil {
			return nil, damage(err)
		}
		if err := f.read(text); err != nil {
			return nil, damaged(f.name, err)
		}
	}
	if err := r.readPosterior(); err != nil {
		return nil, err
	}
	return r, nil
}

// readFindings reads what the manifest says of the run.
func (r *Run) readFindings() error {
	r.Findings = nil
	if len(r.Manifest.Findings) == 0 {
		return nil
	}
	if err := jsontext.Read(r.Manifest.Findings, &r.Findings); err != nil {
		return r.damaged("manifest.json", fmt.Errorf("findings: %w", err))
	}
	return nil
}

// damaged is the error of a file of the run that does not fit the others.
func (r *Run) damaged(file string, err error) error {
	return &DataError{Err: fmt.Errorf("%s: %w", filepath.Join(r.Dir, file), err)}
}

func (r *Run) readSchema(text []byte) (err error) {
	if r.Schema, err = data.DecodeSchema(text); err == nil && !data.TakesShape(r.Spec.Model.Input, r.Schema.Shape) {
		err = fmt.Errorf("examples of shape %v, the network takes %v", r.Schema.Shape, r.Spec.Model.Input)
	}
	return err
}

func (r *Run) readRestarts(text []byte) (err error) {
	r.Restarts, r.NLL, r.Chosen, err = bnn.ReadRestarts(text, r.Net.Whole())
	return err
}

func (r *Run) readCourses(text []byte) (err error) {
	if r.Restarts == nil {
		return errors.New("there were no restarts")
	}
	r.Courses, err = method.ReadCourses(text, r.Restarts.Size())
	return err
}

// readDecision reads what the run decides by, if it decides anything.
func (r *Run) readDecision() error {
	if !r.record.Has(decisionFile) {
		return nil
	}
	text, err := r.record.File(decisionFile)
	if err != nil {
		return damage(err)
	}
	d, err := eval.ReadDecision(text)
	if err == nil {
		err = d.Fits(r.Posterior)
	}
	if err != nil {
		return r.damaged(decisionFile, err)
	}
	r.Decision, r.Manifest = d, r.record.Manifest // another process may have replaced both since the manifest was read
	return r.readFindings()
}

// ReadMetrics reads the scores that the run wrote when it was done: metrics.json. The error is a *DataError.
func (r *Run) ReadMetrics() (*eval.Metrics, error) {
	text, err := r.record.File(metricsFile)
	if err != nil {
		return nil, damage(err)
	}
	m := new(eval.Metrics)
	if err := jsontext.Read(text, m); err != nil {
		return nil, &DataError{Err: fmt.Errorf("%s: %w", filepath.Join(r.Dir, metricsFile), err)}
	}
	return m, nil
}

// VerifyRun compares every file of a run's folder with its checksum. Of a run that is not done, it checks what the run would
// go on from. Errors are those of OpenRun, but no file's fault is an error.
func VerifyRun(dir string) (*Verification, error) {
	kind := FitRuns
	if m, err := runs.ReadManifest(dir); err == nil {
		for _, other := range []Kind{FilterRuns, SBCRuns} {
			if m.Kind == other.Name {
				kind = other
			}
		}
	}
	return runs.Verify(dir, kind)
}

// IsFilterRun reports whether a folder holds a run of a filter, as its manifest says.
func IsFilterRun(dir string) bool {
	m, err := runs.ReadManifest(dir)
	return err == nil && m.Kind == FilterRuns.Name
}

// Differs returns an error that lists the values in which a resolved Spec differs from the run's; nil if none differ but the
// name.
func (r *Run) Differs(spec Spec) error {
	spec.Name = r.Spec.Name
	return config.Diff(r.Spec.YAML(), spec.YAML())
}

// On names the data that a run is evaluated on. The zero value is the run's own data, which must not have changed.
type On struct {
	Data   string   // another data set by name, or a file of examples
	Labels string   // the targets, if Data is a file of inputs alone
	OOD    []string // data sets or files of out-of-distribution inputs

	// Classes say which class of the network each class of Data is, where Data has other classes; nil: they are the network's. The
	// examples of classes that it has are scored, and then all of them, the others as wrong (eval.Metrics.AllClasses).
	Classes data.ClassMap

	Islands []int // evaluate these islands of the posterior alone, counted from 0, or these chains; nil: all
	Members int   // evaluate so many of the members that are left, those kept last (bnn.Ensemble.Last); 0: all
	Fewer   bool  // score fewer of the members, too, however few there are: Metrics.Members
}

// Evaluate scores the ensembles of a run again: on the run's own data it gives the same metrics bit for bit. How other data differ from
// what the run was trained on, and which inputs lie outside, is in the Assessment's Problem.Noted. The error is a
// *ConfigError for an unknown name, and a *DataError for data that have changed or do not fit the network.
func (r *Run) Evaluate(ctx context.Context, on On, o Options) (_ *eval.Assessment, err error) {
	defer func() { err = damage(err) }()
	defer regular.Caught(&err)
	ensembles := r.Ensembles
	if on.Islands != nil {
		some, err := r.ofIslands(on.Islands)
		if err != nil {
			return nil, err
		}
		ensembles = *some
	}
	if most := ensembles.Posterior.Alive(); on.Members < 0 || on.Members > most {
		return nil, wrongUse("%d members: the posterior of the run in %s has %d that carry a weight: want a number from 1 to %d", on.Members, r.Dir, most, most)
	}
	p, err := r.problem(on, o.DataDir)
	if err != nil {
		return nil, readFault(err)
	}
	ensembles.Last, ensembles.Fewer = on.Members, on.Fewer
	if !r.isOwn(on) { // chains are compared on the validation examples of the run
		ensembles.Chains = nil
	}
	var found []Finding
	if (on.Members > 0 || on.Islands != nil) && r.Decision != nil && len(p.Groups) > 0 {
		if ensembles.Decision, found, err = r.decideAgain(ctx, on, ensembles.Posterior, p, o); err != nil {
			return nil, err
		}
	}
	a, err := r.Spec.Evaluate(ctx, &ensembles, p, pool.New(o.Threads))
	var input *eval.InputError
	if errors.As(err, &input) {
		err = &DataError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	a.Metrics.Findings = slices.Concat(r.found(on), found, r.taught(on, a))
	if r.isOwn(on) {
		a.Metrics.TrainedOn = testTrains(r.Spec, p)
	} else if a.Metrics.TrainedOn, err = r.trainedOn(o.DataDir, a.Set()); err != nil {
		a.Metrics.Untold = err.Error()
	}
	whole := r.Spec.Method.Needs().Whole
	if r.isOwn(on) {
		if err := a.Propose(ctx, &ensembles, p.Lessons(), whole, pool.New(o.Threads)); err != nil {
			return nil, fmt.Errorf("evaluation of the validation examples: %w", err)
		}
	}
	a.Metrics.Predicted = a.Findings(&ensembles, whole)
	return a, nil
}

// found are the run's findings that are also about what on names. How far the evidences of all islands agree is not about some of them.
func (r *Run) found(on On) []Finding {
	if on.Islands == nil {
		return r.Findings
	}
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return finding.Is(f, finding.EvidenceAgrees{}, finding.EvidenceScatters{}) })
}

// taught finds which of the data that on names taught the run to decide. Its own data are compared when it learns to.
func (r *Run) taught(on On, a *eval.Assessment) (found []Finding) {
	if r.Decision == nil || r.Decision.Learnt == nil {
		return nil
	}
	groups := a.Problem.Groups[len(a.Problem.Groups)-len(on.OOD):]
	if !r.isOwn(on) && r.Decision.From.Has(a.Set()) {
		found = append(found, finding.Of(finding.CalibrationScored{Data: on.Data}))
	}
	for i, name := range on.OOD {
		if r.Decision.From.Has(groups[i].Set) {
			found = append(found, finding.Of(finding.CalibrationScored{Data: name}))
		}
	}
	return found
}

// trainedOn counts the examples of other data than the run's own that the run learnt from. The error says why that is not known: the
// run's own data cannot be read.
func (r *Run) trainedOn(dir string, set *data.Set) (int, error) {
	if r.Spec.Method.Needs().Whole {
		return 0, nil
	}
	p, err := r.own(dir)
	if err != nil {
		return 0, err
	}
	return among(set, p.Train), nil
}

// ofIslands are the run's ensembles with some islands of the posterior alone.
func (r *Run) ofIslands(which []int) (*eval.Ensembles, error) {
	n, unit := len(r.Posterior.LogEvidence), "island"
	var by bnn.Combination
	if s := r.Spec.Way().Sampling(); s != nil {
		by, unit = s.Combine, s.Unit
	}
	for i, p := range which {
		if p < 0 || p >= n || slices.Contains(which[:i], p) {
			return nil, wrongUse("%s %d: the posterior of the run in %s has %s: want numbers from 0 to %d, each once", unit, p, r.Dir, numeral.Several(n, unit), n-1)
		}
	}
	some, err := r.Ensembles.OfIslands(which, by)
	if err != nil {
		err = &DataError{Err: fmt.Errorf("the run in %s: %w", r.Dir, err)}
	}
	return some, err
}

// decideAgain returns the decision by some of the run's members, whose energies have a threshold of their own: that of the run's
// validation examples, whatever data on names. The posterior is that of the islands that on names.
func (r *Run) decideAgain(ctx context.Context, on On, posterior *bnn.Ensemble, p *data.Problem, o Options) (*eval.Decision, []Finding, error) {
	if !r.isOwn(on) {
		var err error
		if p, err = r.own(o.DataDir); err != nil {
			return nil, nil, readFault(fmt.Errorf("the threshold of some members comes from the run's validation examples: %w", err))
		}
	}
	d, found, err := eval.ForLast(ctx, posterior, cmp.Or(on.Members, posterior.Alive()), p.Lessons(), pool.New(o.Threads))
	if err != nil {
		return nil, nil, fmt.Errorf("evaluation of the validation examples: %w", err)
	}
	return d, found, nil
}

// isOwn reports whether on names the run's own data.
func (r *Run) isOwn(on On) bool { return on.Data == "" || on.Data == r.Spec.Data.Set }

// problem loads the data that a run is evaluated on into memory, as inputs and targets of its network.
func (r *Run) problem(on On, dir string) (p *data.Problem, err error) {
	switch {
	case r.isOwn(on) && on.Labels != "":
		return nil, wrongUse("the labels %s need a file of inputs", on.Labels)
	case r.isOwn(on) && on.Classes != nil:
		return nil, wrongUse("--classes are for other data than the run's")
	case r.isOwn(on):
		p, err = r.own(dir)
	case on.Classes != nil:
		p, err = r.Schema.ReadClasses(on.Data, on.Labels, dir, on.Classes)
	default:
		p, err = r.Schema.Read(on.Data, on.Labels, dir)
	}
	if err == nil && !r.isOwn(on) {
		p.LookOutside()
	}
	if err == nil {
		err = p.ReadGroups(dir, on.OOD...)
	}
	return p, err
}

// readFault makes an error of reading data a *ConfigError if it is about a config or an argument (an unknown name, or a
// missing second argument), and else a *DataError.
func readFault(err error) error {
	var field *data.FieldError
	switch {
	case err == nil || errors.As(err, new(*ConfigError)):
		return err
	case errors.As(err, &field):
		return wrongUse("%s", field.Message)
	}
	return &DataError{Err: err}
}

// own loads the run's own data, which must not have changed: from where the run was made and, if they are not there, from the current
// folder.
func (r *Run) own(dir string) (*data.Problem, error) {
	made, other := "", error(nil)
	if from := r.Manifest.From; from != "" && from != whence(r.Dir) {
		made = filepath.Join(r.Dir, filepath.FromSlash(from))
		p, err := r.ownUnder(made, dir)
		if err == nil {
			return p, nil
		}
		other = err
	}
	p, err := r.ownUnder("", dir)
	switch {
	case err == nil:
	case other != nil && !errors.Is(other, fs.ErrNotExist):
		return nil, other // they are there, and have changed
	case !errors.Is(err, fs.ErrNotExist):
	case made != "":
		err = fmt.Errorf("%w (the run's own data; paths in its config are relative to the folder in which it was made, %s: they are neither there nor in the current folder)", err, made)
	default:
		err = fmt.Errorf("%w (the run's own data; paths in its config are relative to the current folder)", err)
	}
	return p, err
}

// ownUnder loads the run's own data from a folder; "": the current one.
func (r *Run) ownUnder(folder, dir string) (*data.Problem, error) {
	s := r.Spec
	if folder != "" {
		s.Data = s.Data.Under(folder)
	}
	p, err := s.Load(dir, r.Schema)
	if err != nil {
		return nil, err
	}
	if folder != "" {
		p.Called(s.Data, r.Spec.Data)
	}
	sums := p.Checksums()
	for _, part := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[part]
		was, listed := r.Manifest.Data[part]
		if !listed && data.ToCalibrate(part) {
			continue // a known set has them since a later version than the run's
		}
		if was != sum {
			return nil, fmt.Errorf("the %s examples of %s are not those of the run: checksum %s, was %s", part, p.Name, sum, was)
		}
	}
	return p, nil
}

// Division lists the examples of the run's own data with their parts. It is computed again from the config, the seed and the data, which
// must not have changed. The error is a *DataError.
func (r *Run) Division(o Options) ([]data.Place, error) {
	p, err := r.own(o.DataDir)
	if err != nil {
		return nil, readFault(err)
	}
	return p.Division(), nil
}

// Predictor returns a predictor that predicts files of inputs by the run's posterior, and by its threshold, if it keeps one.
func (r *Run) Predictor(o Options) *eval.Predictor {
	return &eval.Predictor{Posterior: r.Posterior, Schema: r.Schema, Decision: r.Decision, Pool: pool.New(o.Threads)}
}
