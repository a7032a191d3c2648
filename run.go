package starling

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
)

// A run's folder holds
//
//	config.yaml             the resolved Spec
//	manifest.json           a Manifest
//	trace.jsonl             a TraceLine a line
//	posterior.safetensors   the posterior ensemble
//	map.safetensors         the MAP restarts, if there were any
//	metrics.json            Metrics
const (
	configFile    = "config.yaml"
	manifestFile  = "manifest.json"
	traceFile     = "trace.jsonl"
	posteriorFile = "posterior.safetensors"
	restartsFile  = "map.safetensors"
	metricsFile   = "metrics.json"
)

// Manifest says where a run comes from.
type Manifest struct {
	Version  string            `json:"version"`
	Revision string            `json:"revision,omitempty"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Kernel   string            `json:"kernel"` // the CPU kernels used
	Data     map[string]string `json:"data"`   // checksum of each part
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished"`
	Status   string            `json:"status"` // done
	Notes    []string          `json:"notes,omitempty"`
}

// WriteRun writes a run's folder. It is complete or not there at all: files are written beside it under another name,
// which becomes dir at the end. A dir that exists is fs.ErrExist.
func WriteRun(dir string, r *Result) (err error) {
	dir = filepath.Clean(dir)
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s: %w", dir, fs.ErrExist)
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	partial := filepath.Join(parent, fmt.Sprintf(".%s.%d", filepath.Base(dir), os.Getpid()))
	if err := os.Mkdir(partial, 0o777); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(partial)
		}
	}()
	for _, f := range r.files() {
		if err := writeFile(filepath.Join(partial, f.name), f.write); err != nil {
			return err
		}
	}
	return os.Rename(partial, dir)
}

type runFile struct {
	name  string
	write func(w io.Writer) error
}

func (r *Result) files() []runFile {
	files := []runFile{
		{configFile, func(w io.Writer) error {
			_, err := w.Write(r.Spec.YAML())
			return err
		}},
		{manifestFile, func(w io.Writer) error { return writeJSON(w, r.manifest()) }},
		{traceFile, func(w io.Writer) error {
			lines := json.NewEncoder(w)
			for _, line := range r.Trace {
				if err := lines.Encode(line); err != nil {
					return err
				}
			}
			return nil
		}},
		{posteriorFile, func(w io.Writer) error { return bnn.WritePosterior(w, r.Posterior) }},
		{metricsFile, r.Metrics.WriteJSON},
	}
	if r.Restarts != nil {
		files = append(files, runFile{restartsFile, func(w io.Writer) error {
			return bnn.WriteRestarts(w, r.Net, wide(r.Restarts.Theta), r.NLL, r.Chosen)
		}})
	}
	return files
}

func (r *Result) manifest() Manifest {
	m := Manifest{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Kernel: lanes.Kernel(),
		Data: checksums(r.Data), Started: r.Started.UTC(), Finished: r.Finished.UTC(), Status: "done", Notes: r.Notes,
	}
	m.Version, m.Revision = Version()
	return m
}

// checksums are those of the parts of a problem.
func checksums(p *data.Problem) map[string]string {
	sums := map[string]string{"train": p.Train.Checksum()}
	if p.Validate != nil {
		sums["validate"] = p.Validate.Checksum()
	}
	if p.Test != nil {
		sums["test"] = p.Test.Checksum()
	}
	for _, g := range p.Groups {
		sums[g.Name] = g.Set.Checksum()
	}
	return sums
}

// writeFile writes a file and waits until it is on the disk.
func writeFile(path string, write func(w io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	return errors.Join(write(b), b.Flush(), f.Sync(), f.Close())
}

// WriteJSON writes metrics as metrics.json has them.
func (m *Metrics) WriteJSON(w io.Writer) error { return writeJSON(w, m) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Run is a run's folder, read back.
type Run struct {
	Dir      string
	Spec     Spec
	Net      *nn.Net
	Manifest Manifest
	Ensembles
}

// OpenRun reads a run's folder. A folder that is missing or is no run's is fs.ErrNotExist; a file that is damaged or
// does not fit the others is a *DataError that names it.
func OpenRun(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, configFile))
	if err != nil {
		return nil, fmt.Errorf("%s is no run's folder: %w", dir, err)
	}
	broken := func(file string, err error) error {
		return &DataError{fmt.Errorf("%s: %w", filepath.Join(dir, file), err)}
	}
	if r.Spec, err = ParseSpec(filepath.Join(dir, configFile), text); err != nil {
		return nil, &DataError{err}
	}
	if r.Net, err = nn.New(r.Spec.Model.Input, r.Spec.Model.Layers, r.Spec.Model.Likelihood); err != nil {
		return nil, broken(configFile, err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, manifestFile)); err != nil {
		return nil, &DataError{err}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&r.Manifest); err != nil {
		return nil, broken(manifestFile, err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, posteriorFile)); err != nil {
		return nil, &DataError{err}
	}
	if r.Posterior, err = bnn.ReadPosterior(text, r.Net); err != nil {
		return nil, broken(posteriorFile, err)
	}
	if r.Spec.MAP == nil {
		return r, nil
	}
	if text, err = os.ReadFile(filepath.Join(dir, restartsFile)); err != nil {
		return nil, &DataError{err}
	}
	var theta []float32
	if theta, r.NLL, r.Chosen, err = bnn.ReadRestarts(text, r.Net); err != nil {
		return nil, broken(restartsFile, err)
	}
	r.Restarts, err = bnn.Combine(r.Net, []bnn.Island{{Theta: wide(theta)}}, bnn.Equal)
	return r, err
}

// Evaluate judges the ensembles of a run anew: on its own data, which must be the same as they were and give the same
// metrics bit for bit, or on another data set by name, whose inputs are standardised as the run's were. It returns what
// it was judged on, too.
func (r *Run) Evaluate(ctx context.Context, set string, o Options) (*Metrics, *data.Problem, error) {
	problem, err := r.data(set, o.DataDir)
	if err != nil {
		return nil, nil, err
	}
	m, err := r.Spec.evaluate(ctx, &r.Ensembles, problem, pool.New(o.Threads))
	if err != nil && ctx.Err() == nil {
		err = &DataError{err}
	}
	return m, problem, err
}

func (r *Run) data(set, dir string) (*data.Problem, error) {
	if set == "" {
		problem, _, err := r.Spec.load(dir)
		if err != nil {
			return nil, err
		}
		for part, sum := range checksums(problem) {
			if was := r.Manifest.Data[part]; was != sum {
				return nil, &DataError{fmt.Errorf("the %s examples of %s are not those of the run: checksum %s, was %s", part, problem.Name, sum, was)}
			}
		}
		return problem, nil
	}
	other := Spec{Data: Data{Set: set}}
	problem, _, err := other.read(dir)
	if err == nil && r.Spec.Data.Standardise == "inputs" {
		var standard *data.Standard
		if _, standard, err = r.Spec.load(dir); err == nil {
			err = apply(standard, problem)
		}
	}
	if errors.Is(err, data.ErrUnknown) {
		return nil, configError("", []fault{{message: err.Error()}})
	}
	if err != nil {
		return nil, &DataError{err}
	}
	return problem, nil
}
