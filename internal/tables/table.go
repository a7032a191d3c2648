// Package tables reads tables of text, plain or packed, and of Parquet: numbers, and words in columns of words, with the line and the
// column of whatever is wrong. A Profile says what a table's columns hold.
//
// Readers never panic on any input, and allocate in proportion to the file that they are given.
package tables

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
)

// Table is a table of numbers, row-major.
type Table struct {
	Name      string // of the file, for errors
	Delimiter string // as given or guessed
	Header    []string
	Cols      int
	Values    []float64 // rows × Cols; NaN where a cell is missing or the column left out
	LeftOut   []bool    // for each column, whether it is left out; nil: none is

	// Names are, for each column that holds words in place of numbers, all its words in order: values are indices in them. They
	// are nil for a column of numbers; Names is nil if all columns are.
	Names [][]string
	// Keys are the texts of the key column, one for each row, and Key is its name. Readers of files to predict set them, and those of a table with
	// groups (CSV.Group).
	Key  string
	Keys []string

	Skipped int // rows that were left out because they have no target

	profile *Profile // of all rows; nil: not asked for so far

	typed  bool    // of a file that is no text: lines are rows
	forRun *forRun // of a table that was read for a run; nil: it was not
	lines  []evenLines

	// Written says how the numbers of columns are written that are not plain, by the places of the columns.
	Written map[int]*cells.Notation

	mixed   map[int]string // of columns of words that are numbers with different texts around them, what they are and what to do
	large   map[int]string // of columns, the text of the first whole number from 2⁵³, which is not all in Values
	padded  []int          // columns of whole numbers with leading zeros, all of one width
	counts  []int          // columns that are left out because they count the rows
	differ  []int          // those that are because they hold words that all differ
	inexact []int          // those that are because they hold whole numbers from 2⁵³ on
	dates   []int          // those that are because they are an index of dates
}

// Words returns the words of column j; nil if it holds numbers.
func (t *Table) Words(j int) []string {
	if t.Names == nil || j < 0 {
		return nil
	}
	return t.Names[j]
}

// evenLines are rows whose lines in the file have the same distance.
type evenLines struct{ row, line, step int }

// Rows is the number of rows, without the header.
func (t *Table) Rows() int { return len(t.Values) / t.Cols }

// Line is the line of the file on which row i starts, from 1; in a file that is no text it is the number of the row, from 1.
func (t *Table) Line(i int) int { return lineOf(t.lines, i) }

// Where names row i in an error by its line in the file, or in a file that is no text by its number from 1.
func (t *Table) Where(i int) string { return t.at(t.Line(i)) }

// at is Where of the row that starts on a line.
func (t *Table) at(line int) string { return cells.At(line, t.typed) }

// unit is what lines count.
func (t *Table) unit() string {
	if t.typed {
		return "row"
	}
	return "line"
}

// InText reports whether the file is a text, so that rows are on lines.
func (t *Table) InText() bool { return !t.typed }

// Lines is Line without the table, whose memory is free then.
func (t *Table) Lines() func(i int) int {
	lines := t.lines
	return func(i int) int { return lineOf(lines, i) }
}

func lineOf(lines []evenLines, i int) int {
	k, found := slices.BinarySearchFunc(lines, i, func(e evenLines, row int) int { return e.row - row })
	if !found {
		k--
	}
	return lines[k].of(i)
}

func (e evenLines) of(row int) int { return e.line + (row-e.row)*e.step }

// startsOn notes the line on which the next row starts.
func (t *Table) startsOn(line int) {
	row := t.Rows()
	if k := len(t.lines) - 1; k >= 0 {
		last := &t.lines[k]
		if row == last.row+1 {
			last.step = line - last.line
		}
		if last.of(row) == line {
			return
		}
	}
	t.lines = append(t.lines, evenLines{row, line, 1})
}

// Title names column j in an error.
func (t *Table) Title(j int) string {
	if t.Header != nil {
		return fmt.Sprintf("column %d (%s)", j+1, cells.Clip(t.Header[j]))
	}
	return fmt.Sprintf("column %d", j+1)
}

// Column finds a column by its name or, in a table without a header, by its number from 1; −1 with an error if there is
// none.
func (t *Table) Column(name string) (int, error) {
	if t.Header == nil {
		j, err := strconv.Atoi(name)
		if err != nil || j < 1 || j > t.Cols {
			return -1, &ColumnError{Name: name, Cols: t.Cols}
		}
		return j - 1, nil
	}
	j := slices.Index(t.Header, name)
	if j < 0 {
		name = Composed(name)
		if j = slices.IndexFunc(t.Header, func(h string) bool { return Composed(h) == name }); j < 0 {
			return -1, &ColumnError{Name: name, Cols: t.Cols, Header: t.Header}
		}
		name = t.Header[j]
	}
	if k := slices.Index(t.Header[j+1:], name); k >= 0 {
		return -1, fmt.Errorf("columns %d and %d are both named %q: rename one of them", j+1, j+k+2, name)
	}
	return j, nil
}

// ColumnName is the name of column j or, without a header, its number from 1.
func (t *Table) ColumnName(j int) string {
	if t.Header == nil {
		return strconv.Itoa(j + 1)
	}
	return t.Header[j]
}

// named returns the columns of a name or, without a header, of a number from 1.
func (t *Table) named(name string) (columns []int) {
	for j := range t.Cols {
		if own := t.ColumnName(j); own == name || Composed(own) == Composed(name) {
			columns = append(columns, j)
		}
	}
	return columns
}

// Left reports whether column j is left out.
func (t *Table) Left(j int) bool { return t.LeftOut != nil && t.LeftOut[j] }

// leaveOut marks columns.
func (t *Table) leaveOut(columns []int) {
	if columns == nil {
		return
	}
	if t.LeftOut == nil {
		t.LeftOut = make([]bool, t.Cols)
	}
	for _, j := range columns {
		t.LeftOut[j] = true
	}
}

// Without returns the table without some columns, by name. A name that is not there is an error.
func (t *Table) Without(names []string) (*Table, error) {
	for _, name := range names {
		j, err := t.Column(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		u := *t
		u.profile = nil
		u.Cols--
		u.Header = slices.Delete(slices.Clone(t.Header), j, j+1)
		u.Values = make([]float64, 0, t.Rows()*u.Cols)
		for i := range t.Rows() {
			row := t.Values[i*t.Cols : (i+1)*t.Cols]
			u.Values = append(append(u.Values, row[:j]...), row[j+1:]...)
		}
		t = &u
	}
	return t, nil
}

// All lists all rows.
func (t *Table) All() []int32 {
	all := make([]int32, t.Rows())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// CountsRows reports whether column j was left out because it counts the rows.
func (t *Table) CountsRows(j int) bool { return slices.Contains(t.counts, j) }

// Differs, Inexact and DateIndex report whether column j was left out because it holds words that all differ, or whole numbers that a float64
// does not tell apart, or because it is an index of dates.
func (t *Table) Differs(j int) bool   { return slices.Contains(t.differ, j) }
func (t *Table) Inexact(j int) bool   { return slices.Contains(t.inexact, j) }
func (t *Table) DateIndex(j int) bool { return slices.Contains(t.dates, j) }

// Mixed says what column j holds and what to do, if its words are numbers with different texts around them, as in kg and lb; else it is empty.
func (t *Table) Mixed(j int) string { return t.mixed[j] }

// Padded reports whether column j holds whole numbers with leading zeros, all of one width, which are lost in its values.
func (t *Table) Padded(j int) bool { return slices.Contains(t.padded, j) }

// Notation says how the numbers of column j are written; nil: they are plain.
func (t *Table) Notation(j int) *cells.Notation { return t.Written[j] }

// Large is the first whole number of column j from 2⁵³ on, as the file writes it: a float64 does not tell all of them apart. It is empty if
// there is none.
func (t *Table) Large(j int) string { return t.large[j] }

// sawLarge notes a large number of column j, if it is written as a whole number.
func (t *Table) sawLarge(j int, text []byte) {
	if t.large[j] != "" || bytes.ContainsAny(text, ".eEnN") {
		return
	}
	if t.large == nil {
		t.large = map[int]string{}
	}
	t.large[j] = cells.Clip(string(text))
}

// coded returns the places of columns of codes.
func (t *Table) coded(names []string) map[int]bool {
	columns := map[int]bool{}
	for _, name := range names {
		for _, j := range t.named(name) {
			columns[j] = true
		}
	}
	return columns
}

// Text is the value of a row in column j as text.
func (t *Table) Text(i, j int) string {
	v := t.Values[i*t.Cols+j]
	if words := t.Words(j); words != nil {
		return words[int(v)]
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
