package scans

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
)

const (
	longestLine  = 256_000_000 // bytes of a line of JSON
	longestToken = 1000        // bytes of a number or of a text
)

// lineReader reads the tokens of one line of JSON after another, in the memory of a window. The end of the text, a failed read
// and a line that is too long look like the end of the line; then failed or long say so.
type lineReader struct {
	text  io.Reader
	buf   []byte // the window
	pos   int    // index in the window
	from  int    // bytes of the line before the window
	line  int    // from 1
	limit int    // bytes of a line

	ended  bool  // the window reaches the end of the text
	failed error // of reading
	long   bool  // the line has more bytes than the limit
}

func newLineReader(text io.Reader) *lineReader {
	return &lineReader{text: text, buf: make([]byte, 0, 64<<10), line: 1, limit: longestLine}
}

// column is the place in the line of the next byte, from 1.
func (l *lineReader) column() int { return l.from + l.pos + 1 }

func (l *lineReader) fault(format string, args ...any) *BadError {
	return bad(l.line, l.column(), format, args...)
}

// peek returns the next byte, '\n' at the end of the line.
func (l *lineReader) peek() byte {
	if l.pos < len(l.buf) || l.fill(l.pos) {
		return l.buf[l.pos]
	}
	return '\n'
}

// fill reads more of the text into the window, which goes on from keep ≤ pos. It reports whether there is more of the line.
func (l *lineReader) fill(keep int) bool {
	if l.from+len(l.buf) >= l.limit {
		l.long = true
		return false
	}
	return l.read(keep)
}

func (l *lineReader) read(keep int) bool {
	if l.ended || l.failed != nil {
		return false
	}
	l.from += keep
	l.pos -= keep
	l.buf = l.buf[:copy(l.buf, l.buf[keep:])]
	for range 100 {
		n, err := l.text.Read(l.buf[len(l.buf):cap(l.buf)]) // once: a pipe may deliver the rest much later
		l.buf = l.buf[:len(l.buf)+n]
		if err == io.EOF {
			l.ended = true
		} else if err != nil {
			l.failed = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	l.failed = io.ErrNoProgress
	return false
}

// next goes to the next line. It leaves out what is left of this one, however long it is.
func (l *lineReader) next() {
	for {
		for ; l.pos < len(l.buf); l.pos++ {
			if l.buf[l.pos] == '\n' {
				l.pos++
				l.from, l.long = -l.pos, false
				l.line++
				return
			}
		}
		if !l.read(l.pos) {
			l.from, l.long = -l.pos, false
			return
		}
	}
}

// token returns the next byte that is no blank, without taking it.
func (l *lineReader) token() byte {
	for {
		switch c := l.peek(); c {
		case ' ', '\t', '\r':
			l.pos++
		default:
			return c
		}
	}
}

// take takes the next token, which must be the given byte.
func (l *lineReader) take(want byte, what string) error {
	if c := l.token(); c != want {
		return l.unexpected(what)
	}
	l.pos++
	return nil
}

// unexpected is the fault of a token that is not what is wanted here.
func (l *lineReader) unexpected(what string) error {
	c := l.token()
	if c == '\n' {
		return l.fault("the line ends where %s should follow: a scan is one line", what)
	}
	return l.fault("%q where %s should follow", rune(c), what)
}

// list reads a list in brackets: item reads one of its elements.
func (l *lineReader) list(open, end byte, what string, item func() error) error {
	if err := l.take(open, what); err != nil {
		return err
	}
	if l.token() == end {
		l.pos++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch l.token() {
		case ',':
			l.pos++
		case end:
			l.pos++
			return nil
		default:
			return l.unexpected(fmt.Sprintf("%q or %q", rune(','), rune(end)))
		}
	}
}

// run returns the bytes from here for which in holds, within the window, and does not take them. They may be too many: the
// answer then has more than longestToken bytes.
func (l *lineReader) run(in func(byte) bool) []byte {
	for n := 0; ; {
		for ; l.pos+n < len(l.buf); n++ {
			if n > longestToken || !in(l.buf[l.pos+n]) {
				return l.buf[l.pos : l.pos+n]
			}
		}
		if !l.fill(l.pos) {
			return l.buf[l.pos : l.pos+n]
		}
	}
}

func isWordByte(c byte) bool {
	return cells.IsNumberByte(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// word returns a number or a bare word such as null, which is not taken.
func (l *lineReader) word(what string) ([]byte, error) {
	l.token()
	w := l.run(isWordByte)
	switch {
	case len(w) == 0:
		return nil, l.unexpected(what)
	case len(w) > longestToken:
		return nil, l.fault("a number of more than %d characters", longestToken)
	}
	return w, nil
}

// number reads a finite number, or null.
func (l *lineReader) number(what string) (v float64, null bool, err error) {
	w, err := l.word(what)
	if err != nil {
		return 0, false, err
	}
	if string(w) == "null" {
		l.pos += len(w)
		return 0, true, nil
	}
	if !isNumber(w) {
		return 0, false, l.fault("%s is not a number of JSON: want %s", cells.Clip(string(w)), what)
	}
	v, err = strconv.ParseFloat(string(w), 64)
	if err != nil {
		return 0, false, l.fault("%s is too large for a float64", cells.Clip(string(w)))
	}
	l.pos += len(w)
	return v, false, nil
}

// isNumber reports whether w is a number as JSON writes it: −?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?.
func isNumber(w []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(w) && w[n] >= '0' && w[n] <= '9' {
			n++
		}
		w = w[n:]
		return n > 0
	}
	if len(w) > 0 && w[0] == '-' {
		w = w[1:]
	}
	if len(w) > 0 && w[0] == '0' {
		w = w[1:]
	} else if !digits() {
		return false
	}
	if len(w) > 0 && w[0] == '.' {
		w = w[1:]
		if !digits() {
			return false
		}
	}
	if len(w) > 0 && (w[0] == 'e' || w[0] == 'E') {
		if w = w[1:]; len(w) > 0 && (w[0] == '+' || w[0] == '-') {
			w = w[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(w) == 0
}

// name reads a text in quotes.
func (l *lineReader) name(what string) (string, error) {
	if err := l.take('"', what); err != nil {
		return "", err
	}
	after := false // a backslash
	inside := func(c byte) bool {
		if c == '\n' || c == '"' && !after {
			return false
		}
		after = c == '\\' && !after
		return true
	}
	w := l.run(inside)
	switch {
	case len(w) > longestToken:
		return "", l.fault("a text of more than %d bytes", longestToken)
	case !utf8.Valid(w):
		return "", l.fault("the text is not UTF-8")
	case l.pos+len(w) == len(l.buf) || l.buf[l.pos+len(w)] != '"':
		return "", l.fault("the quote is never closed")
	}
	text := string(w)
	if err := json.Unmarshal([]byte(`"`+text+`"`), &text); err != nil {
		return "", l.fault("%s is not a text of JSON", cells.Quote(w))
	}
	l.pos += len(w) + 1
	return text, nil
}
