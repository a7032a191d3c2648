package runs

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/starling-smc/starling/internal/regular"
)

// Record is the folder of a finished run. Its files are read by their names, and each is compared with the manifest as it is
// read.
type Record struct {
	Dir      string
	Config   []byte
	Manifest Manifest
	Trace    []TraceLine // CheckTrace tells whether it is complete; empty if the kind of the run Streams (Lines)
	kind     Kind
}

// Read reads the folder of a finished run. If there is no finished run, the error is a *NotDoneError, which says how to
// resume a run that was begun. If a file is damaged or missing, it is a *DamagedError; if the run is of another kind, an
// *OtherRunError.
func Read(dir string, kind Kind) (*Record, error) {
	_, err := regular.Read(filepath.Join(dir, configFile), limit(configFile))
	m, unknown := ReadManifest(dir)
	switch {
	case err != nil && unknown != nil:
		return nil, &NotDoneError{fmt.Errorf("%s holds no run: %w", dir, err)}
	case errors.Is(unknown, fs.ErrNotExist) && resumable(dir) == "":
		return nil, &NotDoneError{fmt.Errorf("%s holds no run to read or to go on with: a %s, but no %s and no good checkpoint; %s it into another folder, by another --out",
			dir, configFile, manifestFile, kind.Name)}
	case errors.Is(unknown, fs.ErrNotExist): // the process was killed before it wrote the manifest
		m.Status = "without a manifest"
	case unknown != nil:
		return nil, unknown
	case m.Kind != kind.Name:
		return nil, &OtherRunError{OtherKind, fmt.Errorf("the run in %s was made by starling %s, not by starling %s", dir, m.Kind, kind.Name)}
	case err != nil && m.Status != Done:
		return nil, &NotDoneError{fmt.Errorf("the run in %s is %s and has lost its config: %w; begin it anew in another folder", dir, m.Status, err)}
	}
	if m.Status != Done {
		return nil, &NotDoneError{fmt.Errorf("the run in %s is %s; to go on with it: starling %s %s --out %s --resume",
			dir, m.Status, kind.Name, filepath.Join(dir, configFile), dir)}
	}
	r := &Record{Dir: dir, Manifest: m, kind: kind}
	if r.Config, err = r.File(configFile); err != nil {
		return nil, err
	}
	if kind.Streams {
		return r, r.compare(traceFile)
	}
	text, err := r.File(traceFile)
	if err != nil {
		return nil, err
	}
	if r.Trace, err = ReadTrace(text); err != nil {
		return nil, r.damaged(fmt.Errorf("%s: %w", filepath.Join(dir, traceFile), err))
	}
	return r, nil
}

// File reads a file of the run. If it is not the one that the run wrote, the error is a *DamagedError.
func (r *Record) File(name string) (text []byte, err error) {
	err = r.find(name, func(path string) error {
		b, err := regular.Read(path, limit(name))
		if err != nil {
			return err
		}
		switch want, listed := r.Manifest.Files[name]; {
		case !listed:
			return fmt.Errorf("%s: %s does not list it", path, manifestFile)
		case want != fmt.Sprintf("%x", sha256.Sum256(b)):
			return fmt.Errorf("%s: %w", path, errChanged)
		}
		text = b
		return nil
	})
	if err != nil {
		return nil, r.damaged(err)
	}
	return text, nil
}

// compare returns the error of File without holding the file in memory.
func (r *Record) compare(name string) error {
	is, err := sumFile(r.path(name))
	if err == nil && is.hex() != r.Manifest.Files[name] {
		err = fmt.Errorf("%s: %w", r.path(name), errChanged)
	}
	if err != nil {
		return r.damaged(err)
	}
	return nil
}

func (r *Record) path(name string) string { return filepath.Join(r.Dir, name) }

// errChanged is the error for a file whose checksum is not the one in the manifest.
var errChanged = errors.New("is not as the run wrote it: its checksum is not the one in " + manifestFile)

// damaged adds to an error about a file what to do.
func (r *Record) damaged(err error) error {
	again := fmt.Sprintf("%s the run again into another folder, by another --out", r.kind.Name)
	return &DamagedError{fmt.Errorf("%w; %s", err, cmp.Or(resumable(r.Dir), again))}
}
