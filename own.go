package starling

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling/data"
)

// whence is the way from a run's folder to the folder in which this process works: the names of files in the run's config are relative to
// that. It stays right where both are moved together. It is empty where there is none, as between two drives.
func whence(dir string) string {
	from, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	way, err := filepath.Rel(from, here)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(way)
}

// own loads the run's own data, which must not have changed: from where the run was made and, if they are not there, from the current
// folder.
func (r *Run) own(dir string) (*data.Problem, error) {
	made := ""
	if from := r.Manifest.From; from != "" && from != whence(r.Dir) {
		made = filepath.Join(r.Dir, filepath.FromSlash(from))
		if p, err := r.ownUnder(made, dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
	}
	p, err := r.ownUnder("", dir)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
	case made != "":
		err = fmt.Errorf("%w (the run's own data; paths in its config are relative to the folder in which it was made, %s: they are neither there nor in the current folder)", err, made)
	default:
		err = fmt.Errorf("%w (the run's own data; paths in its config are relative to the current folder)", err)
	}
	return p, err
}

// ownUnder loads the run's own data from a folder; "": the current one.
func (r *Run) ownUnder(folder, dir string) (*data.Problem, error) {
	s := r.Spec
	if folder != "" {
		s.Data = s.Data.Under(folder)
	}
	p, err := s.Load(dir, r.Schema)
	if err != nil {
		return nil, err
	}
	if folder != "" {
		p.Called(s.Data, r.Spec.Data)
	}
	sums := p.Checksums()
	for _, part := range slices.Sorted(maps.Keys(sums)) {
		if sum, was := sums[part], r.Manifest.Data[part]; was != sum {
			return nil, fmt.Errorf("the %s examples of %s are not those of the run: checksum %s, was %s", part, p.Name, sum, was)
		}
	}
	return p, nil
}
