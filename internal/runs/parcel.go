package runs

import (
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

// Unpack puts the files of parcels into a folder, the manifest last of all. Then it removes the run's other files, which were there before.
func (f *Folder) Unpack(parcels ...[]byte) error {
	var last []byte
	has := map[string]bool{}
	for _, parcel := range parcels {
		d, err := ckpt.NewDecoder(parcel, parcelKind)
		if err != nil {
			return err
		}
		for _, name := range d.Names() {
			if !f.kind.has(name) {
				return fmt.Errorf("a parcel with a file %q, which no run has", name)
			}
			has[name] = true
			b := d.Bytes(name)
			if name == manifestFile {
				last = b
				continue
			}
			if err := ckpt.WriteFile(f.path(name), b); err != nil {
				return saving(err)
			}
		}
		if err := d.Err(); err != nil {
			return err
		}
	}
	if last == nil {
		return nil
	}
	if err := ckpt.WriteFile(f.path(manifestFile), last); err != nil {
		return saving(err)
	}
	f.made, f.kept = false, true
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if f.kind.has(e.Name()) && !has[e.Name()] {
			if err := os.Remove(f.path(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
