package tables

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/config"
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
	// Calibrate is likewise the file of the calibration part: examples that no network learns from, for decisions about its predictions.
	// Empty: there is none, unless split draws one.
	Calibrate string `yaml:"calibrate,omitempty"`
	// Target is the column to predict: its name, or without a header its number from 1. It may hold words, which are the names of classes.
	// A config needs it (in Go: readers take none where it is empty, and keep names only if a cell is not a number).
	Target string `yaml:"target"`
	// Delimiter is one ASCII character, or "whitespace" for runs of blanks. Empty: the first of tab, semicolon, comma
	// and whitespace that cuts the first records into the same number of cells, at least two.
	Delimiter string `yaml:"delimiter,omitempty"`
	// Header says whether the first record names the columns. Without it (nil), it does if no cell of it is a number. Numbers
	// among words may be names, too: years, or whole numbers in equal steps, if the rows below are unlike them.
	Header *bool `yaml:"header,omitempty"`
	// Drop are columns that are left out, by name, or without a header by number from 1: their cells are not looked at.
	Drop []string `yaml:"drop,omitempty"`
	// Keep are columns, named likewise, that are inputs although they count the rows: 0, 1, 2, …; or 1, 2, …; or words of which no
	// two are the same; or whole numbers of which no two are the same, in the index that pandas writes (without a name, Unnamed: 0 or
	// __index_level_0__); or an index of dates; or whole numbers from 2⁵³ on, which are not exact. Such columns are otherwise left out of
	// the examples.
	Keep []string `yaml:"keep,omitempty"`
	// Group is a column, named likewise, whose rows of the same text stay in one part: all parts are drawn from whole groups, such as the rows of
	// one patient or country. They have about their shares of the rows, and of every class. The column
	// is no input.
	Group string `yaml:"group,omitempty"`
	// Other says what a word is that no training row has in its column: error, or zeros, no category at all. Empty: error.
	Other string `yaml:"other,omitempty"`
	// Missing says what a missing value of an input is: refuse, an error, or indicator. With it, a number is the mean of the
	// training rows and a word is no category, and an input beside them is 1 where the value is missing and else 0. Empty: refuse. A
	// missing value is an empty cell, nan, NA, N/A, #N/A, null, ? or -.
	Missing string `yaml:"missing,omitempty"`
	// MissingTarget says what a row without a target is: refuse, an error, or skip, which leaves it out and counts it. Empty: refuse.
	MissingTarget string `yaml:"missing_target,omitempty"`
	// Categories are columns of codes, named likewise: each number in them is a category, as a word is. Numbers and words may be mixed.
	Categories []string `yaml:"categories,omitempty"`
	// Decimal is the decimal mark: . or ,. Empty: it is found from the cells of each column, and numbers with two readings are refused. A
	// column whose numbers cannot be so is read as plain numbers.
	Decimal string `yaml:"decimal,omitempty"`
	// Thousands is the mark between thousands: , . ' or " ", which stands for blanks of all kinds. Empty: it is found, like the decimal mark.
	Thousands string `yaml:"thousands,omitempty"`
	// Units says what a text around the numbers of a column is, such as $, % or cm: strip, no part of them, and numbers in parentheses are
	// negative. Empty: the same, where there are three different numbers or more, and numbers without parentheses.
	Units string `yaml:"units,omitempty"`

	// Words says that a column without numbers may hold words: its values are indices in Table.Names. Settings say so.
	Words bool `yaml:"-"`

	run Run    // whose columns the table must have; nil: none
	key string // a column whose texts are kept; empty: none

	dates    []string // an index of dates, which is left out
	labelled bool     // the first record names the columns, although there are numbers in it
}

// Run is what a reader asks of a run, whose columns the table must have.
type Run interface {
	// Find finds the columns of a table, and those to leave out, which the run's table had not.
	Find(t *Table) (Roles, error)
	// Names reports whether a text names one of the run's columns.
	Names(text []byte) bool
	// Uses reports whether the cells of a column are looked at.
	Uses(column string) bool
	// Dropped reports whether a column was left out because it had one value in all training rows.
	Dropped(column string) bool
	// Unknown is the error for a word that is none of a column's categories.
	Unknown(text string, categories []string) error
}

// Roles say what the columns of a table, by their places, are in a run.
type Roles struct {
	Features []int // in the order of the run
	Target   int   // −1: there is none
	Left     []int // left out: the run leaves them out, or found them constant, or its table had not got them
	Extra    []int // those among them that the run's table had not got

	ByPlace    bool             // the run's table had names of columns, and this one has none
	Constants  map[int]string   // the values of those that were constant, if the run knows them
	Categories map[int][]string // of the features that hold words
	Codes      map[int]bool     // of these, those in which numbers are categories, too
	Zeros      bool             // a word that is none of them is no category; else it is an error

	Classes []string                // the names of the target's classes
	Written map[int]*cells.Notation // how the numbers of features and target are written, where they are not plain
}

// ForRun says how to read a table for a run. The texts of a key column are kept; empty: none are.
func ForRun(o CSV, run Run, key string) CSV {
	o.run, o.key = run, key
	return o
}

// keyed is the column whose texts are kept; empty: none.
func (o CSV) keyed() string { return cmp.Or(o.key, o.Group) }

// The values of CSV.Other, CSV.Missing, CSV.MissingTarget and CSV.Units that are not the default.
const (
	OtherZeros       = "zeros"
	MissingIndicator = "indicator"
	MissingSkip      = "skip"
	UnitsStrip       = "strip"
)

// Given are the settings beside the file that are not left out, by their keys.
func (o CSV) Given() (keys []string) {
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if key != "" && key != "-" && key != "file" && !v.Field(i).IsZero() {
			keys = append(keys, key)
		}
	}
	return keys
}

// learns reports whether a table is read twice where that is needed: words and numbers that are not plain must be known before the first
// block.
func (o CSV) learns() bool { return o.Target != "" || o.Words || o.told() != (cells.Told{}) }

// told are the settings about numbers.
func (o CSV) told() cells.Told {
	return cells.Told{Decimal: o.Decimal, Thousands: o.Thousands, Strip: o.Units == UnitsStrip}
}

// Check checks the settings of a table to learn from. A reader alone needs no target.
func (o CSV) Check(f *config.Faults) {
	f.If(o.File == "", "", "needs a file")
	f.If(o.Target == "", "", "needs a target, the column to predict")
	if o.Delimiter != "" {
		if err := CheckDelimiter(o.Delimiter); err != nil {
			f.Add("delimiter", "%v", err)
		}
	}
	if k := slices.Index(o.Drop, o.Target); k >= 0 && o.Target != "" {
		f.Add(fmt.Sprintf("drop.%d", k), "%s is the target: name columns that are neither target nor inputs", o.Target)
	}
	for k, name := range o.Keep {
		f.If(name == o.Target && name != "", fmt.Sprintf("keep.%d", k), "%s is the target: name columns that are inputs", name)
		f.If(slices.Contains(o.Drop, name), fmt.Sprintf("keep.%d", k), "%s is to be dropped, too: name it in one of keep and drop", name)
	}
	f.If(o.Group == o.Target && o.Group != "", "group", "%s is the target: name a column of what belongs together", o.Group)
	if k := slices.Index(o.Keep, o.Group); k >= 0 && o.Group != "" {
		f.Add(fmt.Sprintf("keep.%d", k), "%s says which rows belong together, and is no input: leave it out", o.Group)
	}
	for k, name := range o.Categories {
		f.If(name == o.Target && name != "", fmt.Sprintf("categories.%d", k), "%s is the target: name columns that are inputs", name)
		f.If(slices.Contains(o.Drop, name), fmt.Sprintf("categories.%d", k), "%s is to be dropped, too: name it in one of categories and drop", name)
		f.If(name == o.Group && name != "", fmt.Sprintf("categories.%d", k), "%s says which rows belong together, and is no input: leave it out", name)
	}
	o.checkNumbers(f)
	if o.MissingTarget != "" {
		f.OneOf("missing_target", o.MissingTarget, "refuse", MissingSkip)
	}
	if o.Other != "" {
		f.OneOf("other", o.Other, "error", OtherZeros)
	}
	if o.Missing != "" {
		f.OneOf("missing", o.Missing, "refuse", MissingIndicator)
	}
}

// checkNumbers checks the settings about numbers.
func (o CSV) checkNumbers(f *config.Faults) {
	if o.Decimal != "" {
		f.OneOf("decimal", o.Decimal, cells.DecimalMarks...)
	}
	if o.Thousands != "" {
		f.OneOf("thousands", o.Thousands, cells.ThousandsMarks...)
	}
	if o.Units != "" {
		f.OneOf("units", o.Units, UnitsStrip)
	}
	if o.Decimal != "" && o.Decimal == o.Thousands {
		f.Conflict([]string{"decimal", "thousands"}, "decimal and thousands are both %s: want two different marks", o.Decimal)
	}
}

// CheckDelimiter returns an error unless d is "whitespace" or one ASCII character that numbers and quotes do not use.
func CheckDelimiter(d string) error {
	if d == "whitespace" {
		return nil
	}
	if len(d) != 1 || d[0] >= utf8.RuneSelf || cells.IsNumberByte(d[0]) || strings.ContainsAny(d, "\"\r\n") {
		return fmt.Errorf("delimiter %q: want one ASCII character that numbers do not use, or whitespace", d)
	}
	return nil
}

// named reports whether the first record of a table names its columns. One that names a column of the run does, also if another name
// is a number, as of a year: taken for a row, it would put each column in the place of another one. See labels for other years.
func (o CSV) named(first []cells.Cell) bool {
	switch {
	case o.Header != nil:
		return *o.Header
	case o.run != nil && slices.ContainsFunc(first, func(c cells.Cell) bool { return o.run.Names(c.Text) }):
		return true
	}
	return o.labelled || looksLikeHeader(first)
}

// uncut reports whether the first record of a text, as a whole, names a column of the run. A file of that column alone is not to be cut
// at blanks within the name.
func (o CSV) uncut(head []byte) bool {
	if o.run == nil {
		return false
	}
	first, ok, err := cells.NewReader(bytes.NewReader(head), ",", cells.GuessBytes, cells.Window).Record()
	return ok && err == nil && len(first) == 1 && o.run.Names(first[0].Text)
}

func looksLikeHeader(rec []cells.Cell) bool {
	words := false
	for _, c := range rec {
		if len(c.Text) == 0 {
			continue
		}
		if _, err := cells.Number(c.Text); err == nil {
			return false
		}
		words = true
	}
	return words
}
