package runs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
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
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/regular"
)

// Manifest says where a run comes from and how it stands. The caller of Open fills in Version, Revision, Threads, Kernel,
// Data and Init, and, if it began before Open, Started. It adds Notes, Findings and Cost as they become known. This package
// fills in the rest.
type Manifest struct {
	Kind     string            `json:"kind,omitempty"` // of the run: the verb of the command
	Version  string            `json:"version"`
	Revision string            `json:"revision,omitempty"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	CPU      string            `json:"cpu,omitempty"`  // the processor's model, where the system gives it
	CPUs     int               `json:"cpus"`           // processors of the machine
	Threads  int               `json:"threads"`        // used by the run's last process
	Kernel   string            `json:"kernel"`         // the CPU kernels used
	Data     map[string]string `json:"data"`           // checksum of each part of the data
	From     string            `json:"from,omitempty"` // the way from the run's folder to the one that the names of its files are relative to; older runs have none
	Init     string            `json:"init,omitempty"` // checksum of the file from which the work starts, if there is one
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished,omitzero"`
	Status   string            `json:"status"` // Running, Interrupted, Failed or Done

	// Seconds that the evaluation took (Run.Aside), on the way and at the end. The evaluation of a process that was killed is
	// not counted.
	EvaluationSeconds float64 `json:"evaluation_seconds,omitempty"`

	// Seconds of the work, without pauses. A phase that leaves no trace counts as well.
	WorkSeconds float64 `json:"work_seconds,omitempty"`

	Notes    []string        `json:"notes,omitempty"`    // what a reader should know, in plain words
	Findings json.RawMessage `json:"findings,omitempty"` // what the caller found out about the run, as kinds and numbers
	Cost     json.RawMessage `json:"cost,omitempty"`     // what the work took, as the caller counts it

	// Files are the SHA-256 of the files of a run that is done, in hexadecimal, by name. Files that are made of the run later,
	// such as a page, are not among them.
	Files map[string]string `json:"files,omitempty"`

	// Checksum is the SHA-256 of the manifest's own file with "" in this place.
	Checksum string `json:"checksum"`
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

// write writes the manifest with its checksum.
func (m *Manifest) write(w io.Writer) error {
	m.Checksum = ""
	var text bytes.Buffer
	if err := jsontext.Write(&text, m); err != nil {
		return err
	}
	m.Checksum = fmt.Sprintf("%x", sha256.Sum256(text.Bytes()))
	if err := readable(manifestFile, int64(text.Len()+len(m.Checksum))); err != nil {
		return err
	}
	return jsontext.Write(w, m)
}

// read reads what write wrote, and checks that nothing in it was changed.
func (m *Manifest) read(text []byte) error {
	if err := jsontext.Read(text, m); err != nil {
		return err
	}
	own := func(sum string) []byte { return []byte(`"checksum": "` + sum + `"`) }
	sum := sha256.Sum256(bytes.Replace(text, own(m.Checksum), own(""), 1))
	switch {
	case m.Checksum == "", m.Status == Done && len(m.Files) == 0:
		return errors.New("has no checksums: it was not written by this version of starling")
	case m.Checksum != fmt.Sprintf("%x", sum):
		return errors.New("does not fit its own checksum: something in it was changed")
	}
	for name := range m.Files {
		if filepath.Base(name) != name {
			return fmt.Errorf("files: %q is not the name of a file in this folder", name)
		}
	}
	return nil
}

func (f *Folder) writeManifest(m *Manifest) error {
	return ckpt.Replace(f.path(manifestFile), "", m.write)
}

// ReadManifest reads the manifest of a run's folder, done or not. The error is fs.ErrNotExist where there is none, and a
// *DamagedError where it cannot be read or was changed.
func ReadManifest(dir string) (m Manifest, err error) {
	path := filepath.Join(dir, manifestFile)
	text, err := regular.Read(path, limit(manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	if err == nil {
		if err = m.read(text); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		mend := cmp.Or(resumable(dir), "begin the run anew in another folder")
		return Manifest{}, &DamagedError{fmt.Errorf("%w; %s", err, mend)}
	}
	return m, nil
}
