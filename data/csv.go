package data

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
)

// CSV says how a text table is read; the zero value guesses delimiter and header and expects numbers only. In Settings it
// names a table of examples: the column Target is the target, and every other column that is not left out is an input or, if it
// holds words, several (Expansion).
//
// A cell is a decimal number, nan, inf or empty (= NaN); anything else is an error with its line and column, both
// counted from 1, except in the column Target, in those that are dropped and, with Words, in columns without numbers. Cells may
// stand in double quotes, a quote within them doubled; blanks around a cell do not count. Lines end in LF, CR LF or CR. Blank
// lines are skipped, except within a table of one column, where they are empty cells. A byte-order mark is skipped.
type CSV struct {
	// File is the table: CSV, packed with gzip or not, or Parquet. A config needs it (in Go: readers that are given a path do not look at
	// it).
	File string `yaml:"file"`
	// Test is a file of the same columns whose rows are the test part. Empty: the part is held out of File.
	Test string `yaml:"test,omitempty"`
	// Validate is likewise the file of the validation part.
	Validate string `yaml:"validate,omitempty"`
	// Target is the column to predict: its name, or without a header its number from 1. It may hold words, which are the names of classes.
	// A config needs it (in Go: readers take none where it is empty, and keep names only if a cell is not a number).
	Target string `yaml:"target"`
	// Delimiter is one ASCII character, or "whitespace" for runs of blanks. Empty: the first of tab, semicolon, comma
	// and whitespace that cuts the first records into the same number of cells, at least two.
	Delimiter string `yaml:"delimiter,omitempty"`
	// Header says whether the first record names the columns. Without it (nil), it does if no cell of it is a number.
	Header *bool `yaml:"header,omitempty"`
	// Drop are columns that are left out, by name, or without a header by number from 1: their cells are not looked at.
	Drop []string `yaml:"drop,omitempty"`
	// Keep are columns, named likewise, that are inputs although they count the rows: 0, 1, 2, …; or 1, 2, …; or words of which no
	// two are the same; or whole numbers of which no two are the same, in the index that pandas writes (without a name, Unnamed: 0 or
	// __index_level_0__). Such columns are otherwise left out of the examples.
	Keep []string `yaml:"keep,omitempty"`
	// Other says what a word is that no training row has in its column: error, or zeros, no category at all. Empty: error.
	Other string `yaml:"other,omitempty"`
	// Missing says what a missing value of an input is: refuse, an error, or indicator. With it, a number is the mean of the
	// training rows and a word is no category, and an input beside them is 1 where the value is missing and else 0. Empty: refuse. A
	// missing value is an empty cell or nan, and in a column of words also NA, N/A, #N/A, null, ? or -.
	Missing string `yaml:"missing,omitempty"`

	// Words says that a column without numbers may hold words: its values are indices in Table.Names. Settings say so.
	Words bool `yaml:"-"`

	run    ofRun  // whose columns the table must have; nil: none
	inputs bool   // with run: the target is not read
	key    string // a column whose texts are kept; empty: none
}

// ofRun is what a reader asks of the schema of a run.
type ofRun interface {
	// find finds the columns of a table, and those to leave out, which the run's table had not. inputs: the target is none of them.
	find(t *Table, inputs bool) (roles, error)
	// names reports whether a text names one of the run's columns.
	names(text []byte) bool
	// named reports whether the columns of the run's table have names.
	named() bool
	// uses reports whether the cells of a column are looked at; inputs: the target is not.
	uses(column string, inputs bool) bool
	// known gives a dictionary the words of the features, at the given places of a table.
	known(d *dictionary, features []int)
	// dropped reports whether a column was left out because it had one value in all training rows.
	dropped(column string) bool
	// unknown is the error for a word that is none of a column's categories.
	unknown(text string, categories []string) error
}

// roles holds the indices of a table's columns: the features in the schema's order, the target, −1 if there is none, the columns that
// are left out, because the run leaves them out or found them constant, and those among them that the run's table had not.
type roles struct {
	features, left, extra []int
	target                int
	constants             map[int]*oneValue // of those that are left out, if the run knows their value
}

// The values of CSV.Other and CSV.Missing that are not the default.
const (
	otherZeros       = "zeros"
	missingIndicator = "indicator"
)

// Told reports whether anything is set that a reader would otherwise guess.
func (o CSV) Told() bool {
	return o.Delimiter != "" || o.Header != nil || o.Target != "" || len(o.Drop) > 0 || o.Words
}

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
	// Keys are the texts of the key column, one for each row, and Key is its name. Readers of files to predict alone set them.
	Key  string
	Keys []string

	profile *Profile // of all rows; nil: not asked for so far

	forRun *forRun // of a table that was read for a run; nil: it was not
	lines  []evenLines
	large  string // the text of the target's first number from 2⁵³, which is not all in Values
	counts []int  // columns that are left out because they count the rows
}

// words returns the words of column j; nil if it holds numbers.
func (t *Table) words(j int) []string {
	if t.Names == nil || j < 0 {
		return nil
	}
	return t.Names[j]
}

// evenLines are rows whose lines in the file have the same distance.
type evenLines struct{ row, line, step int }

// Rows is the number of rows, without the header.
func (t *Table) Rows() int { return len(t.Values) / t.Cols }

// Line is the line of the file on which row i starts, from 1.
func (t *Table) Line(i int) int {
	k, found := slices.BinarySearchFunc(t.lines, i, func(e evenLines, row int) int { return e.row - row })
	if !found {
		k--
	}
	return t.lines[k].of(i)
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

// column names column j in an error.
func (t *Table) column(j int) string {
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
		return -1, &ColumnError{Name: name, Cols: t.Cols, Header: t.Header}
	}
	if k := slices.Index(t.Header[j+1:], name); k >= 0 {
		return -1, fmt.Errorf("columns %d and %d are both named %q: rename one of them", j+1, j+k+2, name)
	}
	return j, nil
}

// name is the name of column j or, without a header, its number from 1.
func (t *Table) name(j int) string {
	if t.Header == nil {
		return strconv.Itoa(j + 1)
	}
	return t.Header[j]
}

// named returns the columns of a name or, without a header, of a number from 1.
func (t *Table) named(name string) (columns []int) {
	for j := range t.Cols {
		if t.name(j) == name {
			columns = append(columns, j)
		}
	}
	return columns
}

// leftOut reports whether column j is left out.
func (t *Table) leftOut(j int) bool { return t.LeftOut != nil && t.LeftOut[j] }

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

// CellError says that a cell which should be a number holds a text.
type CellError struct {
	Line   int    // of the file, from 1
	Name   string // of the column, or without a header its number from 1
	Column string // as an error shows it
	Text   string // of the cell, as an error shows it
	// Missing says that other programs write this text for a missing value.
	Missing bool
	Number  int  // the line of a number in a column that could hold words instead; 0: none
	Date    bool // the text is a date
}

func (e *CellError) Error() string {
	hint := ""
	switch {
	case e.Missing:
		hint = " (a missing value is an empty cell or nan)"
	case e.Date:
		hint = " but a date: write a number in its place, such as the days since the first one, the month or the weekday"
	case e.Number > 0:
		hint = fmt.Sprintf(", and line %d has one: a column holds either numbers or words", e.Number)
	}
	return fmt.Sprintf("line %d, %s: %s is not a number%s", e.Line, e.Column, e.Text, hint)
}

// ColumnError says that a table has no column of a name.
type ColumnError struct {
	Name   string
	Cols   int
	Header []string // of the table; nil if it has none
}

func (e *ColumnError) Error() string {
	if e.Header == nil {
		return fmt.Sprintf("no column %q: the table has no header, so columns are 1 to %d", e.Name, e.Cols)
	}
	return fmt.Sprintf("no column %q among %s", e.Name, quoteSome(e.Header))
}

// without returns the table without some columns, by name. A name that is not there is an error.
func (t *Table) without(names []string) (*Table, error) {
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

func allRows(t *Table) []int32 {
	all := make([]int32, t.Rows())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// NamesError says that a column which should hold numbers holds names.
type NamesError struct{ File, Column, Example string }

func (e *NamesError) Error() string {
	return fmt.Sprintf("%s: %s holds names such as %s, not numbers", e.File, e.Column, cells.Quote([]byte(e.Example)))
}
