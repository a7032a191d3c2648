package data

import (
	"bytes"
	"fmt"
	"io"
)

// cells cuts delimited text into records of cells, in one pass over a window of the text, without copies (only a quoted
// cell with a doubled quote is copied).
type cells struct {
	rest  io.Reader // the text after the window; nil at the end of the text
	raw   []byte    // the window
	pos   int       // index in the window
	base  int       // bytes of the text before the window
	line  int       // line of pos, from 1
	delim byte      // 0: runs of blanks
	limit int       // largest number of bytes of a record
	rec   []cell
	start int // line on which the last record begins
	blank int // blank lines before the last record; 0 for the first record
}

// cell is one cell; text is valid until the next record.
type cell struct {
	text []byte
	line int
}

const (
	firstWindow = 64 << 10
	// maxRecord bounds the bytes of a record, including line ends within quotes. Without it, a quote that is never closed
	// would read the rest of the file into memory.
	maxRecord = 4 << 20
)

func newCells(delimiter string, limit int) *cells {
	c := &cells{line: 1, limit: limit}
	if delimiter != "whitespace" {
		c.delim = delimiter[0]
	}
	return c
}

// read returns the number of bytes of the text that were cut into cells.
func (c *cells) read() int { return c.base + c.pos }

// found says what next found: a record, a blank line or the end of the text.
type found int

const (
	endOfText found = iota
	blankLine
	aRecord
)

// record returns the next record, or ok = false at the end of the text.
func (c *cells) record() (rec []cell, ok bool, err error) {
	first := c.rec == nil
	for c.blank = 0; ; c.blank++ {
		what, err := c.next()
		if err != nil || what == endOfText {
			return nil, false, err
		}
		if what == aRecord {
			if first {
				c.blank = 0
			}
			return c.rec, true, nil
		}
	}
}

// next reads a blank line or a record. A record that reaches the end of the window may continue after it. Such a record is
// read again from its beginning when the window holds more of the text.
func (c *cells) next() (found, error) {
	mark, line := c.pos, c.line
	for {
		what, err := c.parse()
		if c.pos == len(c.raw) && c.pos-mark <= c.limit && c.rest != nil {
			c.pos, c.line = mark, line
			if err := c.more(); err != nil {
				return endOfText, err
			}
			mark = 0
			continue
		}
		if c.pos-mark > c.limit {
			return endOfText, fmt.Errorf("line %d: more than %s bytes without an end of the record (is a quote never closed?)", line, thousands(uint64(c.limit)))
		}
		return what, err
	}
}

// more moves the window so that it begins at pos, doubles it if it is full, and fills it.
func (c *cells) more() error {
	c.base += c.pos
	n := copy(c.raw[:cap(c.raw)], c.raw[c.pos:])
	c.raw, c.pos = c.raw[:n], 0
	if n == cap(c.raw) {
		c.raw = append(make([]byte, 0, 2*n), c.raw...)
	}
	n, err := io.ReadFull(c.rest, c.raw[n:cap(c.raw)])
	c.raw = c.raw[:len(c.raw)+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.rest, err = nil, nil
	}
	return err
}

// parse reads a blank line or a record of the window as if the text ended with it.
func (c *cells) parse() (found, error) {
	mark := c.pos
	c.skipBlanks()
	if c.pos == len(c.raw) {
		return endOfText, nil
	}
	if c.newline() {
		return blankLine, nil
	}
	c.pos = mark
	c.rec, c.start = c.rec[:0], c.line
	for {
		last, err := c.cell()
		if err != nil {
			return endOfText, err
		}
		if last {
			return aRecord, nil
		}
	}
}

// cell appends the next cell to the record; last says that it ends the record.
func (c *cells) cell() (last bool, err error) {
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
				return false, fmt.Errorf("line %d, column %d: a quote within a cell that does not begin with one", line, len(c.rec)+1)
			}
		}
		text = bytes.TrimRight(c.raw[from:c.pos], " \t")
	}
	if len(c.rec) == maxCols {
		return false, fmt.Errorf("line %d: more than %d columns", line, maxCols)
	}
	c.rec = append(c.rec, cell{text, line})
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
	return false, fmt.Errorf("line %d, column %d: text follows after the closing quote", c.line, len(c.rec))
}

// quoted reads a cell in double quotes; it may hold delimiters and line ends, and quotes that are doubled.
func (c *cells) quoted() ([]byte, error) {
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
	return nil, fmt.Errorf("line %d, column %d: the quote is never closed", line, column)
}

// ends reports whether b ends an unquoted cell.
func (c *cells) ends(b byte) bool {
	return b == '\n' || b == '\r' || b == c.delim && c.delim != 0 || c.delim == 0 && (b == ' ' || b == '\t')
}

// skipBlanks skips blanks that are not the delimiter.
func (c *cells) skipBlanks() {
	for c.pos < len(c.raw) && (c.raw[c.pos] == ' ' || c.raw[c.pos] == '\t') && c.raw[c.pos] != c.delim {
		c.pos++
	}
}

// newline skips a line end, if there is one here.
func (c *cells) newline() bool {
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
	c.line++
	return true
}

// guessBytes is how much of a text guessDelimiter sees.
const guessBytes = 1 << 20

// guessDelimiter returns the first candidate that cuts the first records into the same number of cells, at least two;
// else the candidate that cuts the first record into most cells, so that the error that follows is about a plausible table.
// cut says that the text goes on after head.
func guessDelimiter(head []byte, cut bool) string {
	const look = 16
	best, most := ",", 1
	for _, d := range [...]string{"\t", ";", ",", "whitespace"} {
		c := newCells(d, guessBytes)
		c.raw = head
		rec, _, err := c.record()
		n := len(rec)
		even := err == nil && n > 1
		for i := 1; even && i < look; i++ {
			rec, ok, err := c.record()
			if !ok && err == nil || cut && c.pos == len(head) {
				break
			}
			even = err == nil && len(rec) == n
		}
		if even {
			return d
		}
		if n > most {
			best, most = d, n
		}
	}
	return best
}

// Limits on things that take many times their size in the file: different names in a target column, and columns.
const (
	maxNames = 1 << 16
	maxCols  = 1 << 16
)
