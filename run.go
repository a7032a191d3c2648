package starling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// Files of a run's folder, beside those that every run has.
const (
	schemaFile    = "data.json"             // the data.Schema: how files become what the network sees
	posteriorFile = "posterior.safetensors" // the posterior ensemble
	restartsFile  = "map.safetensors"       // the MAP restarts, if there were any
	metricsFile   = "metrics.json"          // eval.Metrics
	reportFile    = "report.html"           // the page, if the command ran
)

// fits is the kind of run that Fit makes.
var fits = runs.Kind{
	Name: "fit", Files: []string{schemaFile, posteriorFile, restartsFile, metricsFile, reportFile}, Differ: config.Diff,
}

// TakeFolder makes a folder for a run, and those around it. If dir exists, the error is fs.ErrExist.
func TakeFolder(dir string) (*Folder, error) { return runs.TakeFolder(dir, fits) }

// RetakeFolder takes the folder that a process left behind which was killed before it kept anything: one that holds a lock,
// which nobody has, and nothing else. For any other the error is fs.ErrExist.
func RetakeFolder(dir string) (*Folder, error) { return runs.RetakeFolder(dir, fits) }

// ResumeFolder takes the folder of a run to resume it, or makes it. The error says so if another process has it, or if it holds
// what no run has written.
func ResumeFolder(dir string) (*Folder, error) { return runs.ResumeFolder(dir, fits) }

// IsRunFile says whether path is that of a file that a run keeps in its folder: nothing else should be written there.
func IsRunFile(path string) bool { return runs.IsRunFile(path, fits) }

// files are those of a result beside what every run has.
func (r *Result) files() []runs.File {
	files := []runs.File{
		{Name: schemaFile, Write: func(w io.Writer) error { return jsontext.Write(w, r.Data.Schema) }},
		{Name: posteriorFile, Write: func(w io.Writer) error { return bnn.WritePosterior(w, r.Posterior) }},
		{Name: metricsFile, Write: r.Metrics.WriteJSON},
	}
	if r.Restarts != nil {
		files = append(files, runs.File{Name: restartsFile, Write: func(w io.Writer) error {
			return bnn.WriteRestarts(w, r.Restarts, r.NLL, r.Chosen)
		}})
	}
	return files
}

// Run is a run's folder, read back.
type Run struct {
	Dir      string
	Spec     Spec
	Net      *nn.Net
	Schema   *data.Schema // what the network's inputs and targets mean
	Manifest Manifest
	Trace    []TraceLine
	Findings []Finding
	eval.Ensembles
}

// Notes are the findings in plain words, without those that only pages show.
func (r *Run) Notes() []string { return notes(r.Findings) }

// OpenRun reads the folder of a run that is done. Where none is, the error is a *NotDoneError, which says how to resume one that
// was begun; a file that is damaged, missing or does not fit the others is a *DataError that names it.
func OpenRun(dir string) (*Run, error) {
	record, err := runs.Read(dir, fits)
	if err != nil {
		return nil, damage(err)
	}
	r := &Run{Dir: dir, Manifest: record.Manifest}
	damaged := func(file string, err error) error {
		return &DataError{fmt.Errorf("%s: %w", filepath.Join(dir, file), err)}
	}
	if r.Spec, err = ParseSpec(filepath.Join(dir, "config.yaml"), record.Config); err != nil {
		return nil, &DataError{err}
	}
	if r.Net, err = nn.New(r.Spec.Model.Input, r.Spec.Model.Layers, r.Spec.Model.Likelihood); err != nil {
		return nil, damaged("config.yaml", err)
	}
	if r.Trace, err = method.ReadTrace(record.Trace); err != nil {
		return nil, damaged("trace.jsonl", err)
	}
	if s := r.Spec.Way().Sampling(); s != nil {
		if err := runs.CheckTrace(record.Trace, s.Islands); err != nil {
			return nil, damaged("trace.jsonl", err)
		}
	}
	if len(r.Manifest.Findings) > 0 {
		if err := json.Unmarshal(r.Manifest.Findings, &r.Findings); err != nil {
			return nil, damaged("manifest.json", err)
		}
	}
	for _, f := range []struct {
		name string
		read func(text []byte) error
	}{{schemaFile, r.readSchema}, {posteriorFile, r.readPosterior}, {restartsFile, r.readRestarts}} {
		if f.name == restartsFile && r.Spec.MAP == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return nil, &DataError{err}
		}
		if err := f.read(text); err != nil {
			return nil, damaged(f.name, err)
		}
	}
	return r, nil
}

func (r *Run) readSchema(text []byte) (err error) {
	if r.Schema, err = data.DecodeSchema(text); err == nil && !data.TakesShape(r.Spec.Model.Input, r.Schema.Shape) {
		err = fmt.Errorf("examples of shape %v, the network takes %v", r.Schema.Shape, r.Spec.Model.Input)
	}
	return err
}

func (r *Run) readPosterior(text []byte) (err error) {
	r.Posterior, err = bnn.ReadPosterior(text, r.Net)
	return err
}

func (r *Run) readRestarts(text []byte) (err error) {
	r.Restarts, r.NLL, r.Chosen, err = bnn.ReadRestarts(text, r.Net)
	return err
}

// ReadMetrics reads the scores of the run as they were when it was done: metrics.json. The error is a *DataError.
func (r *Run) ReadMetrics() (*eval.Metrics, error) {
	path := filepath.Join(r.Dir, metricsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &DataError{err}
	}
	m := new(eval.Metrics)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &DataError{fmt.Errorf("%s: %w", path, err)}
	}
	return m, nil
}

// Differs says in which values a resolved Spec differs from the run's, whatever their names are; nil if it does not. Each stands
// in a line of its own, as far as there are few.
func (r *Run) Differs(spec Spec) error {
	spec.Name = r.Spec.Name
	return config.Diff(r.Spec.YAML(), spec.YAML())
}

// On says what a run is evaluated on; the zero value: its own data, which must be the same as they were.
type On struct {
	Data   string   // another data set by name, or a file of examples
	Labels string   // the targets, if Data is a file of inputs alone
	OOD    []string // sets or files whose inputs are out of distribution
}

// Evaluate scores the ensembles of a run anew: on its own data they get the same metrics bit for bit. Errors are a *ConfigError
// for a name that is not known, and a *DataError for data that are not as they were, or do not fit.
func (r *Run) Evaluate(ctx context.Context, on On, o Options) (*eval.Assessment, error) {
	p, err := r.problem(on, o.DataDir)
	if err != nil {
		return nil, readFault(err)
	}
	a, err := r.Spec.Evaluate(ctx, &r.Ensembles, p, pool.New(o.Threads))
	var input *eval.InputError
	if errors.As(err, &input) {
		err = &DataError{err}
	}
	return a, err
}

// problem brings what a run is evaluated on into memory, as its network sees it.
func (r *Run) problem(on On, dir string) (p *data.Problem, err error) {
	if on.Data == "" || on.Data == r.Spec.Data.Set {
		if on.Labels != "" {
			return nil, wrongUse("the labels %s need a file of inputs to go with", on.Labels)
		}
		p, err = r.own(dir)
	} else {
		p, err = r.Schema.Read(on.Data, on.Labels, dir)
	}
	if err == nil {
		err = p.ReadGroups(dir, on.OOD...)
	}
	return p, err
}

// readFault makes an error of data a *DataError, or a *ConfigError where it is one of a config, or of what was asked for beside
// any: there is nothing of that name, or something is missing beside it.
func readFault(err error) error {
	var field *data.FieldError
	switch {
	case err == nil || errors.As(err, new(*ConfigError)):
		return err
	case errors.As(err, &field):
		return wrongUse("%s", field.Message)
	}
	return &DataError{err}
}

// own loads the run's own data, which must be as they were.
func (r *Run) own(dir string) (*data.Problem, error) {
	p, err := r.Spec.Load(dir, r.Schema)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the run's own data, in the place that its config names, seen from here", err)
	}
	if err != nil {
		return nil, err
	}
	for part, sum := range p.Checksums() {
		if was := r.Manifest.Data[part]; was != sum {
			return nil, fmt.Errorf("the %s examples of %s are not those of the run: checksum %s, was %s", part, p.Name, sum, was)
		}
	}
	return p, nil
}

// Predictor predicts files of inputs by the run's posterior.
func (r *Run) Predictor(o Options) *eval.Predictor {
	return &eval.Predictor{Posterior: r.Posterior, Schema: r.Schema, Pool: pool.New(o.Threads)}
}
