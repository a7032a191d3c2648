package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"

	"github.com/starling-smc/starling/internal/ckpt"
)

// A file of the result may be replaced when the run is done (Kind.Replaced), although the manifest lists its sum. Two files change then. A
// process may be killed in between, and others read the run meanwhile. So
//
//	NAME.next      is written, and is on the disk
//	manifest.json  is replaced by one that lists the new sum: from here on the new file counts
//	NAME.next      is renamed to NAME
//
// A reader takes the file that the manifest lists, from either name. A NAME.next with another sum is left from a process that was stopped
// before the second step: nobody reads it.

// nextSuffix ends the name of a file that is to replace another.
const nextSuffix = ".next"

// places are the names under which a file of a finished run may stand, in the order in which to look. Another process may rename the file
// after the first look.
func (k *Kind) places(name string) []string {
	if !slices.Contains(k.Replaced, name) {
		return []string{name}
	}
	return []string{name, name + nextSuffix, name}
}

// find looks for a file of the run wherever it may stand, until look has no error. Else the error is that of the first place.
func (r *Record) find(name string, look func(path string) error) error {
	for {
		var first error
		for _, place := range r.kind.places(name) {
			err := look(r.path(place))
			if err == nil {
				return nil
			}
			first = cmp.Or(first, err)
		}
		if !r.renewed(name) {
			return first
		}
	}
}

// renewed reports whether another process has replaced a file since the manifest was read, and takes the new manifest.
func (r *Record) renewed(name string) bool {
	if !slices.Contains(r.kind.Replaced, name) {
		return false
	}
	m, err := ReadManifest(r.Dir)
	if err != nil || !r.of(&m) || m.Files[name] == r.Manifest.Files[name] {
		return false
	}
	r.Manifest = m
	return true
}

// Replace replaces a file of the run, one of those that its Kind says, or adds it. The manifest changes with it: say, which may be nil, changes
// its notes and findings. If there is an error, the run is as it was. One process at a time replaces files, and none while a run is at work
// in the folder.
func (r *Record) Replace(file File, say func(*Manifest)) (err error) {
	f := &Folder{Dir: r.Dir, kind: r.kind}
	if !slices.Contains(f.kind.Replaced, file.Name) {
		return fmt.Errorf("a run of kind %s keeps its %s", f.kind.Name, file.Name)
	}
	if err := f.take(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, err := ReadManifest(r.Dir) // another process may have replaced a file since the record was read
	if err == nil && !r.of(&m) {
		err = fmt.Errorf("%s: another run took the place of the one that was read: begin again", r.Dir)
	}
	if err != nil {
		return err
	}
	if say != nil {
		say(&m)
	}
	steps := f.replacing(&m, file)
	last := len(steps) - 1
	for _, step := range steps[:last] {
		if err := step(); err != nil {
			return f.unreplaced(err)
		}
	}
	r.Manifest = m
	steps[last]() // the new file counts already: who reads the run finds it under its other name
	return nil
}

// replacing are the steps of Replace. After each of them the folder holds a whole run, with the old file or the new one.
func (f *Folder) replacing(m *Manifest, file File) []func() error {
	settle := func() error { return f.settle(m) }
	return []func() error{
		settle, // the place of the new file may hold the one that counts
		func() error {
			sum := newSumming()
			err := ckpt.Replace(f.path(file.Name+nextSuffix), "", func(w io.Writer) error {
				if err := file.Write(io.MultiWriter(w, sum)); err != nil {
					return err
				}
				return readable(file.Name, sum.bytes)
			})
			m.Files[file.Name] = sum.sum().hex()
			return err
		},
		func() error { return f.writeManifest(m) },
		settle,
	}
}

// settle ends a replacement that was stopped: a file that the manifest lists takes its place, and another one is removed.
func (f *Folder) settle(m *Manifest) error {
	for _, name := range f.kind.Replaced {
		next := f.path(name + nextSuffix)
		is, err := sumFile(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
		case is.hex() == m.Files[name]:
			err = ckpt.Rename(next, f.path(name))
		default:
			err = os.Remove(next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unreplaced is the error of a replacement that failed, of which nothing is left.
func (f *Folder) unreplaced(err error) error {
	if m, unread := ReadManifest(f.Dir); unread == nil {
		f.settle(&m) // the first error is reported, not this one
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: make room there, and try again", err)
	}
	return fmt.Errorf("the run in %s stays as it was: %w", f.Dir, err)
}

// of reports whether a manifest is that of the record's run, whatever files of it were replaced since.
func (r *Record) of(m *Manifest) bool {
	replaced := func(name, _ string) bool { return slices.Contains(r.kind.Replaced, name) }
	was, is := maps.Clone(r.Manifest.Files), maps.Clone(m.Files)
	maps.DeleteFunc(was, replaced)
	maps.DeleteFunc(is, replaced)
	return m.Kind == r.Manifest.Kind && m.Status == Done && maps.Equal(was, is)
}
