package data

import (
	"path/filepath"
	"slices"

	"github.com/starling-smc/starling/internal/sets"
)

// files are the files that the settings name.
func (s *Settings) files() (all []*string) {
	if c := s.CSV; c != nil {
		all = append(all, &c.File, &c.Test, &c.Validate, &c.Calibrate)
	}
	for _, a := range []*Arrays{s.Train, s.Validate, s.Test, s.Calibrate} {
		if a != nil {
			all = append(all, &a.Inputs, &a.Targets)
		}
	}
	for _, groups := range [][]GroupFile{s.Groups, s.CalibrateGroups} {
		for i := range groups {
			all = append(all, &groups[i].File)
		}
	}
	if s.Split != nil {
		all = append(all, &s.Split.TestRows)
	}
	return all
}

// Under returns the settings with the names of their files, where these are relative, taken from a folder; "": the working directory.
func (s Settings) Under(folder string) Settings {
	return s.Moved(func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(folder, name)
	})
}

// Files lists the files that the settings name, each once, in the order of the settings; not those of a known Set (KnownFiles).
func (s Settings) Files() (names []string) {
	for _, file := range s.files() {
		if *file != "" && !slices.Contains(names, *file) {
			names = append(names, *file)
		}
	}
	return names
}

// KnownFiles lists the files of the known Set below the data directory: each by the name that it has in any data directory, and its path
// in this one. It is empty where the Set is built in, or none is named.
func (s Settings) KnownFiles(dir string) (names, paths []string, err error) {
	if s.Set == "" {
		return nil, nil, nil
	}
	k, err := sets.Find(s.Set)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range k.Files {
		path, err := k.Locate(dir, name)
		if err != nil {
			return nil, nil, err
		}
		names, paths = append(names, name), append(paths, path)
	}
	return names, paths, nil
}

// Moved returns the settings with other names of their files.
func (s Settings) Moved(to func(name string) string) Settings {
	s.CSV, s.Split = copied(s.CSV), copied(s.Split)
	s.Train, s.Validate, s.Test, s.Calibrate = copied(s.Train), copied(s.Validate), copied(s.Test), copied(s.Calibrate)
	s.Groups, s.CalibrateGroups = slices.Clone(s.Groups), slices.Clone(s.CalibrateGroups)
	for _, file := range s.files() {
		if *file != "" {
			*file = to(*file)
		}
	}
	return s
}

func copied[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

// Called names the problem and its sets as if they had been loaded by other settings, which name the same files by other paths: what is
// written of them does not depend on the folder in which somebody looks at them.
func (p *Problem) Called(by, as Settings) {
	names := map[string]string{}
	to := as.files()
	for i, file := range by.files() {
		names[*file] = *to[i]
	}
	rename := func(name *string) {
		if other, is := names[*name]; is {
			*name = other
		}
	}
	rename(&p.Name)
	for _, k := range p.places() {
		other := **k.set // a set is never changed
		rename(&other.Source)
		*k.set = &other
	}
	lines := map[string]func(int) int{}
	for file, line := range p.lines {
		if name, is := names[file]; is {
			file = name
		}
		lines[file] = line
	}
	p.lines = lines
}
