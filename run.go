package starling

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/lanes"
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
	Kernel   string            `json:"kernel"`         // the CPU kernels used
	Data     map[string]string `json:"data"`           // checksum of each part
	Init     string            `json:"init,omitempty"` // checksum of the file of model.init
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished"`
	Status   string            `json:"status"` // done
	Notes    []string          `json:"notes,omitempty"`
}

// Folder is the place of a run. It is taken before the work begins, so that what is wrong with its name shows then, and
// so that runs that start at the same time cannot take one another's.
type Folder struct {
	Dir     string
	parents []string // that were made for it, outermost first
}

// TakeFolder makes an empty folder, and those around it. If dir exists, the error is fs.ErrExist.
func TakeFolder(dir string) (*Folder, error) {
	f := &Folder{Dir: filepath.Clean(dir)}
	parent := filepath.Dir(f.Dir)
	for p := parent; ; p = filepath.Dir(p) {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		f.parents = slices.Insert(f.parents, 0, p)
	}
	err := os.MkdirAll(parent, 0o777)
	if errors.Is(err, fs.ErrExist) { // a link to nowhere: it is not the folder itself that exists
		err = fmt.Errorf("%s is no folder", parent)
	}
	if err == nil {
		err = os.Mkdir(f.Dir, 0o777)
	}
	if err != nil {
		f.removeParents()
		return nil, err
	}
	return f, nil
}

// Write fills the folder. It is a run's from the moment that its config.yaml stands, which comes last.
func (f *Folder) Write(r *Result) error {
	for _, file := range r.files() {
		if err := writeFile(filepath.Join(f.Dir, file.name), file.write); err != nil {
			return err
		}
	}
	return ckpt.WriteFile(filepath.Join(f.Dir, configFile), r.Spec.YAML())
}

// Release gives up a folder that no run was written to: nothing is left behind, but for what others put there.
func (f *Folder) Release() {
	for _, name := range []string{manifestFile, traceFile, posteriorFile, restartsFile, metricsFile, configFile} {
		os.Remove(filepath.Join(f.Dir, name))
	}
	os.Remove(f.Dir)
	f.removeParents()
}

func (f *Folder) removeParents() {
	for _, p := range slices.Backward(f.parents) {
		os.Remove(p) // fails if others use it
	}
}

// WriteRun writes a run's folder. A dir that exists is fs.ErrExist; after another error there is none.
func WriteRun(dir string, r *Result) error {
	f, err := TakeFolder(dir)
	if err != nil {
		return err
	}
	if err := f.Write(r); err != nil {
		f.Release()
		return err
	}
	return nil
}

type runFile struct {
	name  string
	write func(w io.Writer) error
}

// files are all but the config.
func (r *Result) files() []runFile {
	files := []runFile{
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
		Data: checksums(r.Data), Init: r.Init, Started: r.Started.UTC(), Finished: r.Finished.UTC(), Status: "done", Notes: r.Notes,
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
	Schema   *data.Schema // what the network's inputs and targets mean
	Manifest Manifest
	Ensembles
}

// OpenRun reads a run's folder. A file in it that is damaged, missing or does not fit the others is a *DataError that
// names it; any other error says that dir is no run's folder.
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
	if r.Restarts, err = bnn.Combine(r.Net, []bnn.Island{{Theta: wide(theta)}}, bnn.Equal); err != nil {
		return nil, broken(restartsFile, err)
	}
	return r, nil
}
