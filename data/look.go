package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/tables"
)

// Look is what a table offers to a network that predicts one of its columns.
type Look struct {
	Rows   int
	Header bool // the first record names the columns, which cannot be told from it alone: a name in it is a number
	Inputs int  // of the network; a column of words has one for each category

	Classes int      // of the target; 0: the target is a number
	Names   []string // of the classes; nil if they are the numbers 0 … Classes−1
	Words   bool     // the target holds words
	Few     bool     // the target is a number of few values: 30 at most, with five rows of each on average
	Spread  *Spread  // of a target that is a number; nil for classes

	Missing  []string // columns in which values are missing
	OneHot   []string // columns of words
	Counted  []string // columns that count the rows, which are left out
	Constant []string // columns that are the same in all rows, which are left out
	Empty    []string // columns without a value in any row, which are left out
	Numbered []string // columns that may number the rows
	Unlike   []string // columns of words that are nearly all different
	Units    []string // columns of words that are numbers with a sign or a unit

	Numbers Numbers  // settings by which numbers are read as they were
	Written []string // how the numbers of columns are written that are not plain, with their names
	Differ  []string // columns of words that all differ, which are left out
	Mixed   []string // those of them that hold numbers with different texts around them, with what to do
	Inexact []string // columns of whole numbers that a float64 does not tell apart, which are left out
	Dates   []string // columns that are an index of dates, which are left out
	Codes   []string // columns of a few whole numbers, or of those with leading zeros, which may be codes
	Alike   []string // classes that differ only in letter case or blanks, and columns of such words
	Skipped int      // rows without a target, which are left out
}

// LookAt reads the table, and the files of other parts that o names, and says what its target is and how many inputs a network has. The target is a class if it holds words, two
// integers, or all of the integers 0 … C−1 with C at most 30 and five rows of each on average; else it is a number. A target that
// cannot be learnt is an error: missing values, the same value in all rows, words that are all different, more than 30 words without five
// rows of each on average, numbers among which some cells are words. A fault of the settings is a *FieldError.
func LookAt(o CSV) (*Look, error) {
	t, named, err := loadByName(o)
	if err != nil {
		return nil, err
	}
	t.LeaveOutCounters(o.Target, o.Keep)
	target, err := t.Column(o.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: target: %w", t.Name, err)
	}
	column := &t.Profile().Columns[target]
	classes := column.Of != nil || column.Classes()
	s, err := Columns{Target: o.Target, Classes: classes, SD: 1, Standardise: !classes, Missing: true, Zeros: true, Codes: o.Categories}.Schema(t, t.All())
	if err != nil {
		return nil, Settings{CSV: &o}.withMend(t, err)
	}
	for _, file := range []string{o.Test, o.Validate, o.Calibrate} {
		if err := s.admitFile(file, t, o); err != nil {
			return nil, err
		}
	}
	if classes {
		if err := learnableClasses(t, target, s); err != nil {
			return nil, err
		}
	}
	l := &Look{
		Rows: t.Rows(), Header: named, Inputs: s.Shape[0], Classes: s.Classes, Names: s.Names, Words: t.Words(target) != nil,
		Few:     !classes && column.Few(),
		Counted: s.Counted, Numbered: t.Numbered(o.Target, o.Keep), Constant: s.constants(), Empty: s.Empty, Unlike: s.unlike(t.Rows()), Units: s.withUnits(),
	}
	if !classes {
		l.Spread = spreadOf(valuesOf(t, target))
	}
	l.Numbers, l.Written, l.Differ, l.Inexact, l.Dates, l.Skipped = s.numbers(), s.ways(), s.Differ, s.inexact(true), s.Dates, t.Skipped
	for _, name := range s.Differ {
		if what := s.mixed(name); what != "" {
			l.Mixed = append(l.Mixed, s.titles([]string{name})[0]+what)
		}
	}
	l.Alike = append(alike(s.Names), s.alikeWords()...)
	for j, name := range s.Columns {
		if n := t.Profile().Columns[j].Amounts(); j != target && (n > 2 && n <= mostCodes && s.input(name) || slices.Contains(s.Padded, name)) {
			l.Codes = append(l.Codes, name)
		}
	}
	for _, e := range s.Expand {
		if e.Missing {
			l.Missing = append(l.Missing, e.Column)
		}
		if e.Categories != nil {
			l.OneHot = append(l.OneHot, e.Column)
		}
	}
	return l, nil
}

// admitFile looks at the file of another part, whose rows may lack values where no row of the table does, and have further classes. Empty:
// there is none.
func (s *Schema) admitFile(file string, t *Table, o CSV) error {
	if file == "" {
		return nil
	}
	s.Delimiter, s.Header = o.Delimiter, o.Header
	other, err := readExamples(file, s.CSV())
	if err == nil && o.MissingTarget == tables.MissingSkip {
		if r, lacks := s.find(other); lacks == nil && r.Target >= 0 {
			other.SkipWithoutTarget(r.Target, s.Names)
		}
	}
	if err == nil {
		err = s.admit(other)
	}
	if err != nil {
		return err
	}
	s.admitMissing(other, t.Profile())
	_, err = s.Set("", other, nil, true)
	return err
}

// mostCodes is the number of whole numbers up to which a column may hold codes.
const mostCodes = 12

// loadByName loads the table. If it seems to have no header but the first record has the target's name, that record is the header, and
// named is true: a name in it is a number.
func loadByName(o CSV) (t *Table, named bool, err error) {
	if t, err = load(&o); o.Header != nil || !noTarget(err) {
		return t, false, err
	}
	if _, number := strconv.Atoi(o.Target); number == nil {
		return nil, false, err
	}
	header := true
	o.Header = &header
	t, again := load(&o)
	if noTarget(again) {
		return nil, false, err
	}
	return t, true, again
}

// noTarget reports whether the target is a column that the table has not got.
func noTarget(err error) bool {
	var field *FieldError
	return errors.As(err, &field) && field.Field == "csv.target"
}

// learnableClasses refuses a target of words of which nothing can be learnt, or which looks like numbers with a slip among them. Words
// and integers together are classes, as in 0, 1, 2, more, but not if there are many integers or a number with a fraction.
func learnableClasses(t *Table, j int, s *Schema) error {
	numbers, fractions, word := 0, false, -1
	for k, name := range t.Words(j) {
		v, err := cells.Number([]byte(name))
		switch {
		case err == nil:
			numbers++
			fractions = fractions || v != math.Trunc(v)
		case word < 0:
			word = k
		}
	}
	switch {
	case word >= 0 && (fractions || numbers > tables.MostFew):
		i := slices.IndexFunc(t.All(), func(i int32) bool { return t.Values[int(i)*t.Cols+j] == float64(word) })
		return fmt.Errorf("%s: %s, %s: %s is not a number, and other rows of the target have numbers: write a number or remove the row",
			t.Name, t.Where(i), t.Title(j), cells.Quote([]byte(t.Words(j)[word])))
	case word >= 0 && tables.IsDate(t.Words(j)[word]):
		return fmt.Errorf("%s: %s: the target holds dates such as %s: write a number or a word in their place",
			t.Name, t.Title(j), cells.Quote([]byte(t.Words(j)[word])))
	case s.Classes == 1:
		return fmt.Errorf("%s: %s: the target has one class only, %s, in all %d rows: there is nothing to learn", t.Name, t.Title(j), s.Names[0], t.Rows())
	case t.Mixed(j) != "" && (s.Classes == t.Rows() || s.Classes > tables.MostFew):
		return fmt.Errorf("%s: %s: the target holds %s", t.Name, t.Title(j), t.Mixed(j))
	case s.Classes == t.Rows():
		return fmt.Errorf("%s: %s: no two rows have the same class: there is nothing to learn", t.Name, t.Title(j))
	case s.Classes > tables.MostFew && t.Rows() < tables.FewestOf*s.Classes:
		return fmt.Errorf("%s: %s: the target has %s different words in %s rows: want %d rows of each on average to learn them as classes: write fewer classes, or numbers",
			t.Name, t.Title(j), numeral.Count(s.Classes), numeral.Count(t.Rows()), tables.FewestOf)
	}
	return nil
}
