package data

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/regular"
)

// Load loads the examples into memory as the network's inputs and targets. dir is the data directory with the files of known
// sets that are not built in. Missing test and validation parts are held out of the training examples. Standardisation is
// measured on the training examples that are left.
//
// The error is a *FieldError for a fault of the settings, and a *NamesError for a regression whose target column holds names.
// Every other error is about the examples, and names the file.
func (s Settings) Load(dir string, need Need) (_ *Problem, err error) {
	defer regular.Caught(&err)
	s.DefaultsFor(need.Regression)
	need.Whole = need.Whole && s.Split == nil || s.Whole
	if s.Seed != nil {
		need.Seed = *s.Seed
	}
	p, err := s.parts(dir, need)
	if err == nil && need.Schema == nil && !p.Whole {
		err = p.learnable()
	}
	if err != nil {
		return nil, err
	}
	memory := Memory{}
	if s.Memory != nil {
		memory = *s.Memory
	}
	if s.Augment != nil {
		if err := s.Augment.suits(p.Name, p.Train.Shape); err != nil {
			return nil, err
		}
		p.Augment = s.Augment
	}
	if err := p.addGroups(&p.Groups, s.Groups, "Groups", memory.Groups); err != nil {
		return nil, err
	}
	if err := p.addGroups(&p.Foreign, s.CalibrateGroups, "Foreign", memory.Foreign); err != nil {
		return nil, err
	}
	if p.Foreign != nil && p.Calibrate == nil {
		return nil, fieldError(calibrateGroups, foreignAlone)
	}
	return p, nil
}

// addGroups adds groups of inputs from files, and from memory, where they are in a list of some name.
func (p *Problem) addGroups(to *[]Group, files []GroupFile, list string, memory []MemoryGroup) error {
	for _, g := range files {
		set, err := p.readInputs(g.Name, g.File)
		if err != nil {
			return err
		}
		*to = append(*to, Group{Name: g.Name, Set: set})
	}
	for i := range memory {
		g, err := memory[i].group(list, p.Schema)
		if err != nil {
			return err
		}
		*to = append(*to, g)
	}
	return nil
}

// parts loads the examples with targets.
func (s Settings) parts(dir string, need Need) (*Problem, error) {
	switch {
	case s.Tabular():
		return s.loadTable(dir, need)
	case s.Set != "":
		return s.loadSet(dir, need)
	}
	return s.loadArrays(need)
}

// learnable returns an error if all training examples are of one class.
func (p *Problem) learnable() error {
	labels := p.Train.Labels
	if len(labels) == 0 || slices.ContainsFunc(labels, func(l int32) bool { return l != labels[0] }) {
		return nil
	}
	file, class := p.Name, strconv.Itoa(int(labels[0]))
	if p.targets != nil {
		file = p.targets["train"]
	}
	if p.Train.Names != nil {
		class = p.Train.Names[labels[0]]
	}
	return fmt.Errorf("%s: the target has one class only, %s, in all %d training examples: there is nothing to learn", file, class, len(labels))
}

// loadSet loads a known set that is not a table.
func (s Settings) loadSet(dir string, need Need) (*Problem, error) {
	p, err := Load(s.Set, dir)
	if err != nil {
		return nil, err
	}
	p.Whole = p.Whole || need.Whole
	if p.Schema != nil && s.Standardise != "none" {
		return nil, fieldError("standardise", "the inputs of %s come standardised: want none", p.Name)
	}
	if p.Schema != nil {
		return p, nil
	}
	if err := p.split(s.Split, need.Seed); err != nil {
		return nil, err
	}
	if p.Schema = need.Schema; p.Schema == nil {
		if p.Schema, err = newSchema(p.Train, s.standard()); err != nil {
			return nil, err
		}
	}
	return p, p.standardise()
}

// loadArrays takes arrays from files or from memory. As with a table, rows are chosen and measured before anything is
// rounded.
func (s Settings) loadArrays(need Need) (*Problem, error) {
	type part struct {
		name            string
		file            *Arrays
		slices          *Slices
		into            **Set
		inputs, targets *Array
		rows            []int32 // nil: all
	}
	memory := Memory{}
	if s.Memory != nil {
		if memory = *s.Memory; memory.Train == nil {
			return nil, fieldError("memory", "the examples of this run were in a program's memory: "+
				"on the command line, starling evaluate RUN --data FILE and starling predict RUN take examples from a file; "+
				"a program gives them again, as data.Settings.Memory")
		}
	}
	p := &Problem{Name: "memory", Schema: need.Schema, Whole: need.Whole, targets: map[string]string{}}
	if s.Train != nil {
		p.Name = s.Train.Inputs
	}
	parts := []*part{
		{name: "train", file: s.Train, slices: memory.Train, into: &p.Train},
		{name: "test", file: s.Test, slices: memory.Test, into: &p.Test},
		{name: "validate", file: s.Validate, slices: memory.Validate, into: &p.Validate},
		{name: calibratePart, file: s.Calibrate, slices: memory.Calibrate, into: &p.Calibrate},
	}
	train, classes := parts[0], 0
	for _, part := range parts {
		var err error
		switch {
		case part.file != nil:
			part.inputs, part.targets, err = part.file.read()
		case part.slices != nil:
			part.inputs, part.targets, err = part.slices.arrays("Memory."+strings.ToUpper(part.name[:1])+part.name[1:], need.Regression)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		p.targets[part.name] = part.targets.Name
		if !need.Regression {
			labels, err := part.targets.Ints()
			if err != nil {
				return nil, err
			}
			classes = max(classes, int(slices.Max(append(labels, 0)))+1) // one more than the largest label of any part
		}
	}
	if len(train.inputs.Shape) == 0 {
		return nil, fmt.Errorf("%s: a single number, want inputs [examples, …]", train.inputs.Name)
	}
	lacks := func(k int) bool { return parts[k].inputs == nil && !p.Whole }
	rows, held, err := s.Split.assign(train.inputs.Shape[0], need.Seed, anyRows, lacks(1), lacks(2), lacks(3))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	if p.Schema == nil {
		if p.Schema, err = arraySchema(train.inputs, train.targets, rows, classes, s.standard(), s.Target == targetLog); err != nil {
			return nil, err
		}
	}
	train.rows = rows
	for _, part := range parts {
		if part.inputs == nil {
			drawn, is := held[part.name]
			if !is {
				continue
			}
			part.inputs, part.targets, part.rows = train.inputs, train.targets, drawn
		}
		if *part.into, err = p.Schema.Labelled(part.name, part.inputs, part.targets, part.rows); err != nil {
			return nil, err
		}
	}
	return p, nil
}
