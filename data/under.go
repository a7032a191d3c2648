package data

import (
	"path/filepath"
	"slices"
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
	s.CSV, s.Split = copied(s.CSV), copied(s.Split)
	s.Train, s.Validate, s.Test, s.Calibrate = copied(s.Train), copied(s.Validate), copied(s.Test), copied(s.Calibrate)
	s.Groups, s.CalibrateGroups = slices.Clone(s.Groups), slices.Clone(s.CalibrateGroups)
	for _, file := range s.files() {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(folder, *file)
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
