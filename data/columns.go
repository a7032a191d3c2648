package data

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/tables"
)

// Columns says how the columns of a table become inputs and targets: every column but the target is an input, or several if it holds
// words or may be missing, unless it was left out or is constant over the training rows.
type Columns struct {
	// Target is the target's column: its name, or without a header its number from 1.
	Target string
	// Classes: the targets are names or integers, one for each class. If they are 0 … C−1, classes have no names; else
	// Set.Names holds the names or integers of the file, integers in ascending order. If Classes is false, targets are real
	// numbers.
	Classes bool
	// SD, if not 0, is the population standard deviation over the training rows to which every input is centred and scaled.
	SD float64
	// Standardise says that real targets are centred and scaled to standard deviation 1 over the training rows.
	Standardise bool
	// Log says that the logarithms of real targets, which are positive, are learnt, standardised or not.
	Log bool
	// Intercept says that an input of constant 1 stands before the others.
	Intercept bool
	// Missing says that a missing value of an input is no error, but the mean of the training rows, or no category, with an input
	// beside it that is 1 where it is missing (Expansion).
	Missing bool
	// Zeros says that a word which no training row has in its column is no category; without it, it is an error.
	Zeros bool
	// Codes are columns in which numbers are categories, by name, or without a header by number from 1.
	Codes []string
}

// codes reports whether column j is one of them.
func (c Columns) codes(t *Table, j int) bool {
	return slices.ContainsFunc(c.Codes, func(name string) bool { return tables.Composed(name) == tables.Composed(t.ColumnName(j)) })
}

// Schema measures the training rows of a table: which columns are constant, and means and deviations, in float64
// before values are rounded to float32. A missing or infinite value in any row is an error that names its line and column, unless
// Missing allows it. A column that has no value at all, as a comma at the end of each line makes one, is constant.
func (c Columns) Schema(t *Table, train []int32) (*Schema, error) {
	target, err := t.Column(c.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: target: %w", t.Name, err)
	}
	if t.Cols == 1 {
		return nil, fmt.Errorf("%s: the target is the only column, there are no inputs", t.Name)
	}
	all, seen := t.Profile(), t.ProfileOf(train)
	s := &Schema{Named: t.Header != nil, Intercept: c.Intercept, Columns: slices.Clone(t.Header)}
	first := map[string]int{} // the column of each name
	for j := range t.Cols {
		if !s.Named {
			s.Columns = append(s.Columns, strconv.Itoa(j+1))
			continue
		}
		k, twice := first[t.Header[j]]
		if twice && !t.Left(j) && !(all.Columns[j].Empty() && all.Columns[k].Empty()) {
			return nil, fmt.Errorf("%s: columns %d and %d are both named %q: rename one of them", t.Name, k+1, j+1, cells.Clip(t.Header[j]))
		}
		if !twice {
			first[t.Header[j]] = j
		}
	}
	s.Target = s.Columns[target]
	var there []int
	for j := range t.Cols {
		if !t.Left(j) {
			there = append(there, j)
		}
	}
	if err := t.Finite(there, func(j int) bool { return j != target && (c.Missing || all.Columns[j].Empty()) }); err != nil {
		return nil, err
	}
	if err := t.CompleteTarget(target, c.Classes, nil); err != nil {
		return nil, err
	}
	if t.Words(target) != nil && !c.Classes {
		return nil, &NamesError{File: t.Name, Column: t.Title(target), Example: t.Words(target)[0]}
	}
	if s.Outputs = 1; c.Classes {
		s.Outputs = 0
		if s.Names, s.Classes, err = t.Classes(target); err != nil {
			return nil, err
		}
	}
	var features []int
	for j := range t.Cols {
		switch {
		case j == target:
		case t.Left(j):
			s.leftOut(t, j)
		case seen.Columns[j].Constant():
			if s.Dropped = append(s.Dropped, s.Columns[j]); seen.Columns[j].Empty() {
				s.Empty = append(s.Empty, s.Columns[j])
				continue
			}
			if s.Constants == nil {
				s.Constants = map[string]string{}
			}
			s.Constants[s.Columns[j]] = t.Text(int(train[0]), j)
		default:
			features = append(features, j)
			if e := expansionOf(t, j, &seen.Columns[j]); e != nil {
				e.Codes = c.codes(t, j)
				s.Expand = append(s.Expand, *e)
			}
		}
	}
	if features == nil && len(train) == 1 {
		return nil, fmt.Errorf("%s: a single row to train: no column tells rows apart, so add rows", t.Name)
	}
	if features == nil {
		none := t.Name + ": every column but the target is constant over the training rows or left out: there are no inputs"
		if s.Differ != nil {
			return nil, &tables.ColumnFault{Before: none + " (" + cells.Clip(s.titles(s.Differ[:1])[0]) + s.mixed(s.Differ[0]) + " holds words that all differ: to keep it, ", After: ")", Setting: "keep", Column: s.Differ[0]}
		}
		if s.Counted != nil {
			return nil, &tables.ColumnFault{Before: none + " (" + cells.Clip(s.titles(s.Counted[:1])[0]) + " counts the rows: to keep it, ", After: ")", Setting: "keep", Column: s.Counted[0]}
		}
		return nil, errors.New(none)
	}
	s.written(t, target, features)
	if c.Zeros {
		s.Other = tables.OtherZeros
	}
	s.Shape = []int{len(s.InputNames())}
	if c.Intercept {
		s.Shape[0]++
	}
	if c.SD != 0 {
		if err := s.fitInputs(t, train, features, c.SD); err != nil {
			return nil, err
		}
	}
	s.measureTable(t, train, features)
	unscaled := func(j int, standardise string) error {
		return scaleFault(t.Name+": "+t.Title(j), seen.Columns[j].Largest(), standardise)
	}
	if c.SD == 0 {
		for _, j := range features {
			if t.Words(j) != nil {
				continue
			}
			if err := unscaled(j, "inputs"); err != nil {
				return nil, err
			}
		}
	}
	if c.Classes {
		return s, nil
	}
	values := func(i int, dst []float64) { dst[0] = t.Values[int(train[i])*t.Cols+target] }
	switch {
	case c.Log:
		if err := positive(t, train, target); err != nil {
			return nil, err
		}
		if !c.Standardise {
			s.takeLogs()
			return s, nil
		}
		return s, s.fitTargets(t.Name, len(train), true, values)
	case c.Standardise:
		return s, s.fitTargets(t.Name, len(train), false, values)
	}
	return s, unscaled(target, "both")
}

// leftOut notes that column j is left out, and why.
func (s *Schema) leftOut(t *Table, j int) {
	name := s.Columns[j]
	s.LeftOut = append(s.LeftOut, name)
	switch {
	case t.CountsRows(j):
		s.Counted = append(s.Counted, name)
	case t.Differs(j):
		s.Differ = append(s.Differ, name)
		if what := t.Mixed(j); what != "" {
			if s.Mixed == nil {
				s.Mixed = map[string]string{}
			}
			s.Mixed[name] = what
		}
	case t.Inexact(j):
		s.Inexact = append(s.Inexact, name)
	case t.DateIndex(j):
		s.Dates = append(s.Dates, name)
	}
}

// written notes how the numbers of features and target are written, which have leading zeros, and which columns that are not left out have whole numbers that a float64
// does not tell apart.
func (s *Schema) written(t *Table, target int, features []int) {
	for j := range t.Cols {
		if n := t.Notation(j); n != nil && (j == target || slices.Contains(features, j)) {
			s.Written = append(s.Written, Written{s.Columns[j], *n})
		}
		if t.Padded(j) && slices.Contains(features, j) {
			s.Padded = append(s.Padded, s.Columns[j])
		}
		if t.Large(j) != "" && !t.Left(j) && !(j == target && s.Classes > 0) {
			s.Inexact = append(s.Inexact, s.Columns[j])
		}
	}
}

// expansionOf is what column j becomes, of which the training rows are seen; nil: it is one number. It may lack values where a row does that
// does not train, too: it can be told from then on.
func expansionOf(t *Table, j int, seen *tables.Column) *Expansion {
	words := t.Words(j)
	e := &Expansion{Column: t.ColumnName(j), Missing: t.Profile().Columns[j].Lacks(), Indicator: seen.Lacks()}
	switch {
	case words == nil && !e.Missing:
		return nil
	case words == nil:
		e.Mean = seen.Mean()
	}
	for k, name := range words {
		if seen.Of[k] > 0 {
			e.Categories = append(e.Categories, name)
		}
	}
	return e
}

// fitInputs measures the training rows of a table, whose features are given, to standardise its inputs to standard deviation sd.
// Inputs of 0 and 1 that are made of words and missing values stay as they are.
func (s *Schema) fitInputs(t *Table, train []int32, features []int, sd float64) error {
	var numbers []int // features that are numbers
	var at []int      // their inputs
	for k, width, expand := 0, 0, s.expansions(); k < len(features); k++ {
		words, e := false, (*Expansion)(nil)
		if expand != nil {
			e = expand[k]
			words = e != nil && e.Categories != nil
		}
		if !words {
			numbers, at = append(numbers, features[k]), append(at, width)
		}
		if width++; e != nil {
			width += e.width() - 1
		}
	}
	standard := fitStandard(len(train), len(numbers), sd, func(i int, dst []float64) {
		for k, j := range numbers {
			if dst[k] = t.Values[int(train[i])*t.Cols+j]; dst[k] != dst[k] {
				dst[k] = s.expansion(s.Columns[j]).Mean
			}
		}
	})
	if k := standard.undefined(); k >= 0 {
		return fmt.Errorf("%s: %s: %s", t.Name, t.Title(numbers[k]), tooSmall)
	}
	n := len(s.InputNames())
	s.Inputs = &Standard{Mean: make([]float64, n), SD: slices.Repeat([]float64{sd}, n), To: sd}
	for k, i := range at {
		s.Inputs.Mean[i], s.Inputs.SD[i] = standard.Mean[k], standard.SD[k]
	}
	return nil
}

// Sets makes one set of each list of rows, as Schema and Schema.Set do. The first list is the training part.
func (c Columns) Sets(t *Table, parts ...[]int32) ([]*Set, *Schema, error) {
	s, err := c.Schema(t, parts[0])
	if err != nil {
		return nil, nil, err
	}
	sets := make([]*Set, len(parts))
	for k, rows := range parts {
		if sets[k], err = s.Set(t.Name, t, rows, true); err != nil {
			return nil, nil, err
		}
	}
	return sets, s, nil
}
