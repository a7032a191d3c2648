package starling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/nn"
)

// Manifest says where a run comes from.
type Manifest struct {
	Version  string            `json:"version"`
	Revision string            `json:"revision,omitempty"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	CPU      string            `json:"cpu,omitempty"`  // its model, where the system tells
	CPUs     int               `json:"cpus"`           // of the machine
	Threads  int               `json:"threads"`        // that computed, in the last process of the run; 0: written before this was kept
	Kernel   string            `json:"kernel"`         // the CPU kernels used
	Data     map[string]string `json:"data"`           // checksum of each part
	Init     string            `json:"init,omitempty"` // checksum of the file of model.init
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished,omitzero"`
	Status   string            `json:"status"` // running, interrupted, failed or done

	// Seconds that looking at the test examples took, on the way and to judge the result; those of the work are in the trace,
	// without the pauses of a run that was stopped. What a process that was killed looked at is not counted.
	EvaluationSeconds float64 `json:"evaluation_seconds,omitempty"`

	// Seconds of the work, likewise without pauses: what leaves no trace, as the search of point estimates, counts as well. 0:
	// written before this was kept.
	WorkSeconds float64 `json:"work_seconds,omitempty"`

	Notes []string `json:"notes,omitempty"`
}

// A run is running until it is done, was interrupted, or failed. One that is not done can be gone on with.
const (
	running     = "running"
	interrupted = "interrupted"
	failed      = "failed"
	done        = "done"
)

func (r *Result) manifest(status string) Manifest {
	m := Manifest{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpu(), CPUs: runtime.NumCPU(), Threads: r.threads,
		Kernel: lanes.Kernel(), EvaluationSeconds: r.evaluation.Seconds(), WorkSeconds: r.worked.Seconds(), Data: checksums(r.Data), Init: r.Init,
		Started: r.Started.UTC(), Finished: r.Finished.UTC(), Status: status, Notes: r.Notes,
	}
	m.Version, m.Revision = Version()
	return m
}

// cpu is the model of the processor; empty where Linux's list of them is not to be had.
func cpu() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return ""
}

func (f *Folder) writeManifest(m Manifest) error {
	return ckpt.Replace(f.path(manifestFile), "", func(w io.Writer) error { return writeJSON(w, m) })
}

// readManifest returns fs.ErrNotExist where there is none, and a *DataError for one that is damaged.
func readManifest(dir string) (m Manifest, err error) {
	path := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, &DataError{fmt.Errorf("%s: %w", path, err)}
	}
	return m, nil
}

// Run is a run's folder, read back.
type Run struct {
	Dir      string
	Spec     Spec
	Net      *nn.Net
	Schema   *data.Schema // what the network's inputs and targets mean
	Manifest Manifest
	Trace    []TraceLine
	Ensembles
}

// NotDoneError is OpenRun's where no run is done: the folder is no run's, or the run was stopped or is at work.
type NotDoneError struct{ Err error }

func (e *NotDoneError) Error() string { return e.Err.Error() }
func (e *NotDoneError) Unwrap() error { return e.Err }

// OtherRunError is Fit's where the folder holds another run than is asked for: one of another config, version or data.
type OtherRunError struct{ Err error }

func (e *OtherRunError) Error() string { return e.Err.Error() }
func (e *OtherRunError) Unwrap() error { return e.Err }

// OpenRun reads the folder of a run that is done. Where none is, the error is a *NotDoneError, which says how to go on with
// one that was begun; a file that is damaged, missing or does not fit the others is a *DataError that names it.
func OpenRun(dir string) (*Run, error) {
	text, err := os.ReadFile(filepath.Join(dir, configFile))
	m, unknown := readManifest(dir)
	switch {
	case err != nil && unknown != nil:
		return nil, &NotDoneError{fmt.Errorf("%s is no run's folder: %w", dir, err)}
	case errors.Is(unknown, fs.ErrNotExist): // killed before it was written
		m.Status = "without a manifest"
	case unknown != nil:
		return nil, &DataError{unknown}
	case err != nil && m.Status != done:
		return nil, &NotDoneError{fmt.Errorf("the run in %s is %s and has lost its config: %w; begin it anew in another folder", dir, m.Status, err)}
	}
	if m.Status != done {
		return nil, &NotDoneError{fmt.Errorf("the run in %s is %s; to go on with it: starling fit %s --out %s --resume",
			dir, m.Status, filepath.Join(dir, configFile), dir)}
	}
	if err != nil {
		return nil, &DataError{err}
	}
	r := &Run{Dir: dir, Manifest: m}
	broken := func(file string, err error) error {
		return &DataError{fmt.Errorf("%s: %w", filepath.Join(dir, file), err)}
	}
	if r.Spec, err = ParseSpec(filepath.Join(dir, configFile), text); err != nil {
		return nil, &DataError{err}
	}
	if r.Net, err = nn.New(r.Spec.Model.Input, r.Spec.Model.Layers, r.Spec.Model.Likelihood); err != nil {
		return nil, broken(configFile, err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, schemaFile)); err != nil {
		return nil, &DataError{err}
	}
	if r.Schema, err = data.DecodeSchema(text); err != nil {
		return nil, broken(schemaFile, err)
	}
	if !fits(r.Spec.Model.Input, r.Schema.Shape) {
		return nil, broken(schemaFile, fmt.Errorf("examples of shape %v, the network takes %v", r.Schema.Shape, r.Spec.Model.Input))
	}
	if text, err = os.ReadFile(filepath.Join(dir, traceFile)); err != nil {
		return nil, &DataError{err}
	}
	if r.Trace, err = readTrace(text); err != nil {
		return nil, broken(traceFile, err)
	}
	if err := r.traced(); err != nil {
		return nil, broken(traceFile, err)
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
	if r.Restarts, err = bnn.Combine(r.Net, []bnn.Island{{Theta: wide(theta)}}, bnn.Equal{}); err != nil {
		return nil, broken(restartsFile, err)
	}
	return r, nil
}

// traced checks that the trace has all iterations of all islands or chains, in order, to the end of each path. Chains and
// tempering did not always note their progress: theirs ends at λ = 1.
func (r *Run) traced() error {
	if r.Spec.pointOnly() {
		return nil
	}
	islands, noted := 0, false
	if m := r.Spec.Method.SMC; m != nil {
		islands, noted = m.Islands, m.Path.Tempering == nil
	} else {
		islands = r.Spec.Method.MCMC.Chains
	}
	last := TraceLine{Island: -1, Progress: 1}
	ended := func() bool { return last.Progress >= 1 || !noted && last.Progress == 0 && last.Temperature == 1 }
	for i, l := range r.Trace {
		island, k := last.Island, last.K+1
		if l.Island != island && ended() {
			island, k = island+1, 1
		}
		if l.Island != island || l.K != k || island >= islands {
			return fmt.Errorf("line %d is iteration %d of island %d of %d, after iteration %d of island %d: lines are missing, or too many",
				i+1, l.K, l.Island, islands, last.K, last.Island)
		}
		last = l
	}
	if last.Island != islands-1 || !ended() {
		return fmt.Errorf("it stops after line %d, iteration %d of island %d of %d at progress %v: lines are missing",
			len(r.Trace), last.K, last.Island, islands, last.Progress)
	}
	return nil
}

// ReadMetrics reads what the run came to, as it was judged when it was done: metrics.json. The error is a *DataError.
func (r *Run) ReadMetrics() (*Metrics, error) {
	path := filepath.Join(r.Dir, metricsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &DataError{err}
	}
	m := new(Metrics)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &DataError{fmt.Errorf("%s: %w", path, err)}
	}
	return m, nil
}

// readTrace reads the lines of a trace.
func readTrace(text []byte) (trace []TraceLine, err error) {
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var l TraceLine
		if len(text) == 0 {
			break
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		trace = append(trace, l)
	}
	return trace, nil
}
