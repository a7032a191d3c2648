package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/regular"
)

// The folder of a whole run goes to another machine in two parcels: the files that depend on the config and the data alone, and those that
// have times and the name of a machine in them.

const parcelKind = "runs.Parcel/1"

// timed are the files that differ from machine to machine by nature.
var timed = []string{manifestFile, traceFile, checkpointFile, previousFile}

// Parcels packs the files of a folder. Both parcels together are all of it.
func (f *Folder) Parcels() (same, timely []byte, err error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, nil, err
	}
	both := map[bool]*ckpt.Encoder{false: ckpt.NewEncoder(parcelKind), true: ckpt.NewEncoder(parcelKind)}
	for _, e := range entries {
		name := e.Name()
		if !f.kind.has(name) {
			continue
		}
		b, err := regular.Read(f.path(name), math.MaxInt64)
		if errors.Is(err, fs.ErrNotExist) { // the run has replaced a checkpoint since
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		both[slices.Contains(timed, name)].Bytes(name, b)
	}
	return both[false].Encode(), both[true].Encode(), nil
}

// Unpack puts the files of parcels into a folder, the manifest last of all. Then it removes the run's other files, which were there before. A
// folder that has kept another run stays as it is: the error is an *OtherRunError.
//
// A crash in between leaves a run that begins anew: the folder has no checkpoint while it has files of two processes, since a checkpoint counts
// the lines of its own process' trace.
func (f *Folder) Unpack(parcels ...[]byte) error {
	files := map[string][]byte{}
	var names []string
	for _, parcel := range parcels {
		d, err := ckpt.NewDecoder(parcel, parcelKind)
		if err != nil {
			return err
		}
		for _, name := range d.Names() {
			if !f.kind.has(name) {
				return fmt.Errorf("a parcel with a file %q, which no run has", name)
			}
			files[name], names = d.Bytes(name), append(names, name)
		}
		if err := d.Err(); err != nil {
			return err
		}
	}
	if files[manifestFile] == nil {
		return errors.New("parcels without a manifest")
	}
	if err := f.same(files); err != nil {
		return err
	}
	last := []string{checkpointFile, previousFile, manifestFile}
	for _, name := range last[:2] {
		if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return saving(err)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(last, name) })
	for _, name := range append(names, last...) {
		if b, is := files[name]; is {
			if err := ckpt.WriteFile(f.path(name), b); err != nil {
				return saving(err)
			}
		}
	}
	f.made, f.kept = false, true
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, is := files[e.Name()]; f.kind.has(e.Name()) && !is {
			if err := os.Remove(f.path(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// same returns an *OtherRunError if the folder has kept another run than the one of these files.
func (f *Folder) same(files map[string][]byte) error {
	if !f.Holds() {
		return nil
	}
	var is Manifest
	if err := json.Unmarshal(files[manifestFile], &is); err != nil {
		return fmt.Errorf("the manifest: %w", err)
	}
	m, err := ReadManifest(f.Dir)
	if err != nil {
		return err
	}
	config, err := regular.Read(f.path(configFile), limit(configFile))
	if err != nil {
		return f.damaged(err)
	}
	mine := identity{is.Kind, is.Version, is.Revision, files[configFile], is.Data, is.Init}
	was := identity{m.Kind, m.Version, m.Revision, config, m.Data, m.Init}
	other := new(OtherRunError)
	if err := mine.differ(&was, f.kind.Differ); errors.As(err, &other) {
		return &OtherRunError{other.Differs, fmt.Errorf("%s holds another run: %w", f.Dir, err)}
	}
	return nil
}
