package data

import (
	"path/filepath"
	"slices"
)

// files are the files that the settings name.
func (s *Settings) files() (all []*string) {
	if c := s.CSV; c != nil {
		all = append(all, &c.File, &c.Test, &c.Validate)
	}
	for _, a := range []*Arrays{s.Train, s.Validate, s.Test} {
		if a != nil {
			all = append(all, &a.Inputs, &a.Targets)
		}
	}
	for i := range s.Groups {
		all = append(all, &s.Groups[i].File)
	}
	if s.Split != nil {
		all = append(all, &s.Split.TestRows)
	}
	return all
}

// Under returns the settings with the names of their files, where these are relative, taken from a folder; "": the working directory.
func (s Settings) Under(folder string) Settings {
	s.CSV, s.Train, s.Validate, s.Test, s.Split = copied(s.CSV), copied(s.Train), copied(s.Validate), copied(s.Test), copied(s.Split)
	s.Groups = slices.Clone(s.Groups)
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
	sets := []**Set{&p.Train, &p.Validate, &p.Test}
	for i := range p.Groups {
		sets = append(sets, &p.Groups[i].Set)
	}
	for _, set := range sets {
		if *set != nil {
			other := **set // a set is never changed
			rename(&other.Source)
			*set = &other
		}
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
