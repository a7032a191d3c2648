package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/internal/tables"
)

// Set makes a set of some rows of a table, nil for all, with or without targets. Columns of a table with a header are found
// by the names of the training table. Columns that were dropped or left out may be missing, and so may the target if no
// targets are wanted; columns that the run's table had not are left out. Without a header, the table must have as many columns as
// the run has features, or as the training table has, with or without the target and the columns that were left out. For a run on
// arrays, it must have as many columns as the arrays have features. Columns of words become the inputs of their Expansion. Errors name
// file, line and column.
func (s *Schema) Set(name string, t *Table, rows []int32, targets bool) (*Set, error) {
	set, _, err := s.set(name, t, rows, targets, false)
	return set, err
}

// ToPredict is Set of all rows of a table to predict, without targets. A missing value is filled as those of the run's own held-out rows are,
// and where none of these lacks one, with the mean of the training rows, or with no category. filled has for each row the number of its
// inputs that were filled; nil: none was. A run whose inputs are not standardised keeps no means: a number that is missing is then an error.
func (s *Schema) ToPredict(name string, t *Table) (set *Set, filled []int, err error) {
	return s.set(name, t, nil, false, true)
}

// Complete returns an error that names the line and the column if an input of a table is missing.
func (s *Schema) Complete(t *Table) error {
	r, err := s.find(t)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return t.Finite(r.Features, nil)
}

func (s *Schema) set(name string, t *Table, rows []int32, targets, fill bool) (_ *Set, filled []int, err error) {
	r, err := s.find(t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	columns, target, expand := r.Features, r.Target, s.expansions()
	used := columns
	if targets {
		if s.Columns == nil {
			return nil, nil, fmt.Errorf("%s: the run was trained on arrays: name arrays and their labels", t.Name)
		}
		if target < 0 {
			return nil, nil, fmt.Errorf("%s: lacks the target, column %q of the run", t.Name, s.Target)
		}
		used = append(slices.Clone(columns), target)
		if err := t.CompleteTarget(target, s.Classes > 0, s.Names); err != nil {
			return nil, nil, err
		}
	}
	for k, j := range used {
		if isWords := j != target && expand != nil && expand[k] != nil && expand[k].Categories != nil; t.Words(j) != nil && !isWords && !(j == target && s.Classes > 0) {
			return nil, nil, &NamesError{File: t.Name, Column: t.Title(j), Example: append(t.Words(j), "")[0]}
		}
	}
	means := s.means(columns, expand, fill)
	lacks := func(j int) bool {
		k := slices.Index(columns, j)
		return k >= 0 && (means != nil && means[k] == means[k] || expand != nil && expand[k] != nil && (expand[k].Missing || fill))
	}
	if err := t.Finite(used, lacks); err != nil {
		var missing *tables.MissingError
		if errors.As(err, &missing) && !missing.Infinite && missing.Column != target {
			why := ", since no row of the run's table lacks a value there"
			if fill {
				why += " and the run keeps no mean of it (data.standardise)"
			}
			err = fmt.Errorf("%w%s", err, why)
		}
		return nil, nil, err
	}
	set := &Set{Name: name, Shape: s.Shape, Source: t.Name, Rows: rows}
	if rows == nil {
		rows = t.All()
	}
	numberings, err := s.numberings(t, rows, columns, expand)
	if err != nil {
		return nil, nil, err
	}
	set.F32 = make([]float32, 0, len(rows)*s.Shape[0])
	x, buffer := make([]float64, len(columns)), []float64(nil)
	for row, i := range rows {
		for k, j := range columns {
			v := t.Values[int(i)*t.Cols+j]
			if v != v && fill {
				if filled == nil {
					filled = make([]int, len(rows))
				}
				if filled[row]++; means[k] == means[k] {
					v = means[k]
				}
			}
			if numbers := numberings[k]; numbers != nil && v == v {
				n := numbers[int(v)]
				if n == len(expand[k].Categories) && s.Other != tables.OtherZeros {
					return nil, nil, fmt.Errorf("%s: %s, %s: %w", t.Name, t.Where(int(i)), t.Title(j), s.unknown(t.Words(j)[int(v)], expand[k].Categories))
				}
				v = float64(n)
			}
			x[k] = v
		}
		if k := s.append(set, x, expand, &buffer); k >= 0 {
			return nil, nil, t.TooLarge(int(i), columns[k])
		}
	}
	switch {
	case !targets:
		return set, filled, nil
	case s.Classes > 0:
		set.Classes, set.Names = s.Classes, s.Names
		set.Labels, err = s.labels(t, rows, target)
		return set, nil, err
	}
	if s.Targets != nil && s.Targets.Log {
		if err := positive(t, rows, target); err != nil {
			return nil, nil, err
		}
	}
	set.Outputs, set.Values = 1, make([]float32, 0, len(rows))
	y := make([]float64, 1)
	for _, i := range rows {
		y[0] = t.Values[int(i)*t.Cols+target]
		if s.Targets != nil {
			s.Targets.row(y)
		}
		if !(math.Abs(y[0]) <= math.MaxFloat32) {
			return nil, nil, t.TooLarge(int(i), target)
		}
		set.Values = append(set.Values, float32(y[0]))
	}
	return set, nil, nil
}

// means are, with fill, what missing values of features become that are one number each, as no row of the run's table lacked them: the means of
// the training rows. Those of other features are NaN: their Expansion says what becomes of them.
func (s *Schema) means(columns []int, expand []*Expansion, fill bool) []float64 {
	if !fill {
		return nil
	}
	means, input := make([]float64, len(columns)), 0
	for k := range columns {
		means[k] = math.NaN()
		switch {
		case expand != nil && expand[k] != nil:
			input += expand[k].width()
			continue
		case s.Inputs != nil:
			means[k] = s.Inputs.Mean[input]
		}
		input++
	}
	return means
}

// find finds the columns of a table, and those to leave out, which the run's table had not.
func (s *Schema) find(t *Table) (tables.Roles, error) {
	if t.Header == nil || !s.Named {
		return s.places(t.Cols)
	}
	r, at, known := tables.Roles{Target: -1}, map[string]int{}, map[string]bool{}
	for _, name := range s.Columns {
		known[name] = true
	}
	var extra, missing []string
	for j, name := range t.Header {
		if !known[name] {
			if own := s.own(name); own != "" {
				name = own
			}
		}
		if slices.Contains(s.LeftOut, name) || slices.Contains(s.Dropped, name) {
			s.leave(&r, j, name)
			continue
		}
		if !known[name] {
			extra, r.Extra, r.Left = append(extra, name), append(r.Extra, j), append(r.Left, j)
			continue
		}
		if k, twice := at[name]; twice {
			return r, fmt.Errorf("columns %d and %d are both named %q: rename one of them", k+1, j+1, cells.Clip(name))
		}
		at[name] = j
	}
	for _, name := range s.Features() {
		j, ok := at[name]
		if !ok {
			missing = append(missing, name)
		}
		r.Features = append(r.Features, j)
	}
	switch {
	case extra != nil && missing != nil:
		return r, fmt.Errorf("lacks %s of the run's columns, and has %s instead", cells.QuoteSome(missing), cells.QuoteSome(extra))
	case missing != nil:
		return r, fmt.Errorf("lacks %s of the run's columns", cells.QuoteSome(missing))
	}
	if j, ok := at[s.Target]; ok {
		r.Target = j
	}
	return r, nil
}

// places is find for rows of n numbers without names. n decides which columns of the training table are missing: none, the
// target, the columns that are left out, both, all except the inputs, or all except the inputs and the target. Where that may be
// more than one of them, it is an error: an input would be read from the place of another column.
func (s *Schema) places(n int) (tables.Roles, error) {
	r := tables.Roles{Target: -1}
	if s.Columns == nil {
		if len(s.Shape) != 1 || n != s.Shape[0] {
			return r, fmt.Errorf("rows of %d values, the run was trained on examples of shape %v", n, s.Shape)
		}
		for j := range n {
			r.Features = append(r.Features, j)
		}
		return r, nil
	}
	left := func(c string) bool { return slices.Contains(s.LeftOut, c) }
	var there []string
	for _, lacks := range []func(c string) bool{
		func(c string) bool { return !s.input(c) },
		func(string) bool { return false },
		func(c string) bool { return c == s.Target },
		left,
		func(c string) bool { return c == s.Target || left(c) },
		func(c string) bool { return !s.input(c) && c != s.Target },
	} {
		form := slices.DeleteFunc(slices.Clone(s.Columns), lacks)
		switch {
		case len(form) != n:
		case there == nil:
			there = form
		case !slices.Equal(there, form):
			return r, fmt.Errorf("rows of %d values may lack %s, or %s: write all %d columns of the run's table, or its %s alone",
				n, s.lackedBy(there, form), s.lackedBy(form, there), len(s.Columns), numeral.Several(len(s.Features()), "input"))
		}
	}
	if there == nil {
		return r, fmt.Errorf("rows of %d values, the run was trained on rows of %s", n, s.counts())
	}
	for j, c := range there {
		switch {
		case c == s.Target:
			r.Target = j
		case s.input(c):
			r.Features = append(r.Features, j)
		default:
			s.leave(&r, j, c)
		}
	}
	return r, nil
}

// leave leaves out column j, which is that of a name in the run's table.
func (s *Schema) leave(r *tables.Roles, j int, name string) {
	r.Left = append(r.Left, j)
	if value, ok := s.Constants[name]; ok {
		if r.Constants == nil {
			r.Constants = map[int]string{}
		}
		r.Constants[j] = value
	}
}

// lackedBy names a column that the rows of one form lack and those of another have.
func (s *Schema) lackedBy(form, other []string) string {
	switch c := other[slices.IndexFunc(other, func(c string) bool { return !slices.Contains(form, c) })]; {
	case c == s.Target:
		return "the target, column " + c
	case slices.Contains(s.Dropped, c):
		return "column " + c + ", which was constant"
	default:
		return "column " + c + ", which the run leaves out"
	}
}

// counts says how many values a row may have.
func (s *Schema) counts() string {
	inputs := fmt.Sprintf("%d inputs", len(s.Features()))
	if s.Dropped != nil {
		inputs += fmt.Sprintf(" (%d with the constant columns)", len(s.Columns)-len(s.LeftOut)-1)
	}
	whole := fmt.Sprintf("%s, or %d columns with the target", inputs, len(s.Columns))
	if s.LeftOut != nil {
		whole += " and those that are left out"
	}
	return whole
}

// labels numbers the targets of rows by the schema's classes.
func (s *Schema) labels(t *Table, rows []int32, target int) ([]int32, error) {
	number := map[string]int32{}
	for k, name := range s.Names {
		number[name] = int32(k)
	}
	labels := make([]int32, len(rows))
	for n, i := range rows {
		v := t.Values[int(i)*t.Cols+target]
		name, ok := "", false
		switch {
		case t.Words(target) != nil:
			name = t.Words(target)[int(v)]
			if labels[n], ok = number[name]; !ok && slices.IsSorted(s.Names) { // true as True, as words of inputs are
				k := tables.Category(s.Names, name)
				labels[n], ok = int32(k), k < len(s.Names)
			}
		case s.Names != nil:
			name = strconv.FormatFloat(v, 'f', -1, 64)
			labels[n], ok = number[name]
		default:
			name = strconv.FormatFloat(v, 'g', -1, 64)
			if ok = v == math.Trunc(v) && v >= 0 && v < float64(s.Classes); ok {
				labels[n] = int32(v)
			}
		}
		if !ok {
			known := cells.QuoteSome(s.Names)
			if s.Names == nil {
				known = fmt.Sprintf("0 to %d", s.Classes-1)
			}
			return nil, fmt.Errorf("%s: %s, %s: %s is not a class of the run (%s)", t.Name, t.Where(int(i)), t.Title(target), cells.Quote([]byte(name)), known)
		}
	}
	return labels, nil
}

// unknown is the error for a word that is none of a column's categories.
func (s *Schema) unknown(text string, categories []string) error {
	mend := ": write"
	if hint := spelling.Suggest(text, categories); hint != "" {
		mend = hint + " Write"
	}
	return fmt.Errorf("%s is no category that the training rows have (%s)%s one of them, or train with data.csv.other: zeros, which takes a new word for no category",
		cells.Quote([]byte(text)), cells.QuoteSome(categories), mend)
}

// numberings returns, for each feature that is a column of words, the number of the category of each word of the table's column,
// len(Categories) for a word that is none. It is nil for other columns, and where the table's reader knew the categories. A table that has a
// number in such a column is an error.
func (s *Schema) numberings(t *Table, rows []int32, columns []int, expand []*Expansion) ([][]int, error) {
	numberings := make([][]int, len(columns))
	for k, e := range expand {
		if e == nil || e.Categories == nil {
			continue
		}
		words := t.Words(columns[k])
		if len(words) > 0 && len(words) == len(e.Categories) && &words[0] == &e.Categories[0] {
			continue
		}
		if words == nil {
			for _, i := range rows {
				if v := t.Values[int(i)*t.Cols+columns[k]]; v == v {
					return nil, fmt.Errorf("%s: %s, %s: %s is a number, where the run's table has words: %s", t.Name, t.Where(int(i)), t.Title(columns[k]),
						strconv.FormatFloat(v, 'g', -1, 64), cells.QuoteSome(e.Categories))
				}
			}
		}
		numberings[k] = make([]int, len(words))
		for n, w := range words {
			numberings[k][n] = tables.Category(e.Categories, w)
		}
	}
	return numberings, nil
}
