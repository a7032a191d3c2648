package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/regular"
)

// errNames says that the target column, read as numbers, turned out to hold names.
var errNames = errors.New("the target column holds names")

// csvFile is a text that can be read again from its beginning.
type csvFile struct {
	*tableText
	o      CSV // with a delimiter
	window int // bytes in memory at first
	limit  int // bytes of a record
	bytes  int // of the text; more where that is not known

	values []float64 // of a first pass over the whole text, which the second takes
}

// newCSVFile finds the encoding of a file and, unless o gives it, the delimiter, from the beginning of the text.
func newCSVFile(name string, raw io.ReaderAt, size int, o CSV) (*csvFile, error) {
	t, err := newText(name, raw, size, o)
	if err != nil {
		return nil, err
	}
	f := &csvFile{tableText: t, o: o, window: cells.Window, limit: cells.MaxRecord, bytes: math.MaxInt / 2}
	switch t.kind {
	case parquetText:
		named := true
		f.name += ", as a CSV"
		f.o.Delimiter, f.o.Header = ",", &named
		return f, nil
	case plainText:
		f.bytes = size
	}
	head, more, err := t.head(cells.GuessBytes)
	if err != nil {
		return nil, err
	}
	if s := string(head[:min(len(head), 2)]); s == "\xff\xfe" || s == "\xfe\xff" {
		return nil, fmt.Errorf("%s: line 1: the text is UTF-16, save it as UTF-8", name)
	}
	if o.Delimiter == "" {
		f.o.Delimiter = cells.GuessDelimiter(head[byteOrderMark(head):], more)
	}
	return f, CheckDelimiter(f.o.Delimiter)
}

// byteOrderMark is the length of UTF-8's mark at the beginning of a text, or 0.
func byteOrderMark(b []byte) int {
	if strings.HasPrefix(string(b[:min(len(b), 3)]), "\ufeff") {
		return 3
	}
	return 0
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

func readCSV(name string, raw io.ReaderAt, size int, o CSV) (*Table, error) {
	f, err := newCSVFile(name, raw, size, o)
	if err != nil {
		return nil, err
	}
	return f.whole()
}

// whole reads the text as one table. A first pass counts lines, so that there is room for all values at once: an array that
// grew would be in memory twice.
func (f *csvFile) whole() (t *Table, err error) {
	lines, size, err := f.lines(f.window)
	if err != nil {
		return nil, err
	}
	f.bytes = size
	keep := func(whole *Table) error { t = whole; return nil }
	all := extent{rows: math.MaxInt, values: math.MaxInt, room: lines, whole: true}
	err = f.blocks(all, nil, keep)
	if err == errNames {
		names := map[string]int32{}
		if err = f.blocks(all, names, keep); err == nil {
			t.sortNames(names)
		}
	}
	return t, f.named(err)
}

func scanCSV(name string, raw io.ReaderAt, size int, o CSV, rows int, fn func(*Table) error) error {
	f, err := newCSVFile(name, raw, size, o)
	if err != nil {
		return err
	}
	return f.scan(rows, fn)
}

// extent says how much of a text becomes one table.
type extent struct {
	rows, values int // a table has no more, except that it may have one row of more values
	room         int // rows that there is room for at once
	whole        bool
}

// scan reads the text in blocks.
func (f *csvFile) scan(rows int, fn func(*Table) error) error {
	if rows < 1 {
		panic("data: ScanCSV in blocks of no rows")
	}
	var names map[string]int32
	var err error
	const most = 1 << 20 // values, 8 MB: a block of many columns has few rows
	block := extent{rows: rows, values: most, room: rows}
	if f.o.Target != "" {
		ignore := func(*Table) error { return nil }
		if err = f.blocks(block, nil, ignore); err == errNames {
			names = map[string]int32{}
			err = f.blocks(block, names, ignore)
		}
		if err != nil {
			return f.named(err)
		}
	}
	var sorted []string
	if names != nil {
		sorted = inOrder(names)
	}
	var failed error
	err = f.blocks(block, names, func(t *Table) error {
		if len(names) != len(sorted) {
			return fmt.Errorf("%s: changed while it was read", f.name)
		}
		t.Names = sorted
		failed = fn(t)
		return failed
	})
	if failed != nil {
		return failed
	}
	return f.named(err)
}

// named puts the file's name before an error.
func (f *csvFile) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// inOrder returns the names in order and gives each its place as its number.
func inOrder(names map[string]int32) []string {
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for k, n := range sorted {
		names[n] = int32(k)
	}
	return sorted
}

// sortNames renumbers the names in the target column. They were numbered in the order of the rows; the new numbers are places
// in sorted order, which do not depend on the order of the rows.
func (t *Table) sortNames(names map[string]int32) {
	came := make([]string, len(names))
	for n, id := range names {
		came[id] = n
	}
	t.Names = inOrder(names)
	for i := t.Text; i < len(t.Values); i += t.Cols {
		if v := t.Values[i]; v == v {
			t.Values[i] = float64(names[came[int(v)]])
		}
	}
}

// cells begins to cut the text into cells.
func (f *csvFile) cells() (*cells.Reader, error) {
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	text := bufio.NewReaderSize(r, 16)
	if mark, _ := text.Peek(3); byteOrderMark(mark) > 0 {
		text.Discard(3)
	}
	return cells.NewReader(text, f.o.Delimiter, f.limit, min(f.window, f.bytes+1)), nil
}

// blocks reads the text from the beginning and calls emit with tables of a given extent, at least once. With names,
// the texts of the target column are numbered in the order in which they first appear; texts that are in names keep their
// number.
func (f *csvFile) blocks(of extent, names map[string]int32, emit func(*Table) error) error {
	c, err := f.cells()
	if err != nil {
		return err
	}
	first, ok, err := c.Record()
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("line 1: the file is empty")
	}
	b := tableBuilder{cells: c, extent: of, names: names, target: -1, emit: emit}
	b.t = &Table{Name: f.name, Delimiter: f.o.Delimiter, Cols: len(first), Text: -1}
	named := f.o.Header != nil && *f.o.Header || f.o.Header == nil && looksLikeHeader(first)
	if named {
		b.t.Header = make([]string, len(first))
		for j, cell := range first {
			if !utf8.Valid(cell.Text) {
				return fmt.Errorf("line %d, column %d: the column's name is not UTF-8 text: save the file as UTF-8", cell.Line, j+1)
			}
			b.t.Header[j] = string(cell.Text)
		}
	}
	if err := b.columns(f.o); err != nil {
		return err
	}
	if names != nil {
		b.t.Text = b.target
	}
	b.rows = max(1, min(b.rows, b.values/b.t.Cols))
	b.optional = f.o.schema != nil
	if b.t.Values = f.values; b.t.Values == nil {
		b.t.Values = b.makeRoom(f.bytes)
	}
	if b.whole {
		f.values = b.t.Values
	}
	if !named {
		if err := b.row(first, c.Start); err != nil {
			return err
		}
	}
	for {
		rec, ok, err := c.Record()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if b.t.Cols == 1 { // a blank line within a table of one column is a missing value
			for k := c.Blank; k > 0; k-- {
				if err := b.row([]cells.Cell{{Line: c.Start - k}}, c.Start-k); err != nil {
					return err
				}
			}
		}
		if err := b.row(rec, c.Start); err != nil {
			return err
		}
	}
	if b.done && b.t.Rows() == 0 {
		return nil
	}
	return emit(b.t)
}

// tableBuilder appends records to a table and emits it when it is full.
type tableBuilder struct {
	extent
	t      *Table
	cells  *cells.Reader
	wanted int // cells so far in columns that need a value in every row
	target int // −1: none
	names  map[string]int32
	emit   func(*Table) error
	done   bool // a table was emitted

	optional bool // the target may be missing
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
	return !b.t.leftOut(j) && !(b.optional && j == b.target)
}

// row appends one record, which begins on the given line.
func (b *tableBuilder) row(rec []cells.Cell, line int) error {
	if b.t.Rows() == b.rows {
		full := b.t
		next := *full
		next.Values, next.lines, next.large = make([]float64, 0, len(full.Values)), nil, ""
		b.t, b.done = &next, true
		if err := b.emit(full); err != nil {
			return err
		}
	}
	t := b.t
	if len(rec) != t.Cols {
		return fmt.Errorf("line %d: %d cells where the first record has %d (delimiter %q)", line, len(rec), t.Cols, t.Delimiter)
	}
	t.startsOn(line)
	for j, c := range rec {
		if t.leftOut(j) {
			t.Values = append(t.Values, math.NaN())
			continue
		}
		v, err := cells.Number(c.Text)
		switch {
		case j == b.target && b.names != nil:
			if v, err = b.name(c.Text); err != nil {
				return fmt.Errorf("line %d, %s: %w", c.Line, t.column(j), err)
			}
		case j == b.target && err != nil:
			return errNames
		case err == cells.ErrText:
			return &CellError{c.Line, t.name(j), t.column(j), cells.Quote(c.Text), slices.Contains(forMissing, strings.ToLower(string(c.Text)))}
		case err != nil:
			return fmt.Errorf("line %d, %s: %w", c.Line, t.column(j), err)
		}
		if j == b.target && b.names == nil && math.Abs(v) >= tellsApart && t.large == "" {
			t.large = cells.Clip(string(c.Text))
		}
		t.Values = append(t.Values, v)
		if b.wants(j) {
			b.wanted++
		}
	}
	if b.whole && 8*b.wanted > 4*b.cells.Read()+few*8*cells.MaxColumns {
		return fmt.Errorf("line %d: so many cells are empty that the table takes more than four times the memory of its text: leave out the empty columns, or fill them", line)
	}
	return nil
}

// few rows may take more memory than four times their text.
const few = 2

// columns finds the target, and the columns that are left out.
func (b *tableBuilder) columns(o CSV) (err error) {
	t := b.t
	if o.schema != nil {
		r, err := o.schema.find(t)
		b.target = r.target
		t.leaveOut(r.left)
		return err
	}
	if o.Target != "" {
		if b.target, err = t.Column(o.Target); err != nil {
			return err
		}
	}
	for _, name := range o.Drop {
		var columns []int
		for j := range t.Cols {
			if t.name(j) == name {
				columns = append(columns, j)
			}
		}
		switch {
		case columns == nil:
			return &ColumnError{Name: name, Cols: t.Cols, Header: t.Header}
		case slices.Contains(columns, b.target):
			return fmt.Errorf("%s is the target: it cannot be left out", t.column(b.target))
		}
		t.leaveOut(columns)
	}
	return nil
}

// name returns the number of a name, NaN for a missing one.
func (b *tableBuilder) name(text []byte) (float64, error) {
	if v, err := cells.Number(text); err == nil && math.IsNaN(v) {
		return v, nil
	}
	if !utf8.Valid(text) {
		return 0, errors.New("the name is not UTF-8 text: save the file as UTF-8")
	}
	id, ok := b.names[string(text)]
	if !ok {
		if len(b.names) == maxNames {
			return 0, fmt.Errorf("more than %d different names: these are not classes", maxNames)
		}
		id = int32(len(b.names))
		b.names[string(text)] = id
	}
	return float64(id), nil
}

// ReadCSV reads a file. Errors name file, line and column.
func ReadCSV(path string, o CSV) (*Table, error) {
	return reading(path, openReadable, func(file *regular.File) (*Table, error) { return readCSV(path, file, int(file.Size()), o) })
}

// DecodeCSV decodes the bytes of a file; name stands for it in errors.
func DecodeCSV(name string, raw []byte, o CSV) (*Table, error) {
	return readCSV(name, bytes.NewReader(raw), len(raw), o)
}

// ScanCSV reads a file in blocks of at most rows records, in the memory of a block, and calls fn with each; an error of
// fn ends it and is returned. Blocks are parts of the table that ReadCSV would return: with the same header, names, lines
// and errors, which may come after the first blocks. With a target column the file is read twice, since the names in it
// must be known first, and so a fault is found before the first block. That the file was changed is found after the last block.
func ScanCSV(path string, o CSV, rows int, fn func(*Table) error) error {
	_, err := reading(path, openReadable, func(file *regular.File) (none struct{}, err error) {
		return none, scanCSV(path, file, int(file.Size()), o, rows, fn)
	})
	return err
}
