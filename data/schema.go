package data

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/tables"
)

// Schema says how files become a network's inputs and targets, and how predictions are turned back into the target's units.
// It is measured on the training examples alone and kept with a run, as data.json.
type Schema struct {
	// For a table: Columns are all its columns in order, by name or, without a header, by number from 1. Target is one of
	// them. Dropped are the columns that are not inputs because they are constant over the training rows. All are empty for
	// arrays.
	Columns []string `json:"columns,omitempty"`
	Named   bool     `json:"named,omitempty"` // columns have names
	Target  string   `json:"target,omitempty"`
	Dropped []string `json:"dropped,omitempty"`
	// Constants are the values of the dropped columns that have one, as a file has them. Runs of older versions have none.
	Constants map[string]string `json:"constants,omitempty"`
	Empty     []string          `json:"empty,omitempty"`    // of the dropped columns, those that have no value in any training row
	LeftOut   []string          `json:"left_out,omitempty"` // columns that the config drops, and Counted: they may hold any text
	Counted   []string          `json:"counted,omitempty"`  // columns that are left out because they count the rows
	Differ    []string          `json:"differ,omitempty"`   // those that are because they hold words that all differ; before, they were Counted
	Mixed     map[string]string `json:"mixed,omitempty"`    // what those of Differ hold that are numbers with different texts around them, and what to do
	Inexact   []string          `json:"inexact,omitempty"`  // columns of whole numbers that a float64 does not tell apart; they are left out unless they are kept
	Padded    []string          `json:"padded,omitempty"`   // inputs of whole numbers that had leading zeros and are all of one width, as codes are
	Dates     []string          `json:"dates,omitempty"`    // those that are left out because they are an index of dates

	// Written says how the numbers of columns are written that are not plain decimal numbers.
	Written       []Written `json:"written,omitempty"`
	MissingTarget string    `json:"missing_target,omitempty"` // skip if rows without a target are left out; empty: they are an error

	// Expand says which inputs columns become that are not one number each, in the order of the columns. Other is zeros if a word that is
	// no category is all zeros; empty: it is an error.
	Expand []Expansion `json:"expand,omitempty"`
	Other  string      `json:"other,omitempty"`

	Delimiter string `json:"delimiter,omitempty"` // as the config says; empty: guessed
	Header    *bool  `json:"header,omitempty"`    // likewise
	Intercept bool   `json:"intercept,omitempty"` // an input before the others that is always 1

	Shape   []int    `json:"shape"`             // of an example's inputs
	Outputs int      `json:"outputs,omitempty"` // for regression: target values of an example
	Classes int      `json:"classes,omitempty"`
	Names   []string `json:"names,omitempty"` // of classes; nil if classes have numbers only

	Inputs   *Standard `json:"inputs,omitempty"`   // nil: inputs stay as they are
	Channels *Standard `json:"channels,omitempty"` // of images, a mean and a deviation for each channel; nil: they stay as they are
	Targets  *Standard `json:"targets,omitempty"`  // nil: targets stay as they are

	// Ranges describe the inputs' numbers in the training rows: of each column of numbers in order, of each channel of images, or of each
	// feature of arrays that have at most 512 of them, else of all their features together. Runs of older versions have none.
	Ranges []Range `json:"ranges,omitzero"`
}

// Written says how the numbers of a column are written.
type Written struct {
	Column string `json:"column"`
	cells.Notation
}

// newSchema makes the schema of a known set of classes, whose inputs may be standardised.
func newSchema(train *Set, by standard) (*Schema, error) {
	s := &Schema{Shape: train.Shape, Classes: train.Classes, Names: train.Names}
	switch {
	case by.channels && len(train.Shape) != 3:
		return nil, noChannels(train.Name, train.Shape)
	case by.channels:
		s.Channels = fitChannels(train.Len(), train.Shape, train.Row)
	case by.inputs:
		s.Inputs = FitStandard(train, 1)
	}
	s.measure(train.Len(), train.Row)
	return s, nil
}

// fitTargets measures n rows of targets, or their logarithms. A constant target is an error: it has no spread to be scaled by.
func (s *Schema) fitTargets(name string, n int, log bool, row func(i int, dst []float64)) error {
	measured := row
	if log {
		measured = logsOf(row)
	}
	s.Targets = fitStandard(n, s.Outputs, 1, measured)
	s.Targets.Log = log
	if j := s.Targets.undefined(); j >= 0 {
		return fmt.Errorf("%s: target %d: %s", name, j, tooSmall)
	}
	if c := s.Targets.Constant(); c != nil {
		what, first := "", make([]float64, s.Outputs)
		row(0, first)
		if s.Outputs > 1 {
			what = fmt.Sprintf(" %d", c[0])
		}
		return fmt.Errorf("%s: target%s is %v in all %d training examples: there is nothing to learn", name, what, first[c[0]], n)
	}
	return nil
}

// DecodeSchema reads a Schema that encoding/json wrote. A key that a Schema does not have is an error: a misspelt one would
// otherwise change predictions without a word.
func DecodeSchema(raw []byte) (*Schema, error) {
	s := new(Schema)
	if err := jsontext.Read(raw, s); err != nil {
		return nil, err
	}
	return s, s.check()
}

// check returns the first inconsistency of a schema that came from a file.
func (s *Schema) check() error {
	p := 1
	for _, d := range s.Shape {
		if d < 1 || d > math.MaxInt32/p {
			return fmt.Errorf("shape %v", s.Shape)
		}
		p *= d
	}
	if len(s.Shape) == 0 || len(s.Shape) > 3 {
		return fmt.Errorf("shape %v", s.Shape)
	}
	if s.Columns != nil {
		if err := s.checkExpand(); err != nil {
			return err
		}
		inputs := len(s.InputNames())
		if s.Intercept {
			inputs++
		}
		if len(s.Shape) != 1 || p != inputs || !slices.Contains(s.Columns, s.Target) || slices.Contains(s.LeftOut, s.Target) {
			return fmt.Errorf("inputs of shape %v from the columns %s with target %q, without %s", s.Shape, cells.QuoteSome(s.Columns), s.Target, cells.QuoteSome(slices.Concat(s.Dropped, s.LeftOut)))
		}
		p = len(s.InputNames())
	} else if s.Intercept {
		return errors.New("an intercept without columns")
	} else if s.Expand != nil {
		return errors.New("expansions without columns")
	}
	switch {
	case s.Names != nil && len(s.Names) != s.Classes:
		return fmt.Errorf("%d names of %d classes", len(s.Names), s.Classes)
	case s.Classes < 0 || s.Outputs < 0:
		return fmt.Errorf("%d classes, %d outputs", s.Classes, s.Outputs)
	case s.Inputs != nil && (!s.Inputs.of(p) || s.Inputs.Log):
		return fmt.Errorf("inputs: want %d finite means and standard deviations from 0, and no logarithms", p)
	case s.Channels != nil && (len(s.Shape) != 3 || s.Inputs != nil || !s.Channels.of(s.Shape[0]) || s.Channels.Log || s.Channels.To != 1):
		return fmt.Errorf("channels of examples of shape %v: want a finite mean and a standard deviation from 0 for each, and inputs that are not standardised", s.Shape)
	case s.Targets != nil && (!s.Targets.of(s.Outputs) || s.Targets.Constant() != nil):
		return fmt.Errorf("targets: want %d finite means and standard deviations above 0", s.Outputs)
	}
	return s.checkRanges()
}

// checkExpand returns the first inconsistency of the expansions.
func (s *Schema) checkExpand() error {
	features, at := s.Features(), 0
	for i := range s.Expand {
		k := slices.Index(features[at:], s.Expand[i].Column)
		if k < 0 {
			return fmt.Errorf("an expansion of column %q: want the columns that are inputs, each once and in order: %s", s.Expand[i].Column, cells.QuoteSome(features))
		}
		at += k + 1
		if err := s.Expand[i].check(); err != nil {
			return err
		}
	}
	if s.Other != "" && s.Other != tables.OtherZeros {
		return fmt.Errorf("other %q: want %s", s.Other, tables.OtherZeros)
	}
	for _, c := range s.Empty {
		if !slices.Contains(s.Dropped, c) {
			return fmt.Errorf("column %q has no values, and is not dropped", c)
		}
	}
	for c := range s.Constants {
		if !slices.Contains(s.Dropped, c) {
			return fmt.Errorf("column %q is constant, and is not dropped", c)
		}
	}
	for _, c := range slices.Concat(s.Counted, s.Differ, s.Dates) {
		if !slices.Contains(s.LeftOut, c) {
			return fmt.Errorf("column %q counts the rows, has words that all differ or is an index of dates, and is not left out", c)
		}
	}
	for i := range s.Written {
		w := &s.Written[i]
		if !slices.Contains(s.Columns, w.Column) {
			return fmt.Errorf("how numbers of column %q are written, which is none of the run's", w.Column)
		}
		if err := w.Check(); err != nil {
			return fmt.Errorf("column %q: %w", w.Column, err)
		}
	}
	if s.MissingTarget != "" && s.MissingTarget != tables.MissingSkip {
		return fmt.Errorf("missing_target %q: want %s", s.MissingTarget, tables.MissingSkip)
	}
	return nil
}

// Features returns the columns that are inputs, in order; nil for arrays.
func (s *Schema) Features() []string {
	var names []string
	for _, c := range s.Columns {
		if s.input(c) {
			names = append(names, c)
		}
	}
	return names
}

// input reports whether a column is an input.
func (s *Schema) input(column string) bool {
	return column != s.Target && !slices.Contains(s.Dropped, column) && !slices.Contains(s.LeftOut, column)
}

// Standardise returns a known set with standardised inputs.
func (s *Schema) Standardise(set *Set) (*Set, error) {
	switch {
	case s.Channels != nil && set.Features() != size(s.Shape):
		return nil, fmt.Errorf("data set %q has %d features, the standardisation was made for %d", set.Name, set.Features(), size(s.Shape))
	case s.Channels != nil:
		return s.Channels.channelled(set)
	case s.Inputs != nil:
		return s.Inputs.Apply(set)
	}
	return set, nil
}

// append adds the inputs of an example to a set: row has its features in the units of their file, of columns of words the number of a
// category, NaN where a value that may be missing is. expand is expansions(). buffer is used up. append returns the index of the
// first feature that is beyond float32, −1 if there is none.
func (s *Schema) append(set *Set, row []float64, expand []*Expansion, buffer *[]float64) int {
	if s.Intercept {
		set.F32 = append(set.F32, 1)
	}
	x := row
	if expand != nil {
		x = (*buffer)[:0]
		for k, v := range row {
			if e := expand[k]; e != nil {
				x = e.append(x, v)
			} else {
				x = append(x, v)
			}
		}
		*buffer = x
	}
	if s.Inputs != nil {
		s.Inputs.row(x)
	}
	for k, v := range x {
		if !(math.Abs(v) <= math.MaxFloat32) {
			return feature(expand, k)
		}
		set.F32 = append(set.F32, float32(v))
	}
	return -1
}

// feature is the feature of which input k is made.
func feature(expand []*Expansion, k int) int {
	for f, e := range expand {
		n := 1
		if e != nil {
			n = e.width()
		}
		if k < n {
			return f
		}
		k -= n
	}
	return k
}

// expansion returns the expansion of a column; nil: it is one number.
func (s *Schema) expansion(column string) *Expansion {
	for i := range s.Expand {
		if s.Expand[i].Column == column {
			return &s.Expand[i]
		}
	}
	return nil
}

// expansions returns those of all features, nil where there is none; nil if there is none at all.
func (s *Schema) expansions() []*Expansion {
	if s.Expand == nil {
		return nil
	}
	features := s.Features()
	all := make([]*Expansion, len(features))
	for k, c := range features {
		all[k] = s.expansion(c)
	}
	return all
}

// InputNames returns the names of the inputs that a table's columns become, without an intercept; nil for arrays.
func (s *Schema) InputNames() (names []string) {
	for _, c := range s.Features() {
		e := s.expansion(c)
		if e == nil {
			e = &Expansion{Column: c}
		}
		names = e.names(names)
	}
	return names
}

// Cells returns the cells of a table's inputs in the order of Features, of an example's inputs without an intercept and in the units
// of the file: numbers as number writes those of an input, words, or nothing where a value is missing.
func (s *Schema) Cells(x []float64, number func(input int) string) (texts []string) {
	at := 0
	for _, c := range s.Features() {
		e := s.expansion(c)
		if e == nil {
			e = &Expansion{Column: c}
		}
		first := at
		at += e.width()
		texts = append(texts, e.text(x[first:at], func(k int) string { return number(first + k) }))
	}
	return texts
}
