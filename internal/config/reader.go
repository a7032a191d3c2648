package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of a config. The largest that people write has some hundred keys; lists of columns and groups can be long.
const (
	mostBytes = 1 << 20
	mostDepth = 32 // mappings and lists inside each other
	mostKeys  = 10_000
	mostItems = 100_000 // of lists
	longest   = 200     // bytes of a key: every message about a setting repeats the keys around it
)

// reader goes through the text of a config from its beginning to its end, and never back.
type reader struct {
	text  string // lines end in \n
	pos   int    // of the next byte
	line  int    // counted from 1
	begin int    // the position of the line's first byte

	counted, column int // the place up to which the line's characters were counted, and their number

	depth, keys, items int // so far; depth is that of the value that is read
}

// here returns the place of the next character.
func (r *reader) here() place {
	r.column += utf8.RuneCountInString(r.text[r.counted:r.pos])
	r.counted = r.pos
	return at(r.line, r.column+1)
}

func (r *reader) fault(format string, args ...any) *fault {
	return &fault{place: r.here(), message: fmt.Sprintf(format, args...)}
}

// next returns the next byte, 0 at the end.
func (r *reader) next() byte { return r.peek(0) }

func (r *reader) peek(i int) byte {
	if r.pos+i < len(r.text) {
		return r.text[r.pos+i]
	}
	return 0
}

// rest is what is left of the line.
func (r *reader) rest() string {
	line, _, _ := strings.Cut(r.text[r.pos:], "\n")
	return line
}

// breaks reports whether a byte parts words: a blank, the end of a line, the end of the text.
func breaks(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == 0 }

// sign reports whether the next byte is a sign of YAML's, which stands alone.
func (r *reader) sign(c byte) bool { return r.next() == c && breaks(r.peek(1)) }

// blanks skips blanks in the line.
func (r *reader) blanks() {
	for r.next() == ' ' || r.next() == '\t' {
		r.pos++
	}
}

// ended reports whether nothing but a comment is left of the line.
func (r *reader) ended() bool {
	c := r.next()
	return c == 0 || c == '\n' || c == '#' && (r.pos == r.begin || breaks(r.text[r.pos-1]))
}

func (r *reader) newline() {
	r.pos++
	r.line++
	r.begin, r.counted, r.column = r.pos, r.pos, 0
}

// skip goes to the next character that is no blank, no end of a line and in no comment.
func (r *reader) skip() {
	for r.blanks(); r.pos < len(r.text) && r.ended(); r.blanks() {
		if r.pos += len(r.rest()); r.next() == '\n' {
			r.newline()
		}
	}
}

// nextLine is skip between the lines of blocks, whose indentation must be of blanks.
func (r *reader) nextLine() *fault {
	r.skip()
	before := r.text[r.begin:r.pos]
	if tab := strings.IndexByte(before, '\t'); tab >= 0 && r.pos < len(r.text) && strings.Trim(before, " \t") == "" {
		return &fault{place: at(r.line, tab+1), message: "a tab, which YAML does not take: indent by blanks"}
	}
	return nil
}

// indent is the number of bytes before the next one in its line.
func (r *reader) indent() int { return r.pos - r.begin }

// marker reports whether the line is a mark between documents.
func (r *reader) marker(mark string) bool {
	return r.pos == r.begin && strings.HasPrefix(r.text[r.pos:], mark) && breaks(r.peek(len(mark)))
}

// over reports whether the document is at its end.
func (r *reader) over() bool { return r.pos == len(r.text) || r.marker("---") || r.marker("...") }

// enter begins a list or a mapping; leave ends it.
func (r *reader) enter() *fault {
	if r.depth++; r.depth > mostDepth {
		return r.fault("more than %d lists and mappings inside each other", mostDepth)
	}
	return nil
}

func (r *reader) leave() { r.depth-- }
