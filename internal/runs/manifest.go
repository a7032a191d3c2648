package runs

import (
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

	"github.com/starling-smc/starling/internal/ckpt"
)

// Manifest says where a run comes from and how it stands. The caller of Open fills in Version, Revision, Threads, Kernel,
// Data and Init, and, if it began before Open, Started. It adds Notes and Findings as they become known. This package
// fills in the rest.
type Manifest struct {
	Kind     string            `json:"kind,omitempty"` // of the run: the verb of the command; empty in files of older versions
	Version  string            `json:"version"`
	Revision string            `json:"revision,omitempty"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	CPU      string            `json:"cpu,omitempty"`  // the processor's model, where the system gives it
	CPUs     int               `json:"cpus"`           // processors of the machine
	Threads  int               `json:"threads"`        // used by the run's last process; 0 in files of older versions
	Kernel   string            `json:"kernel"`         // the CPU kernels used
	Data     map[string]string `json:"data"`           // checksum of each part of the data
	Init     string            `json:"init,omitempty"` // checksum of the file from which the work starts, if there is one
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished,omitzero"`
	Status   string            `json:"status"` // Running, Interrupted, Failed or Done

	// Seconds that the evaluation took (Run.Aside), on the way and at the end. The evaluation of a process that was killed is
	// not counted.
	EvaluationSeconds float64 `json:"evaluation_seconds,omitempty"`

	// Seconds of the work, without pauses. A phase that leaves no trace counts as well. 0 in files of older versions.
	WorkSeconds float64 `json:"work_seconds,omitempty"`

	Notes    []string        `json:"notes,omitempty"`    // what a reader should know, in plain words
	Findings json.RawMessage `json:"findings,omitempty"` // what the caller found out about the run, as kinds and numbers
}

// The status of a run. One that is not done can be resumed.
const (
	Running     = "running"
	Interrupted = "interrupted"
	Failed      = "failed"
	Done        = "done"
)

// machine fills in the fields that are the same for all runs of this process.
func (m *Manifest) machine() {
	m.Go, m.Platform, m.CPU, m.CPUs = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, cpu(), runtime.NumCPU()
}

// cpu is the model of the processor, empty where Linux's list of processors is not available.
func cpu() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return ""
}

func (m *Manifest) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(m)
}

func (f *Folder) writeManifest(m *Manifest) error {
	return ckpt.Replace(f.path(manifestFile), "", m.write)
}

// ReadManifest reads the manifest of a run's folder, done or not. The error is fs.ErrNotExist where there is none, and a
// *DamagedError where it cannot be read.
func ReadManifest(dir string) (m Manifest, err error) {
	path := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return Manifest{}, &DamagedError{fmt.Errorf("%s: %w", path, err)}
	}
	return m, nil
}
