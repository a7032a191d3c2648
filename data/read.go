package data

import (
	"fmt"
	"slices"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/formats"
)

func (a *Arrays) read() (inputs, targets *Array, err error) {
	if inputs, err = readArray(a.Inputs); err != nil {
		return nil, nil, err
	}
	targets, err = formats.ReadArray(a.Targets)
	return inputs, targets, err
}

// readArray reads the inputs of examples, of which there must be one, or leaves them in their file.
func readArray(path string) (*Array, error) {
	a, err := formats.StoreArray(path)
	if err == nil && len(a.Shape) > 0 && a.Shape[0] == 0 {
		return nil, fmt.Errorf("%s: the array has no rows: its shape is %v: add examples, or name another file", path, a.Shape)
	}
	return a, err
}

// readExamples reads a table of examples, of which there must be one.
func readExamples(path string, o CSV) (*Table, error) {
	t, err := formats.ReadCSV(path, o)
	if err == nil && t.Rows() == 0 {
		return nil, fmt.Errorf("%s: the table has no rows: add rows, or name another file", t.Name)
	}
	return t, err
}

// readInputs reads a file of inputs without targets, NPY, IDX or CSV.
func (p *Problem) readInputs(name, file string) (*Set, error) {
	array, err := formats.IsArray(file)
	if err != nil {
		return nil, err
	}
	if array {
		a, err := readArray(file)
		if err != nil {
			return nil, err
		}
		return p.Schema.Examples(name, a)
	}
	t, err := p.readTable(file, p.Schema.CSVToPredict(""))
	if err != nil {
		return nil, err
	}
	return p.Schema.Set(name, t, nil, false)
}

// readWithTargets reads a table of examples with targets. Rows without one are left out and counted if the run does so.
func (p *Problem) readWithTargets(file string, o CSV) (*Table, error) {
	t, err := p.readTable(file, o)
	if err != nil || p.Schema.MissingTarget == "" {
		return t, err
	}
	r, err := p.Schema.find(t)
	if err != nil || r.Target < 0 {
		return t, nil // the set that is made of it has the error
	}
	if t.Skipped = t.SkipWithoutTarget(r.Target, p.Schema.Names); t.Skipped > 0 {
		p.Noted = append(p.Noted, finding.Of(finding.RowsWithoutTarget{Rows: t.Skipped, File: file}))
	}
	if t.Rows() == 0 {
		return nil, fmt.Errorf("%s: no row has a target", t.Name)
	}
	return t, nil
}

// readTable reads another table than that of the training examples, and notes how it differs from that one: once, also if it is the
// file of two parts.
func (p *Problem) readTable(file string, o CSV) (*Table, error) {
	t, err := readExamples(file, o)
	if err != nil {
		return nil, err
	}
	for _, note := range t.Notes(file, t.Rows()) {
		if !slices.ContainsFunc(p.Noted, note.Equal) {
			p.Noted = append(p.Noted, note)
		}
	}
	return t, nil
}
