package tables

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/packed"
)

// File is a table in a file, which can be read again from its beginning.
type File struct {
	tableText
	o      CSV  // with a delimiter
	window int  // bytes in memory at first
	limit  int  // bytes of a record
	bytes  int  // of the text; more where that is not known
	skip   bool // the first line names the delimiter
	bounds      // of what Scan looks at

	survey *survey // nil: numbers are written as a run's are

	values []float64 // of a first pass over the whole text, which the second takes
}

// Open opens a text of size bytes, packed or not; name stands for the file in errors. Unless o gives the delimiter, it is found from the
// beginning.
func Open(name string, raw io.ReaderAt, size int, o CSV) (*File, error) {
	f := newFile(name, raw, size, o)
	f.packed = packed.Is(raw)
	head, more, err := f.head(cells.GuessBytes)
	if err != nil {
		return nil, err
	}
	if !f.packed {
		f.bytes = size
	}
	if what, remedy := packed.Wide(head); what != "" {
		return nil, fmt.Errorf("%s: line 1: the text is %s, %s", name, what, remedy)
	}
	head = head[byteOrderMark(head):]
	named := separator(head)
	if f.skip = named != ""; f.skip {
		_, head, _ = bytes.Cut(head, []byte("\n"))
	}
	if err := comment(name, head, o.Delimiter, more); err != nil {
		return nil, err
	}
	if err := o.late(name, head, f.skip); err != nil {
		return nil, err
	}
	switch {
	case o.Delimiter != "":
	case f.skip:
		f.o.Delimiter = named
	case o.uncut(head):
		f.o.Delimiter = ","
	default:
		f.o.Delimiter = cells.GuessDelimiter(head, more)
	}
	f.o.labelled = o.Header == nil && labels(head, f.o.Delimiter)
	if err := CheckDelimiter(f.o.Delimiter); err != nil {
		return nil, err
	}
	if f.skip {
		return f, nil
	}
	return f, o.units(name, head, f.o.Delimiter)
}

func newFile(name string, raw io.ReaderAt, size int, o CSV) *File {
	f := &File{tableText: tableText{name: name, raw: raw, size: size}, o: o, window: cells.Window, limit: cells.MaxRecord, bytes: math.MaxInt / 2}
	if o.run == nil && o.learns() {
		f.survey = &survey{told: o.told(), sure: map[int]bool{}, found: map[int]*cells.Notation{}, mixed: map[int]string{}}
	}
	return f
}

// Packed reports whether gzip packed the file, and RowGroups how many groups of rows a Parquet file has; of another file it has none.
func (f *File) Packed() bool { return f.packed }

func (f *File) RowGroups() int {
	if f.p == nil {
		return 0
	}
	return f.p.Groups
}

// byteOrderMark is the length of UTF-8's mark at the beginning of a text, or 0.
func byteOrderMark(b []byte) int {
	if strings.HasPrefix(string(b[:min(len(b), 3)]), "\ufeff") {
		return 3
	}
	return 0
}

// Table reads the text as one table. A first pass counts lines, so that there is room for all values at once: an array that
// grew would be in memory twice.
func (f *File) Table() (t *Table, err error) {
	lines, size, err := f.lines(f.window)
	if err != nil {
		return nil, err
	}
	f.bytes = size
	keep := func(whole *Table) error { t = whole; return nil }
	all := extent{rows: math.MaxInt, values: math.MaxInt, room: lines, whole: true}
	d, err := f.whole(all, keep)
	if err == nil {
		err = t.sortNames(d)
	}
	return t, f.named(err)
}

// whole reads blocks of the whole text: anew where it turns out that the target holds names, or that numbers of a column may be written in
// another notation. An emit before that is followed by those of the blocks that count.
func (f *File) whole(of extent, emit func(*Table) error) (*dictionary, error) {
	d := &dictionary{}
	for {
		err := f.blocks(of, d, emit)
		var column *unsurveyed
		switch {
		case err == errNames:
			d = &dictionary{target: true}
		case errors.As(err, &column):
			if err := f.survey.look(f, column.t, column.j); err != nil {
				return nil, err
			}
			d = &dictionary{target: d.target}
		default:
			return d, err
		}
	}
}

// Scan reads the text in blocks of at most so many rows, in the memory of a block, and calls fn with each; an error of fn ends it and is
// returned. Blocks are parts of the table that Table would return: with the same header, names, lines and errors, which may come after the
// first blocks. With a target column the text is read twice, since the names in it must be known first, and so a fault is found before the
// first block.
func (f *File) Scan(rows int, fn func(*Table) error) error {
	if rows < 1 {
		panic("tables: Scan in blocks of no rows")
	}
	var err error
	d := &dictionary{}
	const most = 1 << 20 // values, 8 MB: a block of many columns has few rows
	block := extent{rows: rows, values: most, room: rows}
	f.pass, f.passes = 0, 1
	if f.o.learns() {
		f.passes = 2
		var last *Table
		ignore := func(t *Table) error { last = t; return nil }
		if d, err = f.whole(block, ignore); err == nil {
			err = last.complete(d)
		}
		if err != nil {
			return f.named(err)
		}
		f.pass = 1
	}
	var failed error
	err = f.blocks(block, d, func(t *Table) error {
		failed = fn(t)
		return failed
	})
	if failed != nil {
		return failed
	}
	return f.named(err)
}

// cells begins to cut the text into cells.
func (f *File) cells() (*cells.Reader, error) {
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	text := bufio.NewReaderSize(r, 16)
	if mark, _ := text.Peek(3); byteOrderMark(mark) > 0 {
		text.Discard(3)
	}
	c := cells.NewReader(text, f.o.Delimiter, f.limit, min(f.window, f.bytes+1))
	if f.p != nil {
		c.CountRows()
	}
	if f.skip {
		err = c.SkipLine()
	}
	return c, err
}

// blocks reads the text from the beginning and calls emit with tables of a given extent, at least once. Words are numbered in the
// order in which they first appear in their column; those that are in the dictionary keep their number.
func (f *File) blocks(of extent, d *dictionary, emit func(*Table) error) error {
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
	b := tableBuilder{cells: c, extent: of, dictionary: d, target: -1, key: -1, emit: emit}
	b.t = &Table{Name: f.name, Delimiter: f.o.Delimiter, Cols: len(first), typed: f.p != nil}
	named := f.o.named(first)
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
	f.plain(b.t)
	if b.survey = f.survey; b.survey != nil {
		if b.survey.fault != nil {
			return b.survey.fault
		}
		if b.survey.taken == 0 && (f.o.Decimal == "," || f.o.Thousands != "") { // also plain numbers may be meant otherwise
			return &unsurveyed{b.t, -1}
		}
		b.t.Written, b.t.mixed = b.survey.found, b.survey.mixed
	}
	b.begin(f.o)
	b.rows = max(1, min(b.rows, b.values/b.t.Cols))
	b.optional = f.o.run != nil
	if b.t.Values = f.values; b.t.Values == nil {
		b.t.Values = b.makeRoom(f.bytes)
	}
	if b.whole {
		f.values = b.t.Values
	}
	f.begin()
	if !named {
		if f.o.Header == nil {
			b.first = c.Start
		}
		if err := b.row(first, c.Start); err != nil {
			return err
		}
		f.looked()
	}
	for {
		rec, ok, err := c.Record()
		if f.enough() {
			f.partly = ok || err != nil
			break
		}
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
				f.looked()
			}
		}
		if err := b.row(rec, c.Start); err != nil {
			return err
		}
		f.looked()
	}
	if err := b.end(); err != nil {
		return err
	}
	if b.done && b.t.Rows() == 0 {
		return nil
	}
	return emit(b.t)
}

// plain takes the notations of a run's table from the columns of a Parquet file that hold numbers: these are not written in any way.
func (f *File) plain(t *Table) {
	if f.p == nil || t.Written == nil {
		return
	}
	t.Written = maps.Clone(t.Written)
	maps.DeleteFunc(t.Written, func(j int, _ *cells.Notation) bool { return f.p.Columns[j].Numbers() })
}
