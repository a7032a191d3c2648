package config

import (
	"fmt"
	"slices"
	"strings"
)

// Source maps the settings of a config to the places where they were written. It is nil for settings built in Go.
type Source struct {
	file   string
	places map[string]place
	sets   []string          // the paths in places that --set brought, in the order of the text
	moved  map[string]string // by path: the path at which a setting is written, if in a short form or beside a part's name
}

func newSource(file string) *Source {
	return &Source{file: file, places: map[string]place{}, moved: map[string]string{}}
}

// Error returns an *Error of faults that were found after the config was read, for example in the data; nil if there are
// none. The place of a fault is the first --set inside its path or at a path in Also; else the place where its path was
// written; else that of the nearest enclosing setting.
func (s *Source) Error(faults ...Fault) error {
	var located []fault
	for _, f := range faults {
		f.Inside = true
		located = append(located, s.locate(f))
	}
	err := s.error(located)
	if e, is := err.(*Error); is {
		e.machine = !slices.ContainsFunc(faults, func(f Fault) bool { return !f.Machine })
	}
	return err
}

func (s *Source) error(faults []fault) error {
	if len(faults) == 0 {
		return nil
	}
	e := &Error{}
	if s != nil {
		e.File = s.file
	}
	seen := map[fault]bool{}
	for _, f := range faults {
		if !seen[f] { // the check of an embedded struct is promoted to the outer struct, so it runs twice
			e.faults = append(e.faults, f)
		}
		seen[f] = true
	}
	slices.SortStableFunc(e.faults, func(a, b fault) int {
		if a.place.line != b.place.line {
			return a.place.line - b.place.line
		}
		return a.place.column - b.place.column
	})
	return e
}

// locate finds the place of a fault.
func (s *Source) locate(f Fault) fault {
	out := fault{path: f.Path, message: f.Message}
	if s == nil {
		return out
	}
	out.path = moveAll(s.moved, f.Path)
	out.place = s.around(out.path)
	for _, p := range append([]string{f.Path}, f.Also...) {
		p = moveAll(s.moved, p)
		if out.place.set != "" {
			break
		}
		if at := s.around(p); at.set != "" {
			out.place = at
		} else if at, ok := s.inside(p); ok && f.Inside {
			out.place = at
		}
	}
	return out
}

// note remembers where path was written.
func (s *Source) note(path string, p place) {
	if _, again := s.places[path]; !again && p.set != "" {
		s.sets = append(s.sets, path)
	}
	s.places[path] = p
}

// written reports whether path was written.
func (s *Source) written(path string) bool {
	_, ok := s.places[path]
	return ok
}

// around returns the place of path, or of the nearest enclosing setting that was written.
func (s *Source) around(path string) place {
	for {
		if p, ok := s.places[path]; ok || path == "" {
			return p
		}
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
}

// inside returns the place of the first --set inside path.
func (s *Source) inside(path string) (place, bool) {
	for _, p := range s.sets {
		if p != path && within(p, path) {
			return s.places[p], true
		}
	}
	return place{}, false
}

// moveAll replaces the beginnings of path that are written elsewhere.
func moveAll(moved map[string]string, path string) string {
	for part := path; part != ""; part = part[:max(0, strings.LastIndexByte(part, '.'))] {
		if to, ok := moved[part]; ok {
			return moveAll(moved, strings.TrimPrefix(to+path[len(part):], "."))
		}
	}
	return path
}

// fault is a Fault whose place is known.
type fault struct {
	place   place
	path    string // dotted, as for --set; empty if the message names the setting
	message string
}

// Error lists the faults of a config, each on a line of its own with its place: file, line and column, or the --set argument,
// or the path for settings built in Go.
type Error struct {
	File   string // as given to Parse; empty for settings built in Go
	faults []fault

	machine bool // all faults are Fault.Machine
}

// OfMachine reports whether other machines may take the config: this one lacks what it needs.
func (e *Error) OfMachine() bool {
	return e.machine
}

func (e *Error) Error() string {
	lines := make([]string, len(e.faults))
	for i, f := range e.faults {
		var b strings.Builder
		switch {
		case f.place.set != "":
			fmt.Fprintf(&b, "--set %s: ", f.place.set)
		case f.place.column > 0:
			fmt.Fprintf(&b, "%s:%d:%d: ", e.File, f.place.line, f.place.column)
		case f.place.line > 0: // the parser gives no column
			fmt.Fprintf(&b, "%s:%d: ", e.File, f.place.line)
		case e.File != "":
			fmt.Fprintf(&b, "%s: ", e.File)
		}
		if f.path != "" {
			b.WriteString(f.path + ": ")
		}
		b.WriteString(f.message)
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}
