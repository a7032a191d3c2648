package starling

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/lock"
)

// A run's folder holds
//
//	config.yaml             the resolved Spec
//	data.json               the data.Schema: how files become what the network sees
//	manifest.json           a Manifest; its status says whether the run is done
//	trace.jsonl             a TraceLine a line
//	checkpoint              the last complete state, to go on from
//	checkpoint.previous     the one before, while the run goes on
//	posterior.safetensors   the posterior ensemble
//	map.safetensors         the MAP restarts, if there were any
//	metrics.json            Metrics
//	report.html             the page, if the command ran
const (
	configFile     = "config.yaml"
	manifestFile   = "manifest.json"
	traceFile      = "trace.jsonl"
	checkpointFile = "checkpoint"
	previousFile   = "checkpoint.previous"
	posteriorFile  = "posterior.safetensors"
	restartsFile   = "map.safetensors"
	metricsFile    = "metrics.json"
	reportFile     = "report.html"
	schemaFile     = "data.json"
	lockFile       = ".lock" // there while a process has the folder; holds its number
)

var folderFiles = []string{
	configFile, manifestFile, traceFile, checkpointFile, previousFile, posteriorFile, restartsFile, metricsFile, reportFile, schemaFile,
}

// Folder is the place of a run, for one process at a time. It is taken before the work begins, so that what is wrong
// with its name shows then, and so that runs that start at the same time cannot take one another's.
type Folder struct {
	Dir     string
	parents []string // that were made for it, outermost first
	made    bool     // and so was the folder
	resumed bool     // it was asked for to go on
	kept    bool     // it holds a state to go on from, or a result
	lock    *lock.Lock
}

// TakeFolder makes a folder for a run, and those around it. If dir exists, the error is fs.ErrExist.
func TakeFolder(dir string) (*Folder, error) {
	f := &Folder{Dir: filepath.Clean(dir), made: true}
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
	if err := f.take(); err != nil {
		os.Remove(f.Dir) // not if another has it: its lock is there
		f.removeParents()
		return nil, err
	}
	return f, nil
}

// RetakeFolder takes the folder that a process left behind which was killed before it kept anything: one that holds a lock,
// which nobody has, and nothing else. For any other the error is fs.ErrExist.
func RetakeFolder(dir string) (*Folder, error) {
	f := &Folder{Dir: filepath.Clean(dir), made: true}
	abandoned := func() error {
		entries, err := os.ReadDir(f.Dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != lockFile {
			return fmt.Errorf("%s: %w", f.Dir, fs.ErrExist)
		}
		return nil
	}
	if err := abandoned(); err != nil {
		return nil, err
	}
	if err := f.take(); err != nil {
		return nil, err
	}
	if err := abandoned(); err != nil { // another was faster, and is done with it
		f.made = false
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ResumeFolder takes the folder of a run to go on with, or makes it. The error says so if another process has it, or if
// it holds what no run has written.
func ResumeFolder(dir string) (*Folder, error) {
	f, err := TakeFolder(dir)
	if err == nil {
		f.resumed = true
	}
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	f = &Folder{Dir: filepath.Clean(dir), resumed: true}
	if info, err := os.Stat(f.Dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", f.Dir)
	}
	if err := f.take(); err != nil {
		return nil, err
	}
	if err := f.sweep(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take locks the folder.
func (f *Folder) take() (err error) {
	f.lock, err = lock.Take(f.path(lockFile))
	var held *lock.HeldError
	if errors.As(err, &held) {
		return fmt.Errorf("%s: another run is at work in this folder (%s); let it end, or choose another", f.Dir, held.By)
	}
	return err
}

// sweep removes files that were half written when a process was killed.
func (f *Folder) sweep() error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	foreign, begun := "", false
	for _, e := range entries {
		name := e.Name()
		begun = begun || name == manifestFile || name == checkpointFile || name == previousFile
		half := slices.ContainsFunc(folderFiles, func(file string) bool { return strings.HasPrefix(name, "."+file+".") })
		if half {
			if err := os.Remove(f.path(name)); err != nil {
				return err
			}
		} else if foreign == "" && name != lockFile && !slices.Contains(folderFiles, name) {
			foreign = name
		}
	}
	if foreign != "" && !begun {
		return fmt.Errorf("%s is no run's folder: it holds %s", f.Dir, foreign)
	}
	return nil
}

// held says that this process has the folder.
func (f *Folder) held() bool { return f.lock.Held() }

// Kept says whether the folder holds a state to go on from, or a result.
func (f *Folder) Kept() bool { return f.kept }

// Close gives the folder free. If it was made and nothing is kept in it, nothing is left behind, but for what others put
// there. Closing it again does nothing.
func (f *Folder) Close() error {
	if !f.held() {
		return nil
	}
	leave := f.made && !f.kept
	if leave {
		for _, name := range folderFiles {
			os.Remove(f.path(name))
		}
	}
	err := f.lock.Free()
	if leave {
		os.Remove(f.Dir)
		f.removeParents()
	}
	return err
}

func (f *Folder) removeParents() {
	for _, p := range slices.Backward(f.parents) {
		os.Remove(p) // fails if others use it
	}
}

func (f *Folder) has(name string) bool {
	_, err := os.Stat(f.path(name))
	return err == nil
}

// IsRunFile says whether path is that of a file which starling keeps in a run's folder: nothing else should be written
// there.
func IsRunFile(path string) bool {
	dir, name := filepath.Split(path)
	_, err := os.Stat(filepath.Join(dir, manifestFile))
	return err == nil && slices.Contains(folderFiles, name)
}

func (f *Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// Write fills the folder with a result. Each file replaces what was there at once; the last of them, the manifest, says
// that the run is done.
func (f *Folder) Write(r *Result) error {
	for _, file := range r.files() {
		if err := ckpt.Replace(f.path(file.name), "", file.write); err != nil {
			return err
		}
	}
	f.kept = true
	return f.tidy()
}

// tidy removes what a run that is done needs no more.
func (f *Folder) tidy() error {
	if err := os.Remove(f.path(previousFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// WriteRun writes a run's folder. A dir that exists is fs.ErrExist; after another error there is none.
func WriteRun(dir string, r *Result) error {
	f, err := TakeFolder(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Write(r), f.Close())
}

type runFile struct {
	name  string
	write func(w io.Writer) error
}

// files are those of a result, in the order in which they are written.
func (r *Result) files() []runFile {
	files := []runFile{
		{configFile, func(w io.Writer) error {
			_, err := w.Write(r.Spec.YAML())
			return err
		}},
		{schemaFile, func(w io.Writer) error { return writeJSON(w, r.Data.Schema) }},
		{traceFile, func(w io.Writer) error { return writeTrace(w, r.Trace) }},
		{posteriorFile, func(w io.Writer) error { return bnn.WritePosterior(w, r.Posterior) }},
		{metricsFile, r.Metrics.WriteJSON},
	}
	if r.Restarts != nil {
		files = append(files, runFile{restartsFile, func(w io.Writer) error {
			return bnn.WriteRestarts(w, r.Net, wide(r.Restarts.Theta), r.NLL, r.Chosen)
		}})
	}
	return append(files, runFile{manifestFile, func(w io.Writer) error { return writeJSON(w, r.manifest(done)) }})
}

func writeTrace(w io.Writer, trace []TraceLine) error {
	lines := json.NewEncoder(w)
	for _, line := range trace {
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes metrics as metrics.json has them.
func (m *Metrics) WriteJSON(w io.Writer) error { return writeJSON(w, m) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
