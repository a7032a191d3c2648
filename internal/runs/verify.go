package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/regular"
)

// State says how a file in a run's folder compares with what the run wrote.
type State string

// The states of a file.
const (
	OK       State = "ok"
	Differs  State = "differs"  // it was changed or damaged
	Missing  State = "missing"  // the run wrote it, or should have
	Unlisted State = "unlisted" // the run has no checksum of it
)

// Verified is a file in a run's folder.
type Verified struct {
	File  string `json:"file"`
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
}

// Verification is what Verify finds.
type Verification struct {
	Status string     `json:"status"` // of the run, as in its manifest; empty if that cannot be read
	Files  []Verified `json:"files"`  // the manifest first

	dir  string
	good *checkpoint // from which a run that is not done goes on
	next []string    // files that stand under the name of one that is to replace another, and count
}

// Count returns how many files have one of the states.
func (v *Verification) Count(states ...State) (n int) {
	for _, f := range v.Files {
		if slices.Contains(states, f.State) {
			n++
		}
	}
	return n
}

func (v *Verification) add(file string, state State, why string) {
	v.Files = append(v.Files, Verified{file, state, why})
}

// compared adds a file that has a reason to differ, if err is not nil.
func (v *Verification) compared(file, why string, err error) {
	switch {
	case err == nil:
		v.add(file, OK, why)
	case errors.Is(err, fs.ErrNotExist):
		v.add(file, Missing, "")
	default:
		v.add(file, Differs, strings.TrimPrefix(err.Error(), filepath.Join(v.dir, file)+": "))
	}
}

// Verify compares each file of a run's folder with its checksum in the manifest. A run that is not done has no such list: then
// the checkpoints are checked, which have checksums of their own, and by them the config, the trace and the shards. If the folder holds
// no run, the error is a *NotDoneError; if the run is of another kind, an *OtherRunError.
func Verify(dir string, kind Kind) (*Verification, error) {
	f := &Folder{Dir: dir, kind: kind}
	m, err := ReadManifest(dir)
	none := errors.Is(err, fs.ErrNotExist)
	switch {
	case none && !slices.ContainsFunc([]string{configFile, checkpointFile, previousFile}, f.has):
		return nil, &NotDoneError{fmt.Errorf("%s holds no run: %w", dir, err)}
	case err == nil && m.Kind != kind.Name:
		return nil, &OtherRunError{OtherKind, fmt.Errorf("the run in %s was made by starling %s, not by starling %s", dir, m.Kind, kind.Name)}
	}
	v := &Verification{Status: m.Status, dir: dir}
	v.compared(manifestFile, "", err)
	if m.Status == Done {
		for _, name := range slices.Sorted(maps.Keys(m.Files)) {
			v.finished(&Record{Dir: dir, Manifest: m, kind: kind}, name)
		}
	} else {
		v.unfinished(f)
	}
	return v, v.others(f)
}

// finished compares a file of a run that is done with its sum.
func (v *Verification) finished(r *Record, name string) {
	found, why := "", ""
	err := r.find(name, func(path string) error {
		is, err := sumFile(path)
		if err == nil && is.hex() != r.Manifest.Files[name] {
			err = errChanged
		}
		found = filepath.Base(path)
		return err
	})
	if err == nil && found != name {
		v.next = append(v.next, found)
		why = "stands in " + found + ": the command that replaced it was stopped, and it counts"
	}
	v.compared(name, why, err)
}

// unfinished checks what a run that is not done goes on from.
func (v *Verification) unfinished(f *Folder) {
	var trace *beginning
	for _, name := range []string{checkpointFile, previousFile} {
		c, text, err := savedState(f.Dir, name)
		if name == previousFile && !f.has(name) {
			continue // the run has written one checkpoint
		}
		if v.good == nil && err == nil {
			v.good, trace = c, text
		}
		if c != nil && err != nil {
			err = fmt.Errorf("the run cannot go on from it: %w", err)
		}
		v.compared(name, "", err)
	}
	if v.good == nil {
		return
	}
	config, err := regular.Read(f.path(configFile), limit(configFile))
	if err == nil && !bytes.Equal(config, v.good.config) {
		err = errors.New("is not the config in the checkpoint")
	}
	v.compared(configFile, "", err)
	v.add(traceFile, OK, fmt.Sprintf("its first %d bytes, up to the checkpoint", trace.bytes))
	v.shards(f)
}

// shards compares the shards that the checkpoint counts.
func (v *Verification) shards(f *Folder) {
	if f.kind.Stored == nil {
		return
	}
	for _, phase := range v.good.phases {
		for part, packed := range phase.parts {
			for n, sum := range f.kind.Stored(packed) {
				name := f.kind.shard(part, n)
				is, err := sumFile(f.path(name))
				if err == nil && is.sha256 != sum {
					err = errShard
				}
				v.compared(name, "", err)
			}
		}
	}
}

// others adds the files in the folder for which there is no checksum.
func (v *Verification) others(f *Folder) error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case slices.ContainsFunc(v.Files, func(file Verified) bool { return file.File == name }), name == lockFile, slices.Contains(v.next, name):
		case !f.kind.has(name):
			v.add(name, Unlisted, "not a file of the run")
		case v.Status == Done && strings.HasSuffix(name, nextSuffix):
			v.add(name, Unlisted, "left from a command that was stopped before it replaced a file: it does not count")
		case v.Status == Done:
			v.add(name, Unlisted, "written after the run was done, or left from before")
		case v.Status == "":
			v.add(name, Unlisted, "cannot be checked without the manifest")
		case f.kind.isShard(name) && v.good != nil:
			v.add(name, Unlisted, "the checkpoint does not count it: a run that goes on writes it again")
		default:
			v.add(name, Unlisted, "cannot be checked before the run is done")
		}
	}
	return nil
}
