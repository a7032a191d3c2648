package data

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CSV says how a text table is read; the zero value guesses delimiter and header and expects numbers only.
//
// A cell is a decimal number, nan, inf or empty (= NaN); anything else is an error with its line and column, both
// counted from 1, except in the column Target. Cells may stand in double quotes, a quote within them doubled; blanks
// around an unquoted cell do not count. Lines end in LF, CR LF or CR. Blank lines are skipped, except within a table
// of one column, where they are empty cells. A byte-order mark is skipped.
type CSV struct {
	// Delimiter is one ASCII character, or "whitespace" for runs of blanks. Empty: the first of tab, semicolon, comma
	// and whitespace that cuts the first records into the same number of cells, at least two.
	Delimiter string
	// Header says whether the first record names the columns. Guess: it does if no cell of it is a number.
	Header Header
	// Target is the column that may hold names of classes: its name, or without a header its number from 1. Empty:
	// none. Names are kept only if a cell of it is not a number.
	Target string
	// Optional says that a table without the column Target is none the worse.
	Optional bool
}

// Header says whether a table has a line of column names.
type Header int

const (
	GuessHeader Header = iota
	WithHeader
	NoHeader
)

// Table is a table of numbers, row-major.
type Table struct {
	Name      string // of the file, for errors
	Delimiter string // as given or guessed
	Header    []string
	Cols      int
	Values    []float64 // rows × Cols; NaN where a cell is missing

	// Column Text holds names instead of numbers: its values are indices in Names, which is sorted. −1: no column.
	Text  int
	Names []string

	lines []int32 // in the file, of each row
}

// Rows is the number of rows, the header not counted.
func (t *Table) Rows() int { return len(t.lines) }

// Line is the line of the file on which row i starts, from 1.
func (t *Table) Line(i int) int { return int(t.lines[i]) }

// ReadCSV reads a file. Errors name file, line and column.
func ReadCSV(path string, o CSV) (*Table, error) {
	raw, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return DecodeCSV(path, raw, o)
}

// DecodeCSV decodes the bytes of a file; name stands for it in errors.
func DecodeCSV(name string, raw []byte, o CSV) (*Table, error) {
	if bytes.HasPrefix(raw, []byte{0xff, 0xfe}) || bytes.HasPrefix(raw, []byte{0xfe, 0xff}) {
		return nil, fmt.Errorf("%s: line 1: the text is UTF-16, save it as UTF-8", name)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if o.Delimiter == "" {
		o.Delimiter = guessDelimiter(raw)
	}
	if err := CheckDelimiter(o.Delimiter); err != nil {
		return nil, err
	}
	t, err := readTable(name, raw, o, false)
	if err == errNames {
		t, err = readTable(name, raw, o, true)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// CheckDelimiter returns what is wrong with a delimiter that a CSV is to be read by.
func CheckDelimiter(d string) error {
	if d == "whitespace" {
		return nil
	}
	if len(d) != 1 || d[0] >= utf8.RuneSelf || isNumberByte(d[0]) || strings.ContainsAny(d, "\"\r\n") {
		return fmt.Errorf("delimiter %q: want one ASCII character that numbers do not use, or whitespace", d)
	}
	return nil
}

// Limits on what costs many times its size in the file: different names in a target column, and columns.
const (
	maxNames = 1 << 16
	maxCols  = 1 << 16
)

// errNames says that the target column, read as numbers, turned out to hold names.
var errNames = errors.New("the target column holds names")

func readTable(name string, raw []byte, o CSV, names bool) (*Table, error) {
	c := newCells(raw, o.Delimiter)
	first, ok, err := c.record()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("line 1: the file is empty")
	}
	t := &Table{Name: name, Delimiter: o.Delimiter, Cols: len(first), Text: -1}
	named := o.Header == WithHeader || o.Header == GuessHeader && looksLikeHeader(first)
	if named {
		t.Header = make([]string, len(first))
		for j, cell := range first {
			if !utf8.Valid(cell.text) {
				return nil, fmt.Errorf("line %d, column %d: the column's name is not UTF-8 text", cell.line, j+1)
			}
			t.Header[j] = string(cell.text)
		}
	}
	target := -1
	if o.Target != "" {
		if target, err = t.Column(o.Target); err != nil && !o.Optional {
			return nil, err
		}
	}
	// A value takes at least one byte of the file, its delimiter.
	rows := bytes.Count(raw, []byte("\n")) + 1
	t.Values = make([]float64, 0, min(rows*t.Cols, len(raw)+1))
	t.lines = make([]int32, 0, rows)
	b := tableBuilder{t: t, target: target}
	if names {
		b.names = map[string]int32{}
	}
	if !named {
		if err := b.row(first, c.start); err != nil {
			return nil, err
		}
	}
	for {
		rec, ok, err := c.record()
		if err != nil {
			return nil, err
		}
		if !ok {
			b.finish()
			return t, nil
		}
		if t.Cols == 1 { // a blank line within a table of one column is a missing value
			for k := c.blank; k > 0; k-- {
				if err := b.row([]cell{{line: c.start - k}}, c.start-k); err != nil {
					return nil, err
				}
			}
		}
		if err := b.row(rec, c.start); err != nil {
			return nil, err
		}
	}
}

// tableBuilder appends records to a table. With names, the cells of the target column are numbered as they come.
type tableBuilder struct {
	t      *Table
	target int              // −1: none
	names  map[string]int32 // nil: the target column is read as numbers
}

// row appends one record, which begins on the given line.
func (b *tableBuilder) row(rec []cell, line int) error {
	t := b.t
	if len(rec) != t.Cols {
		return fmt.Errorf("line %d: %d cells where the first record has %d (delimiter %q)", line, len(rec), t.Cols, t.Delimiter)
	}
	t.lines = append(t.lines, int32(line))
	for j, c := range rec {
		v, err := parseNumber(c.text)
		switch {
		case j == b.target && b.names != nil:
			if v, err = b.name(c.text); err != nil {
				return fmt.Errorf("line %d, %s: %w", c.line, t.column(j), err)
			}
		case j == b.target && err != nil:
			return errNames
		case err != nil:
			return fmt.Errorf("line %d, %s: %w", c.line, t.column(j), err)
		}
		t.Values = append(t.Values, v)
	}
	return nil
}

// name returns the number of a name, NaN for a missing one.
func (b *tableBuilder) name(text []byte) (float64, error) {
	if v, err := parseNumber(text); err == nil && math.IsNaN(v) {
		return v, nil
	}
	if !utf8.Valid(text) {
		return 0, errors.New("the name is not UTF-8 text")
	}
	id, ok := b.names[string(text)]
	if !ok {
		if len(b.t.Names) == maxNames {
			return 0, fmt.Errorf("more than %d different names: these are no classes", maxNames)
		}
		id = int32(len(b.t.Names))
		b.t.Names = append(b.t.Names, string(text))
		b.names[b.t.Names[id]] = id
	}
	return float64(id), nil
}

// finish sorts the names, so that they do not depend on the order of the rows.
func (b *tableBuilder) finish() {
	if b.names == nil {
		return
	}
	t := b.t
	t.Text = b.target
	slices.Sort(t.Names)
	rank := make([]float64, len(t.Names))
	for k, n := range t.Names {
		rank[b.names[n]] = float64(k)
	}
	for i := b.target; i < len(t.Values); i += t.Cols {
		if v := t.Values[i]; v == v {
			t.Values[i] = rank[int(v)]
		}
	}
}

// column names column j in an error.
func (t *Table) column(j int) string {
	if t.Header != nil {
		return fmt.Sprintf("column %d (%s)", j+1, clip(t.Header[j]))
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
		return -1, fmt.Errorf("columns %d and %d are both named %q", j+1, j+k+2, name)
	}
	return j, nil
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

// parseNumber is strict: ParseFloat alone would also take hexadecimal numbers and underscores, and turns numbers that
// are too large into an infinity.
func parseNumber(b []byte) (float64, error) {
	if len(b) == 0 {
		return math.NaN(), nil
	}
	sign, word := 1.0, b
	if b[0] == '-' || b[0] == '+' {
		word = b[1:]
		if b[0] == '-' {
			sign = -1
		}
	}
	switch strings.ToLower(string(word[:min(len(word), 9)])) {
	case "nan":
		return math.NaN(), nil
	case "inf", "infinity":
		return math.Inf(int(sign)), nil
	}
	for _, c := range b {
		if !isNumberByte(c) {
			if bytes.Count(b, []byte(",")) == 1 {
				return 0, fmt.Errorf("%s is not a number (the decimal mark is a point)", quote(b))
			}
			return 0, fmt.Errorf("%s is not a number", quote(b))
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err == nil:
		return v, nil
	case math.IsInf(v, 0):
		return 0, fmt.Errorf("%s is too large for a float64", quote(b))
	}
	return 0, fmt.Errorf("%s is not a number", quote(b))
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

func looksLikeHeader(rec []cell) bool {
	words := false
	for _, c := range rec {
		if len(c.text) == 0 {
			continue
		}
		if _, err := parseNumber(c.text); err == nil {
			return false
		}
		words = true
	}
	return words
}

// quote shows the beginning of a cell in an error.
func quote(b []byte) string { return strconv.Quote(clip(string(b[:min(len(b), 64)]))) }

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// quoteSome lists the first few names.
func quoteSome(names []string) string {
	const few = 20
	q := make([]string, min(len(names), few))
	for i := range q {
		q[i] = strconv.Quote(clip(names[i]))
	}
	if len(names) > few {
		q = append(q, "…")
	}
	return strings.Join(q, ", ")
}
