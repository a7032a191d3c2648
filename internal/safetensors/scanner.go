package safetensors

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads a JSON text (RFC 8259) once from its beginning to its end. What it returns is a part of the text, not a copy,
// except for texts with escapes.
type scanner struct {
	text []byte // valid UTF-8
	at   int
}

// errorf returns an error at the scanner's place.
func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", s.at, fmt.Sprintf(format, args...))
}

// peek skips blanks and returns the next byte, 0 at the end of the text.
func (s *scanner) peek() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take skips blanks and c. Another byte is an error.
func (s *scanner) take(c byte) error {
	if s.peek() != c {
		return s.errorf("found %s, want %c", s.found(), c)
	}
	s.at++
	return nil
}

// found describes the text at the scanner's place.
func (s *scanner) found() string {
	if s.at == len(s.text) {
		return "the end"
	}
	return fmt.Sprintf("%q", clip(s.text[s.at:]))
}

// clip is the beginning of a text, for an error.
func clip(text []byte) string {
	const few = 20
	if len(text) > few {
		return string(bytes.ToValidUTF8(text[:few], nil)) + "…"
	}
	return string(text)
}

// object reads an object. value reads what belongs to a key, which is valid until value returns.
func (s *scanner) object(value func(key []byte) error) error {
	return s.sequence('{', '}', func() error {
		key, err := s.quoted()
		if err != nil {
			return err
		}
		if err := s.take(':'); err != nil {
			return err
		}
		return value(key)
	})
}

// list reads an array, whose members value reads.
func (s *scanner) list(value func() error) error { return s.sequence('[', ']', value) }

// sequence reads members between open and end, with commas between them.
func (s *scanner) sequence(open, end byte, member func() error) error {
	if err := s.take(open); err != nil {
		return err
	}
	if s.peek() == end {
		s.at++
		return nil
	}
	for {
		if err := member(); err != nil {
			return err
		}
		if s.peek() != ',' {
			return s.take(end)
		}
		s.at++
	}
}

// quoted reads a text in quotes.
func (s *scanner) quoted() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.errorf("found %s, want a text in quotes", s.found())
	}
	from, escaped := s.at, false
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\':
			escaped = true
			s.at++
		case c < ' ':
			return nil, s.errorf("a control character within quotes")
		case c == '"':
			s.at++
			if !escaped {
				return s.text[from+1 : s.at-1], nil
			}
			return s.unescaped(s.text[from+1 : s.at-1])
		}
	}
	s.at = from
	return nil, s.errorf("the quote is never closed")
}

// unescaped returns a text from between quotes without its escapes.
func (s *scanner) unescaped(text []byte) ([]byte, error) {
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			plain = append(plain, text[i])
			continue
		}
		i++ // an escape is never last: its backslash would hide the quote
		if k := strings.IndexByte(`"\/bfnrt`, text[i]); k >= 0 {
			plain = append(plain, "\"\\/\b\f\n\r\t"[k])
			continue
		}
		r := codeUnit(text[i:])
		i += 4
		if utf16.IsSurrogate(r) && i+1 < len(text) && text[i+1] == '\\' { // the first half of a pair
			if r = utf16.DecodeRune(r, codeUnit(text[i+2:])); r == utf8.RuneError {
				r = -1
			}
			i += 6
		}
		if r < 0 || utf16.IsSurrogate(r) {
			return nil, s.errorf("%q: no such escape", clip(text))
		}
		plain = utf8.AppendRune(plain, r)
	}
	return plain, nil
}

// codeUnit is the value of uXXXX at the beginning of a text; −1 if there is something else.
func codeUnit(text []byte) rune {
	if len(text) < 5 || text[0] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[1:5]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// number reads a number as it is written.
func (s *scanner) number() ([]byte, error) {
	s.peek()
	from := s.at
	for s.at < len(s.text) && bytes.IndexByte([]byte("+-.eE0123456789"), s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at == from {
		return nil, s.errorf("found %s, want a number", s.found())
	}
	return s.text[from:s.at], nil
}
