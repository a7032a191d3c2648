package tables

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
)

// errNames says that the target column, read as numbers, turned out to hold names.
var errNames = errors.New("the target column holds names")

// extent says how much of a text becomes one table.
type extent struct {
	rows, values int // a table has no more, except that it may have one row of more values
	room         int // rows that there is room for at once
	whole        bool
}

// tableBuilder appends records to a table and emits it when it is full.
type tableBuilder struct {
	extent
	t       *Table
	cells   *cells.Reader
	wanted  int  // cells so far in columns that need a value in every row
	target  int  // −1: none
	key     int  // −1: none
	grouped bool // the key column says which rows belong together: none may lack a key
	emit    func(*Table) error
	done    bool // a table was emitted

	dictionary *dictionary
	words      []*words // of each column; nil: it holds numbers
	numbers    []int    // for each column the line of its first number, 0 if there is none so far; nil: columns cannot hold words
	keep       []bool   // of columns of words: however many they are

	optional bool // the target may be missing
	first    int  // the line of a first record that was taken for a row, as nothing tells; 0: there is none
	run      Run  // nil: none

	classes []string // of a run: the names of the target's

	written []*cells.Notation // of each column; nil: all numbers are plain

	survey *survey // of how numbers are written; nil: it is not to be found out
	forms  []forms // of each column of plain numbers; nil: they are not looked at
}

// makeRoom makes room for the values of a table, fewer than the cells that a text of size bytes may hold before it is refused.
func (b *tableBuilder) makeRoom(size int) []float64 {
	wanted := 0
	for j := range b.t.Cols {
		if b.wants(j) {
			wanted++
		}
	}
	rows := min(b.room, b.rows, size/2/max(1, wanted)+few)
	return make([]float64, 0, min(rows*b.t.Cols, size+b.t.Cols))
}

// wants reports whether every row must have a value in column j.
func (b *tableBuilder) wants(j int) bool {
	return !b.t.Left(j) && !(b.optional && j == b.target)
}

// row appends one record, which begins on the given line.
func (b *tableBuilder) row(rec []cells.Cell, line int) error {
	if b.t.Rows() == b.rows {
		full := b.t
		next := *full
		next.Values, next.lines, next.Keys = make([]float64, 0, len(full.Values)), nil, nil
		b.t, b.done = &next, true
		if err := b.emit(full); err != nil {
			return err
		}
	}
	t := b.t
	if len(rec) != t.Cols {
		hint := ""
		if startsComment(rec[0].Text) {
			hint = ": is it a comment? Remove the line"
		}
		return fmt.Errorf("%s: %s where the first record has %d (delimiter %q)%s", t.at(line), numeral.Several(len(rec), "cell"), t.Cols, t.Delimiter, hint)
	}
	t.startsOn(line)
	if b.key >= 0 {
		if text := string(rec[b.key].Text); b.grouped && (text == "" || standsForMissing(text)) {
			return fmt.Errorf("%s, %s: the row has no group: write one, or remove the row", t.at(line), t.Title(b.key))
		}
		t.Keys = append(t.Keys, string(rec[b.key].Text))
	}
	for j, c := range rec {
		if t.Left(j) {
			if t.forRun != nil && t.forRun.constants[j] != nil {
				t.forRun.constants[j].see(c.Text)
			}
			t.Values = append(t.Values, math.NaN())
			continue
		}
		var v float64
		var err error
		if w := b.words[j]; w != nil {
			v, err = w.number(c, b.keep != nil && b.keep[j])
		} else {
			v, err = b.number(j, c)
		}
		if err != nil {
			return b.place(err, j, c)
		}
		t.Values = append(t.Values, v)
		if b.wants(j) {
			b.wanted++
		}
	}
	if b.whole && 8*b.wanted > 4*b.cells.Read()+few*8*cells.MaxColumns {
		return fmt.Errorf("%s: so many cells are empty that the table takes more than four times the memory of its text: leave out the empty columns, or fill them", t.at(line))
	}
	return nil
}

// end ends the text. Its error says that the numbers of a column which was read as plain ones may be written otherwise, and that nobody has looked.
func (b *tableBuilder) end() error {
	for j := range b.forms {
		if b.words[j] != nil || b.t.Left(j) {
			continue
		}
		if b.forms[j].mixed.May() && !b.survey.done(j) {
			return &unsurveyed{b.t, j}
		}
		if b.forms[j].padded.Are() {
			b.t.padded = append(b.t.padded, j)
		}
	}
	return nil
}

// few rows may take more memory than four times their text.
const few = 2

// number reads a cell of a column without words so far. A text for a missing value is neither a number nor a word.
func (b *tableBuilder) number(j int, c cells.Cell) (v float64, err error) {
	var n *cells.Notation
	if b.written == nil {
		v, err = cells.Number(c.Text)
	} else if n = b.written[j]; n == nil {
		v, err = cells.Number(c.Text)
	} else {
		v, err = n.Number(c.Text)
	}
	if err == nil {
		if v == v && b.numbers != nil && b.numbers[j] == 0 {
			b.numbers[j] = c.Line
		}
		if math.Abs(v) >= tellsApart {
			b.t.sawLarge(j, c.Text)
		}
		if b.forms != nil && v == v {
			if f := &b.forms[j]; !f.known {
				f.see(c.Text)
			}
			if n == nil && cells.Fortran(c.Text) && !b.survey.done(j) {
				return 0, &unsurveyed{b.t, j}
			}
		}
		return v, nil
	}
	switch {
	case j == b.target && slices.Contains(b.classes, string(c.Text)): // as - is, beside +
		return 0, errNames
	case isMissing(string(c.Text)):
		return math.NaN(), nil
	case b.survey != nil && len(c.Text) <= longestNumber && !b.survey.done(j):
		return 0, &unsurveyed{b.t, j}
	case n != nil && standsForMissing(string(c.Text)): // no word
	case j == b.target && n == nil:
		return 0, errNames
	case err != cells.ErrText:
		return 0, err
	case b.numbers != nil && b.numbers[j] == 0:
		w := b.dictionary.of(j)
		b.words[j] = w
		w.lacks = b.done || len(b.t.Values) > j // the rows before have neither numbers nor words here
		return w.number(c, b.keep != nil && b.keep[j])
	case n != nil:
		return 0, fmt.Errorf("%s is not written as the run's table writes the numbers of this column, with %v: write it so", cells.Quote(c.Text), n)
	}
	e := &CellError{Line: c.Line, Text: cells.Quote(c.Text), Missing: standsForMissing(string(c.Text)), Hint: cells.Hint(c.Text), Digits: cells.OtherDigits(c.Text)}
	if b.numbers != nil {
		e.Number = b.numbers[j]
	}
	return 0, e
}

// place completes an error about a cell.
func (b *tableBuilder) place(err error, j int, c cells.Cell) error {
	t := b.t
	var cell *CellError
	switch {
	case err == errNames:
		return err
	case errors.As(err, &cell):
		cell.Name, cell.Column, cell.Header = t.ColumnName(j), t.Title(j), cell.Line > 0 && cell.Line == b.first
		return cell
	case err == errManyWords:
		err = &manyWords{t.ColumnName(j)}
	case err == errNewWord && b.run != nil:
		err = b.run.Unknown(string(c.Text), b.words[j].names)
	}
	return fmt.Errorf("%s, %s: %w", t.at(c.Line), t.Title(j), err)
}

// begin makes the columns ready for the first row.
func (b *tableBuilder) begin(o CSV) {
	t := b.t
	b.words = make([]*words, t.Cols)
	if o.Words && o.run == nil {
		b.numbers = make([]int, t.Cols)
	}
	for _, name := range o.Keep {
		if b.keep == nil {
			b.keep = make([]bool, t.Cols)
		}
		for _, j := range t.named(name) {
			b.keep[j] = true
		}
	}
	if b.dictionary.target && b.target >= 0 {
		b.dictionary.of(b.target).labels = true
	}
	if o.run == nil {
		for j := range t.coded(o.Categories) {
			b.dictionary.of(j).codes = true
		}
	}
	for j := range t.Cols {
		if w := b.dictionary.columns[j]; w != nil && w.all != nil {
			t.leaveOut([]int{j})
			t.differ = append(t.differ, j)
		} else {
			b.words[j] = w
		}
	}
	t.nameWords(b.dictionary)
	if b.survey != nil {
		b.forms = make([]forms, t.Cols)
	}
	for j, n := range t.Written {
		if b.written == nil {
			b.written = make([]*cells.Notation, t.Cols)
		}
		b.written[j] = n
	}
}

// columns finds the target, and the columns that are left out.
func (b *tableBuilder) columns(o CSV) (err error) {
	t := b.t
	if t.Key = o.keyed(); t.Key != "" {
		if b.key, err = t.Column(t.Key); err != nil {
			return err
		}
	}
	if b.run = o.run; b.run != nil {
		r, err := b.run.Find(t)
		if err != nil {
			return err
		}
		b.target, b.classes = r.Target, r.Classes
		t.leaveOut(r.Left)
		t.forRun = &forRun{byPlace: r.ByPlace, words: b.dictionary, constants: map[int]*oneValue{}}
		for j, value := range r.Constants {
			t.forRun.constants[j] = newOneValue(value)
		}
		for _, j := range r.Extra {
			if j != b.key {
				t.forRun.ignored = append(t.forRun.ignored, t.ColumnName(j))
			}
		}
		for j, categories := range r.Categories {
			b.dictionary.take(j, categories, r.Zeros, r.Codes[j])
		}
		t.Written = r.Written
		return nil
	}
	if o.Target != "" {
		if b.target, err = t.Column(o.Target); err != nil {
			return err
		}
	}
	if b.grouped = o.Group != ""; b.grouped {
		if b.key == b.target {
			return fmt.Errorf("%s is the target: it cannot say which rows belong together", t.Title(b.target))
		}
		t.leaveOut([]int{b.key})
	}
	for _, name := range slices.Concat(o.Keep, o.Categories) {
		if t.named(name) == nil {
			return &ColumnError{Name: name, Cols: t.Cols, Header: t.Header}
		}
	}
	for _, name := range o.dates {
		t.dates = append(t.dates, t.named(name)...)
	}
	t.leaveOut(t.dates)
	for _, name := range o.Drop {
		columns := t.named(name)
		switch {
		case columns == nil:
			return &ColumnError{Name: name, Cols: t.Cols, Header: t.Header}
		case slices.Contains(columns, b.target):
			return fmt.Errorf("%s is the target: it cannot be left out", t.Title(b.target))
		}
		t.leaveOut(columns)
	}
	return nil
}
