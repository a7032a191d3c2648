package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/sets"
)

// Read loads other examples than the run's own, to evaluate the run's network on: a known set by name, a CSV that has the
// run's columns, or a file of inputs and a file of their labels; labels is empty for the first two. How a CSV differs from the run's table
// is in Problem.Noted. The examples are in Problem.Test. The error is a *FieldError without a field for wrong arguments; every other
// error is about the examples.
func (s *Schema) Read(name, labels, dir string) (*Problem, error) {
	return s.read(name, labels, dir, "test", otherClasses)
}

// read is Read of examples that errors call a part, and whose mend says what to do about classes that the run has not.
func (s *Schema) read(name, labels, dir, part, mend string) (*Problem, error) {
	p := &Problem{Name: name, Schema: s}
	if labels != "" {
		inputs, targets, err := (&Arrays{name, labels}).read()
		if err == nil {
			p.Test, err = s.Labelled(part, inputs, targets, nil)
		}
		var label *labelError
		if errors.As(err, &label) {
			err = fmt.Errorf("%w, the classes of the run: %s", err, mend)
		}
		return p, err
	}
	_, err := os.Stat(name)
	switch {
	case IsKnown(name):
		p, err := s.readSet(name, dir, part)
		if err != nil {
			return nil, err
		}
		for _, part := range []*Set{p.Train, p.Test} {
			if part != nil && s.Classes > 0 && part.Classes > s.Classes {
				return nil, fmt.Errorf("%s has %d classes, the run %d: %s", name, part.Classes, s.Classes, mend)
			}
		}
		return p, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, unknownOrMissing(name)
	}
	array, err := formats.IsArray(name)
	if err != nil {
		return nil, err
	}
	if array {
		return nil, fieldError("", "%s holds inputs: the file of their labels is needed, too", name)
	}
	t, err := p.readWithTargets(name, p.Schema.CSV()) // the schema has the better error for a missing target
	if err == nil {
		p.Test, err = s.Set(part, t, nil, true)
	}
	return p, err
}

// otherClasses is the mend where labels are not those of the run.
const otherClasses = "for data with other classes say which is which with --classes"

// readSet reads a known set as inputs and targets of the run. Of a table all rows are examples of the part.
func (s *Schema) readSet(name, dir, part string) (*Problem, error) {
	if Tabular(name) && s.Columns != nil {
		p := &Problem{Name: name, Schema: s}
		t, _, err := LoadTable(name, dir)
		if err == nil {
			p.Test, err = s.Set(part, t, nil, true)
		}
		return p, err
	}
	p, err := Load(name, dir)
	if err != nil {
		return nil, err
	}
	for _, part := range []*Set{p.Train, p.Test} {
		if err := s.sameShape(name, part); err != nil {
			return nil, err
		}
	}
	p.Schema = s
	return p, p.standardise()
}

// ReadGroups adds groups of out-of-distribution inputs by name: the test examples of a known set, or a file of inputs,
// NPY, IDX or CSV, whose group has the file's name up to the first dot. Errors are as those of Schema.Read.
func (p *Problem) ReadGroups(dir string, names ...string) error {
	return p.readGroups(&p.Groups, dir, names)
}

func (p *Problem) readGroups(to *[]Group, dir string, names []string) error {
	for _, name := range names {
		g, err := p.readGroup(name, dir)
		if err != nil {
			return err
		}
		if slices.Contains(groupNamesTaken, g.Name) {
			return fieldError("", "%s: %s is the name of a part of the data or of the scores: name the file otherwise", name, g.Name)
		}
		if slices.ContainsFunc(*to, func(other Group) bool { return other.Name == g.Name }) {
			return fieldError("", "there is a group %s already: %s needs another name", g.Name, name)
		}
		*to = append(*to, g)
	}
	return nil
}

func (p *Problem) readGroup(name, dir string) (Group, error) {
	s := p.Schema
	if !IsKnown(name) {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return Group{}, unknownOrMissing(name)
		}
		base, _, _ := strings.Cut(filepath.Base(name), ".")
		set, err := p.readInputs(base, name)
		return Group{Name: base, Set: set}, err
	}
	g := Group{Name: name}
	if Tabular(name) && s.Columns != nil {
		t, _, err := LoadTable(name, dir)
		if err == nil {
			g.Set, err = s.Set(name, t, nil, false)
		}
		return g, err
	}
	known, err := Load(name, dir)
	if err != nil {
		return g, err
	}
	set := known.Test
	if set == nil {
		set = known.Train
	}
	if err := s.sameShape(name, set); err != nil {
		return g, err
	}
	g.Set, err = s.Standardise(withoutTargets(name, set))
	return g, err
}

// unknownOrMissing is the error for a name that is neither a known set nor a file. It lists the known sets.
func unknownOrMissing(name string) error {
	_, err := sets.Find(name)
	return fieldError("", "%v, and no file %s", err, name)
}

// sameShape returns an error if the examples of a set, which may be nil, do not have the shape of the run's training
// examples.
func (s *Schema) sameShape(name string, set *Set) error {
	if set == nil || TakesShape(s.Shape, set.Shape) {
		return nil
	}
	return fmt.Errorf("%s: examples of shape %v, the run was trained on examples of shape %v%s", name, set.Shape, s.Shape, otherSize(name, set.Shape, s.Shape))
}

// TakesShape reports whether a network of an input shape takes examples of another shape: as they are, or flattened.
func TakesShape(input, examples []int) bool {
	if len(input) == 3 && len(examples) == 3 {
		return slices.Equal(input, examples)
	}
	return size(input) == size(examples)
}
