package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
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
	// Intercept says that an input of constant 1 stands before the others.
	Intercept bool
	// Missing says that a missing value of an input is no error, but the mean of the training rows, or no category, with an input
	// beside it that is 1 where it is missing (Expansion).
	Missing bool
	// Zeros says that a word which no training row has in its column is no category; without it, it is an error.
	Zeros bool
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
	empty, rows := make([]bool, t.Cols), allRows(t)
	for j := range empty {
		empty[j] = t.lacksAll(rows, j)
	}
	s := &Schema{Named: t.Header != nil, Intercept: c.Intercept, Columns: slices.Clone(t.Header)}
	first := map[string]int{} // the column of each name
	for j := range t.Cols {
		if !s.Named {
			s.Columns = append(s.Columns, strconv.Itoa(j+1))
			continue
		}
		k, twice := first[t.Header[j]]
		if twice && !t.leftOut(j) && !(empty[j] && empty[k]) {
			return nil, fmt.Errorf("%s: columns %d and %d are both named %q: rename one of them", t.Name, k+1, j+1, cells.Clip(t.Header[j]))
		}
		if !twice {
			first[t.Header[j]] = j
		}
	}
	s.Target = s.Columns[target]
	var all []int
	for j := range t.Cols {
		if !t.leftOut(j) {
			all = append(all, j)
		}
	}
	if err := t.finite(all, func(j int) bool { return j != target && (c.Missing || empty[j]) }); err != nil {
		return nil, err
	}
	if err := t.completeTarget(target, c.Classes, nil); err != nil {
		return nil, err
	}
	if t.words(target) != nil && !c.Classes {
		return nil, &NamesError{t.Name, t.column(target), t.words(target)[0]}
	}
	if s.Outputs = 1; c.Classes {
		s.Outputs = 0
		if s.Names, s.Classes, err = t.classes(target); err != nil {
			return nil, err
		}
	}
	var features []int
	for j := range t.Cols {
		switch {
		case j == target:
		case t.leftOut(j):
			if s.LeftOut = append(s.LeftOut, s.Columns[j]); slices.Contains(t.counts, j) {
				s.Counted = append(s.Counted, s.Columns[j])
			}
		case constant(t, train, j):
			if s.Dropped = append(s.Dropped, s.Columns[j]); t.lacksAll(train, j) {
				s.Empty = append(s.Empty, s.Columns[j])
				continue
			}
			if s.Constants == nil {
				s.Constants = map[string]string{}
			}
			s.Constants[s.Columns[j]] = t.text(int(train[0]), j)
		default:
			features = append(features, j)
			if e := c.expansion(t, train, j); e != nil {
				s.Expand = append(s.Expand, *e)
			}
		}
	}
	if features == nil && len(train) == 1 {
		return nil, fmt.Errorf("%s: a single row to train: no column tells rows apart, so add rows", t.Name)
	}
	if features == nil {
		none := t.Name + ": every column but the target is constant over the training rows or left out: there are no inputs"
		if s.Counted != nil {
			return nil, &ColumnFault{none + " (" + cells.Clip(s.titles(s.Counted[:1])[0]) + " counts the rows: to keep it, ", ")", "keep", s.Counted[0]}
		}
		return nil, errors.New(none)
	}
	if c.Zeros {
		s.Other = otherZeros
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
	unscaled := func(j int, standardise string) error {
		return scaleFault(t.Name+": "+t.column(j), t.largest(train, j), standardise)
	}
	if c.SD == 0 {
		for _, j := range features {
			if t.words(j) != nil {
				continue
			}
			if err := unscaled(j, "inputs"); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case c.Classes:
		return s, nil
	case c.Standardise:
		return s, s.fitTargets(t.Name, len(train), func(i int, dst []float64) { dst[0] = t.Values[int(train[i])*t.Cols+target] })
	}
	return s, unscaled(target, "both")
}

// expansion measures column j of a table on the training rows; nil: it is one number.
func (c Columns) expansion(t *Table, train []int32, j int) *Expansion {
	words := t.words(j)
	e := &Expansion{Column: t.name(j), Missing: t.lacks(j)} // also in a row that does not train: it can be told from then on
	if words == nil && !e.Missing {
		return nil
	}
	seen := make([]bool, len(words))
	for _, i := range train {
		v := t.Values[int(i)*t.Cols+j]
		switch {
		case v != v:
			e.Indicator = true
		case words != nil:
			seen[int(v)] = true
		}
	}
	for k, name := range words {
		if seen[k] {
			e.Categories = append(e.Categories, name)
		}
	}
	if words == nil {
		e.Mean = t.mean(train, j)
	}
	return e
}

// lacks reports whether a row lacks a value in column j.
func (t *Table) lacks(j int) bool {
	for k := j; k < len(t.Values); k += t.Cols {
		if t.Values[k] != t.Values[k] {
			return true
		}
	}
	return false
}

// mean is the mean of column j over those of some rows that have a value.
func (t *Table) mean(rows []int32, j int) float64 {
	sum, n := 0.0, 0
	for _, i := range rows {
		if v := t.Values[int(i)*t.Cols+j]; v == v {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
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
		return fmt.Errorf("%s: %s: %s", t.Name, t.column(numbers[k]), tooSmall)
	}
	n := len(s.InputNames())
	s.Inputs = &Standard{Mean: make([]float64, n), SD: slices.Repeat([]float64{sd}, n), To: sd}
	for k, i := range at {
		s.Inputs.Mean[i], s.Inputs.SD[i] = standard.Mean[k], standard.SD[k]
	}
	return nil
}

// constant reports whether column j has the same value, or none, in all of some rows.
func constant(t *Table, rows []int32, j int) bool {
	first := math.NaN()
	for n, i := range rows {
		if n == 0 {
			first = t.Values[int(i)*t.Cols+j]
		}
		if v := t.Values[int(i)*t.Cols+j]; v != first && !(v != v && first != first) {
			return false
		}
	}
	return true
}

// text is the value of a row in column j as text.
func (t *Table) text(i, j int) string {
	v := t.Values[i*t.Cols+j]
	if words := t.words(j); words != nil {
		return words[int(v)]
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// lacksAll reports whether column j has no value in some rows.
func (t *Table) lacksAll(rows []int32, j int) bool {
	return !slices.ContainsFunc(rows, func(i int32) bool { v := t.Values[int(i)*t.Cols+j]; return v == v })
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

// classes finds the classes among the targets: the sorted names if the column holds names, else the numbers.
func (t *Table) classes(j int) (names []string, classes int, err error) {
	if names := t.words(j); names != nil {
		return names, len(names), nil
	}
	var values []float64
	for i := range t.Rows() {
		v := t.Values[i*t.Cols+j]
		if v != math.Trunc(v) {
			return nil, 0, fmt.Errorf("%s: line %d, %s: %v is not a class: classes are names or integers (is this a regression?)", t.Name, t.Line(i), t.column(j), v)
		}
		if math.Abs(v) >= tellsApart {
			return nil, 0, fmt.Errorf("%s: line %d, %s: class %s: a float64 does not tell all integers from 2⁵³ apart: write such classes as names, with a letter before the number",
				t.Name, t.Line(i), t.column(j), cmp.Or(t.large, strconv.FormatFloat(v, 'f', -1, 64)))
		}
		if k, ok := slices.BinarySearch(values, v); !ok {
			if len(values) == maxNames {
				return nil, 0, fmt.Errorf("%s: %s has more than %d different values: these are not classes (is this a regression?)", t.Name, t.column(j), maxNames)
			}
			values = slices.Insert(values, k, v)
		}
	}
	if n := len(values); n > 0 && values[0] == 0 && values[n-1] == float64(n-1) {
		return nil, n, nil
	}
	for _, v := range values {
		names = append(names, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return names, len(values), nil
}
