package scans

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/spelling"
)

// table reads the rows of CSV: a header, then rows with a time.
type table struct {
	cells  *cells.Reader
	header []string
	time   int          // its column
	unit   Unit         // of times that are numbers; empty: their size tells it
	notes  []string     // how the text is read, where that is not plain
	first  []cells.Cell // the first row, where it stands in the place of a header

	headless bool // the columns are called 1, 2, …
	comma    bool // times that are numbers have a decimal comma

	text []byte // of the last time
	last instant

	written map[int]*cells.Notation // how the numbers of columns are written that are not plain
	units   bool                    // texts around numbers are no part of them: the first of a column says which
}

// newTable reads the header.
func newTable(text *bufio.Reader) (*table, error) {
	head, err := headerLine(text)
	if err != nil {
		return nil, err
	}
	named := cells.Separator(bytes.TrimPrefix(head, []byte("\ufeff")))
	var before []byte
	if named != 0 { // the header is on the next line
		before = head
		if head, err = headerLine(text); err != nil {
			return nil, err
		}
	}
	d := delimiter(head)
	if named != 0 {
		d = string(named)
	}
	if bytes.HasPrefix(head, []byte("#")) && !bytes.Contains(head, []byte(d)) {
		return nil, fmt.Errorf("the first line is a comment (%s), not a header as in time,x,y: remove it", cells.Quote(bytes.TrimSpace(head)))
	}
	t := &table{cells: cells.NewReader(io.MultiReader(bytes.NewReader(slices.Concat(before, head)), text), d, cells.MaxRecord, cells.Window)}
	if before != nil {
		if err := t.cells.SkipLine(); err != nil {
			return nil, err
		}
	}
	record, ok, err := t.cells.Record()
	if err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	if !ok {
		return nil, errors.New("the CSV is empty: want a header, as in time,x,y")
	}
	t.headless = isRow(record)
	for j, c := range record {
		if t.headless {
			c.Text = slices.Clone(c.Text)
			t.first = append(t.first, c)
			t.header = append(t.header, strconv.Itoa(j+1))
			continue
		}
		t.header = append(t.header, string(c.Text))
	}
	for _, c := range record {
		if _, err := cells.Number(c.Text); !t.headless && (err == nil && len(c.Text) > 0 && !t.hasTime() || !utf8.Valid(c.Text)) {
			return nil, fmt.Errorf("line %d: %s is not the name of a column: want a header, as in time,x,y", c.Line, cells.Quote(c.Text))
		}
	}
	return t, nil
}

// isRow reports whether what stands in the place of a header is a row of measurements: a time, then numbers, of which some may be
// missing.
func isRow(record []cells.Cell) bool {
	if len(record) < 2 {
		return false
	}
	some := false
	for j, c := range record {
		_, err := cells.Number(c.Text)
		if j == 0 {
			_, err = parseTime(c.Text, "")
		}
		if err != nil && len(c.Text) > 0 || len(c.Text) == 0 && j == 0 {
			return false
		}
		some = some || j > 0 && len(c.Text) > 0
	}
	return some
}

// headerLine reads a text up to the end of its first line that is not blank. Of a long line it reads a part.
func headerLine(text *bufio.Reader) ([]byte, error) {
	var head []byte
	for len(bytes.TrimSpace(head)) == 0 && len(head) < text.Size() {
		line, err := text.ReadSlice('\n')
		head = append(head, line...)
		if err == io.EOF || err == bufio.ErrBufferFull {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return head, nil
}

// delimiter is the one of comma, semicolon and tab that the header has most of.
func delimiter(header []byte) string {
	best, most := ",", 0
	for _, d := range []string{",", ";", "\t"} {
		if n := bytes.Count(header, []byte(d)); n > most {
			best, most = d, n
		}
	}
	return best
}

// column finds a column by its name.
func (t *table) column(name string) (int, error) {
	j := slices.Index(t.header, name)
	if j < 0 {
		known := t.header[:min(len(t.header), 1000)]
		var shown []string
		for _, h := range known[:min(len(known), 20)] {
			shown = append(shown, strconv.Quote(cells.Clip(h)))
		}
		return 0, fmt.Errorf("no column %q%s (the first columns: %s)", name, spelling.Suggest(name, known), strings.Join(shown, ", "))
	}
	if slices.Contains(t.header[j+1:], name) {
		return 0, fmt.Errorf("two columns are named %q", name)
	}
	return j, nil
}

// row returns the next row; io.EOF after the last. A row with a fault may have cells nonetheless.
func (t *table) row() (row []cells.Cell, fault *BadError, err error) {
	if row, t.first = t.first, nil; row != nil {
		return row, nil, nil
	}
	row, ok, err := t.cells.Record()
	switch {
	case err != nil:
		if cut := (*cells.Error)(nil); errors.As(err, &cut) {
			return nil, bad(cut.Line, cut.Column, "%s", cut.Message), t.cells.SkipLine()
		}
		return nil, nil, err
	case !ok:
		return nil, nil, io.EOF
	case len(row) != len(t.header):
		fault = bad(t.cells.Start, 0, "the row has %s, the header %d", numeral.Several(len(row), "cell"), len(t.header))
	}
	if t.comma && t.time < len(row) {
		row[t.time].Text = pointed(row[t.time].Text)
	}
	return row, fault, nil
}

// pointed is a number with a point in the place of its decimal comma.
func pointed(text []byte) []byte { return bytes.Replace(text, []byte(","), []byte("."), 1) }

// at returns the time of a row.
func (t *table) at(row []cells.Cell) (instant, *BadError) {
	if t.time >= len(row) {
		return instant{}, bad(t.cells.Start, 0, "the row ends before the time")
	}
	c := row[t.time]
	if t.last.kind != "" && bytes.Equal(c.Text, t.text) {
		return t.last, nil
	}
	at, err := parseTime(c.Text, t.unit)
	if err != nil {
		if point := pointed(c.Text); !t.comma && !bytes.Equal(point, c.Text) {
			if _, another := parseTime(point, t.unit); another == nil {
				err = fmt.Errorf("the time %s is not a plain number (with a decimal comma it is %s): say so with scans.columns: {decimal: \",\"}", cells.Quote(c.Text), point)
			}
		}
		return at, &BadError{c.Line, t.time + 1, err}
	}
	t.text, t.last = append(t.text[:0], c.Text...), at
	return at, nil
}

// read reads the number in a cell of column j.
func (t *table) read(text []byte, j int) (float64, error) {
	n := t.written[j]
	if n == nil {
		return cells.Number(text)
	}
	v, err := n.Number(text)
	if err == cells.ErrText && t.units && n.Before == "" && n.After == "" {
		with := *n
		if with.Learn(text); with != *n {
			if v, err = with.Number(text); err == nil {
				t.written[j] = &with
			}
		}
	}
	return v, err
}

// number reads a cell in column j that is not empty.
func (t *table) number(c cells.Cell, j int) (float64, *BadError) {
	v, err := t.read(c.Text, j)
	name := cells.Clip(t.header[j])
	switch {
	case err == cells.ErrText && t.written[j] != nil:
		return 0, bad(c.Line, j+1, "%s: %s is not a number with %v: leave the cell empty if the value is missing", name, cells.Quote(c.Text), t.written[j])
	case err == cells.ErrText && cells.Hint(c.Text) != "":
		return 0, bad(c.Line, j+1, "%s: %s is not a plain number%s: say how numbers are written with scans.columns: {decimal: …, thousands: …, units: strip}", name, cells.Quote(c.Text), cells.Hint(c.Text))
	case err == cells.ErrText:
		return 0, bad(c.Line, j+1, "%s: %s is not a number: leave the cell empty if the value is missing", name, cells.Quote(c.Text))
	case err != nil:
		return 0, bad(c.Line, j+1, "%s: %w", name, err)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, bad(c.Line, j+1, "%s is %s: want a finite number, or an empty cell if the value is missing", name, c.Text)
	}
	return v, nil
}
