// Package visible makes control characters visible. Names of files, columns, classes and groups come from anywhere; on a
// terminal or in a page they could clear the screen, make links, or turn the order of characters around.
package visible

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Text returns a text in which characters that nobody sees, but that change how others are shown, stand as escapes: control
// characters except \n and \t, breaks of lines and marks of direction of Unicode, byte order marks, and bytes that are no UTF-8.
// The escapes are \x1b for bytes and \u202e for characters, which means the same in a string of JSON.
func Text(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < ' ' && hidden(r):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func clean(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) }

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', 0x7f <= r && r < 0xa0: // C0, DEL and C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069: // of direction
		return true
	}
	return r == 0x2028 || r == 0x2029 || r == 0xfeff
}

// Writer writes Text to another writer. A character that is split between two calls of Write stays whole.
type Writer struct {
	w     io.Writer
	begun []byte // the first bytes of a character
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes a part of a text.
func (v *Writer) Write(b []byte) (int, error) {
	text := append(v.begun, b...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole -= i
			}
			break
		}
	}
	v.begun = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(v.w, Text(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes the bytes of a character whose end is missing.
func (v *Writer) Flush() error {
	_, err := io.WriteString(v.w, Text(string(v.begun)))
	v.begun = nil
	return err
}
