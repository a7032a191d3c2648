// Package cells cuts delimited text, such as CSV, into records of cells, and reads numbers in cells. Cells may stand in double
// quotes, a quote within them doubled; blanks around a cell do not count. Lines end in LF, CR LF or CR.
package cells

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/starling-smc/starling/internal/numeral"
)

// Reader reads records in one pass over a window of the text, without copies (only a quoted cell with a doubled quote is
// copied). It asks for more text only when the window has no whole record.
type Reader struct {
	rest  io.Reader // the text after the window; nil at the end of the text
	raw   []byte    // the window
	pos   int       // index in the window
	base  int       // bytes of the text before the window
	line  int       // line of pos, from 1
	delim byte      // 0: runs of blanks
	limit int       // largest number of bytes of a record
	rec   []Cell
	rows  bool // lines are counted as records after the first: the text is no file of its own

	Start int // line on which the last record begins
	Blank int // blank lines before the last record; 0 for the first record
}

// Cell is one cell; Text is valid until the next record.
type Cell struct {
	Text []byte
	Line int
}

// Error is a fault of the text: cells that cannot be cut.
type Error struct {
	Line, Column int // from 1; Column counts cells, 0: the fault is of the record
	Message      string
	Row          bool // Line counts rows (Reader.CountRows)
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s: %s", At(e.Line, e.Row), e.Message)
	}
	return fmt.Sprintf("%s, column %d: %s", At(e.Line, e.Row), e.Column, e.Message)
}

// At names a line of a text in an error, or a row of a file that is no text.
func At(line int, row bool) string {
	if row {
		return fmt.Sprintf("row %d", line)
	}
	return fmt.Sprintf("line %d", line)
}

const (
	// Window is the usual size of the window at first, in bytes.
	Window = 64 << 10
	// MaxRecord bounds the bytes of a record, including line ends within quotes. Without it, a quote that is never closed
	// would read the rest of the file into memory.
	MaxRecord = 4 << 20
	// MaxColumns bounds the cells of a record, each of which takes many times its size in the text.
	MaxColumns = 1 << 16
)

// NewReader cuts a text. delimiter is one ASCII character, or "whitespace" for runs of blanks. limit is the largest number of
// bytes of a record. window is the number of bytes in memory at first.
func NewReader(text io.Reader, delimiter string, limit, window int) *Reader {
	c := &Reader{rest: text, raw: make([]byte, 0, window), line: 1, limit: limit}
	if delimiter != "whitespace" {
		c.delim = delimiter[0]
	}
	return c
}

// CountRows makes the reader count records after the first, which is 0, in place of lines. It is called before the first record.
func (c *Reader) CountRows() { c.rows, c.line = true, 0 }

// Read returns the number of bytes of the text that were cut into cells.
func (c *Reader) Read() int { return c.base + c.pos }

// found says what next found: a record, a blank line or the end of the text.
type found int

const (
	endOfText found = iota
	blankLine
	aRecord
)

// Record returns the next record, or ok = false at the end of the text. After an *Error the reader stands at the beginning of
// the faulty record: SkipLine leaves its line out.
func (c *Reader) Record() (rec []Cell, ok bool, err error) {
	first := c.rec == nil
	for c.Blank = 0; ; c.Blank++ {
		what, err := c.next()
		if err != nil || what == endOfText {
			return nil, false, err
		}
		if what == aRecord {
			if first {
				c.Blank = 0
			}
			return c.rec, true, nil
		}
	}
}

// next reads a blank line or a record. A record that reaches the end of the window may continue after it. Such a record is
// read again from its beginning when the window holds more of the text.
func (c *Reader) next() (found, error) {
	mark, line := c.pos, c.line
	for {
		what, err := c.parse()
		ended := err == nil && what != endOfText && c.raw[c.pos-1] == '\n' // an LF may still follow after a CR
		if c.pos == len(c.raw) && !ended && c.pos-mark <= c.limit && c.rest != nil {
			c.pos, c.line = mark, line
			if err := c.more(); err != nil {
				return endOfText, err
			}
			mark = 0
			continue
		}
		if c.pos-mark > c.limit {
			err = c.fault(line, 0, fmt.Sprintf("more than %s bytes without an end of the record (is a quote never closed?)", numeral.Grouped(strconv.Itoa(c.limit))))
		}
		if err != nil {
			c.pos, c.line = mark, line
		}
		return what, err
	}
}

// SkipLine leaves out the rest of the line.
func (c *Reader) SkipLine() error {
	for {
		k := bytes.IndexAny(c.raw[c.pos:], "\r\n")
		if k >= 0 && (c.pos+k+1 < len(c.raw) || c.raw[c.pos+k] == '\n' || c.rest == nil) {
			c.pos += k
			c.newline()
			return nil
		}
		if c.pos = len(c.raw); k >= 0 {
			c.pos-- // a CR, after which an LF may follow
		}
		if c.rest == nil {
			return nil
		}
		if err := c.more(); err != nil {
			return err
		}
	}
}

// more moves the window so that it begins at pos, doubles it if it is full, and reads more of the text.
func (c *Reader) more() error {
	c.base += c.pos
	n := copy(c.raw[:cap(c.raw)], c.raw[c.pos:])
	c.raw, c.pos = c.raw[:n], 0
	if n == cap(c.raw) {
		c.raw = append(make([]byte, 0, 2*n), c.raw...)
	}
	least := 1 // a pipe may deliver the rest much later
	if n >= Window {
		least = min(n, cap(c.raw)-n) // a record so long is not parsed anew for each small piece
	}
	n, err := io.ReadAtLeast(c.rest, c.raw[n:cap(c.raw)], least)
	c.raw = c.raw[:len(c.raw)+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.rest, err = nil, nil
	}
	return err
}

// parse reads a blank line or a record of the window as if the text ended with it.
func (c *Reader) parse() (found, error) {
	mark := c.pos
	c.skipBlanks()
	if c.pos == len(c.raw) {
		return endOfText, nil
	}
	if c.newline() {
		return blankLine, nil
	}
	c.pos = mark
	c.rec, c.Start = c.rec[:0], c.line
	for {
		last, err := c.cell()
		if err != nil {
			return endOfText, err
		}
		if last {
			if c.rows {
				c.line++
			}
			return aRecord, nil
		}
	}
}

// cell appends the next cell to the record; last says that it ends the record.
func (c *Reader) cell() (last bool, err error) {
	c.skipBlanks()
	line := c.line
	var text []byte
	if c.pos < len(c.raw) && c.raw[c.pos] == '"' {
		if text, err = c.quoted(); err != nil {
			return false, err
		}
	} else {
		from := c.pos
		for ; c.pos < len(c.raw) && !c.ends(c.raw[c.pos]); c.pos++ {
			if c.raw[c.pos] == '"' {
				return false, c.fault(line, len(c.rec)+1, "a quote within a cell that does not begin with one")
			}
		}
		for text = c.raw[from:c.pos]; len(text) > 0 && isBlank(text[len(text)-1]); {
			text = text[:len(text)-1]
		}
	}
	if len(c.rec) == MaxColumns {
		return false, c.fault(line, 0, fmt.Sprintf("more than %d columns", MaxColumns))
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return false, c.fault(line, len(c.rec)+1, "the cell has a NUL byte, which no text has: the file is damaged, or is no table")
	}
	c.rec = append(c.rec, Cell{text, line})
	end := c.pos
	c.skipBlanks()
	switch {
	case c.pos == len(c.raw) || c.newline():
		return true, nil
	case c.delim == 0 && c.pos > end:
		return false, nil
	case c.delim != 0 && c.raw[c.pos] == c.delim:
		c.pos++
		return false, nil
	}
	return false, c.fault(c.line, len(c.rec), "text follows after the closing quote")
}

// fault is an error with its place.
func (c *Reader) fault(line, column int, message string) error {
	return &Error{Line: line, Column: column, Message: message, Row: c.rows}
}

// quoted reads a cell in double quotes; it may hold delimiters and line ends, and quotes that are doubled.
func (c *Reader) quoted() ([]byte, error) {
	line, column := c.line, len(c.rec)+1
	c.pos++
	from, doubled := c.pos, false
	for c.pos < len(c.raw) {
		switch {
		case c.raw[c.pos] != '"':
			if !c.newline() {
				c.pos++
			}
		case c.pos+1 < len(c.raw) && c.raw[c.pos+1] == '"':
			doubled = true
			c.pos += 2
		default:
			text := c.raw[from:c.pos]
			c.pos++
			if doubled {
				text = bytes.ReplaceAll(text, []byte(`""`), []byte(`"`))
			}
			return text, nil
		}
	}
	return nil, c.fault(line, column, "the quote is never closed")
}

// ends reports whether b ends an unquoted cell.
func (c *Reader) ends(b byte) bool {
	return b == '\n' || b == '\r' || b == c.delim && c.delim != 0 || c.delim == 0 && (b == ' ' || b == '\t')
}

// skipBlanks skips blanks that are not the delimiter.
func (c *Reader) skipBlanks() {
	for c.pos < len(c.raw) && isBlank(c.raw[c.pos]) && c.raw[c.pos] != c.delim {
		c.pos++
	}
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// newline skips a line end, if there is one here.
func (c *Reader) newline() bool {
	if c.pos == len(c.raw) {
		return false
	}
	switch c.raw[c.pos] {
	case '\r':
		if c.pos+1 < len(c.raw) && c.raw[c.pos+1] == '\n' {
			c.pos++
		}
	case '\n':
	default:
		return false
	}
	c.pos++
	if !c.rows {
		c.line++
	}
	return true
}
