package config

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// token is a scalar as it is written: a key or a value.
type token struct {
	place  place
	text   string // without quotes
	quoted bool
}

// surroundings of a scalar: which characters end it if it has no quotes.
type surroundings int

const (
	inBlock  surroundings = iota
	inFlow                // in brackets, or a value in braces
	inBraces              // a key in braces, which a colon ends even without a blank after it: {a:1}
)

// flowSigns are the characters of lists and mappings in one line.
const flowSigns = ",[]{}"

// notUsed names the parts of YAML that no config uses, by their first characters.
var notUsed = map[byte]string{
	'&': "anchor is not used in configs: write the value itself", '*': "alias is not used in configs: write the value itself",
	'!': "tag is not used in configs: write the value itself", '%': "a directive or a name that begins with %: write a name in quotes",
	'|': severalLines, '>': severalLines, '@': reserved, '`': reserved,
	'#': "a comment has a blank before it; write a text that begins with # in quotes",
}

const (
	severalLines = "a text over several lines is not used in configs: write it in one line, in double quotes with \\n"
	reserved     = "YAML keeps this character for later: write a text that begins with it in quotes"
)

// token reads a scalar, which is in one line.
func (r *reader) token(in surroundings) (token, *fault) {
	t := token{place: r.here()}
	c := r.next()
	switch {
	case c == '"' || c == '\'':
		text, f := r.quoted(c)
		t.text, t.quoted = text, true
		return t, f
	case notUsed[c] != "":
		return t, r.fault("%s", notUsed[c])
	case r.sign('?'):
		return t, r.fault("a key after a question mark is not used in configs: write key: value")
	case r.sign('-'):
		return t, r.fault("an item of a list has a line of its own, or stands in brackets: [a, b]")
	case c == ':' && r.colon(in):
		return t, r.fault("a colon without a key before it")
	case strings.IndexByte(flowSigns, c) >= 0:
		return t, r.fault("%c where a name or a value is wanted: write a text that begins with it in quotes", c)
	}
	from, to := r.pos, r.pos // to: after the last character that is no blank
	for ; !r.ended() && !r.colon(in) && (in == inBlock || strings.IndexByte(flowSigns, r.next()) < 0); r.pos++ {
		if c := r.next(); c != ' ' && c != '\t' {
			to = r.pos + 1
		}
	}
	t.text = r.text[from:to]
	return t, nil
}

// colon reports whether the next byte is the colon after a key without quotes.
func (r *reader) colon(in surroundings) bool {
	after := r.peek(1)
	return r.next() == ':' && (in == inBraces || breaks(after) || in == inFlow && strings.IndexByte(flowSigns, after) >= 0)
}

// quoted reads a text in quotes of either kind.
func (r *reader) quoted(quote byte) (string, *fault) {
	begun := r.here()
	var b strings.Builder
	for r.pos++; r.next() != quote || quote == '\'' && r.peek(1) == quote; r.pos++ {
		switch c := r.next(); {
		case c == 0:
			return "", &fault{place: begun, message: "the quote at the end of this text is missing"}
		case c == '\n':
			return "", &fault{place: begun, message: "the quote at the end of this line is missing; a text over several lines is written in one, in double quotes with \\n"}
		case c == '\'' && quote == '\'':
			r.pos++ // the first of two, which stand for one
			b.WriteByte(c)
		case c == '\\' && quote == '"':
			char, size := escaped(r.text[r.pos:min(r.pos+longestEscape, len(r.text))])
			if size == 0 {
				return "", r.fault(`no escape begins with %s: write a backslash as \\`, excerpt(r.rest()[:min(2, len(r.rest()))]))
			}
			b.WriteRune(char)
			r.pos += size - 1
		default:
			b.WriteByte(c)
		}
	}
	r.pos++
	return b.String(), nil
}

// escapes are the characters after a backslash that stand for another character.
var escapes = map[byte]rune{
	'0': 0, 'a': '\a', 'b': '\b', 't': '\t', '\t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': 0x1b, ' ': ' ', '"': '"', '/': '/', '\\': '\\',
	'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029,
}

// digits are the numbers of hexadecimal digits after a backslash and a letter.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// longestEscape is the length of a character above U+FFFF as JSON writes it.
const longestEscape = len(`\ud83d\ude00`)

// escaped returns the character that the beginning of a text stands for, and the length of the beginning; 0 if there is no
// such escape. JSON writes characters above U+FFFF as two escapes.
func escaped(text string) (char rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	if char, ok := escapes[text[1]]; ok {
		return char, 2
	}
	n := digits[text[1]]
	if n == 0 || len(text) < 2+n {
		return 0, 0
	}
	code, err := strconv.ParseUint(text[2:2+n], 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, 0
	}
	if char = rune(code); !utf16.IsSurrogate(char) {
		return char, 2 + n
	}
	if text = text[2+n:]; n != 4 || len(text) < 6 || text[:2] != `\u` {
		return 0, 0
	}
	low, err := strconv.ParseUint(text[2:6], 16, 32)
	if char = utf16.DecodeRune(char, rune(low)); err != nil || char == utf8.RuneError {
		return 0, 0
	}
	return char, longestEscape
}

// name reports whether a token is a text, as keys are, and no number or another value.
func (t token) name() bool {
	_, text := t.node().scalar.(string)
	return text && (t.quoted || t.text != "<<")
}

// constants are the words that are not texts.
var constants = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false,
	".inf": math.Inf(1), ".Inf": math.Inf(1), ".INF": math.Inf(1), "-.inf": math.Inf(-1), "-.Inf": math.Inf(-1), "-.INF": math.Inf(-1),
	".nan": math.NaN(), ".NaN": math.NaN(), ".NAN": math.NaN(),
}

// node returns the value that a token stands for.
func (t token) node() *node {
	n := &node{place: t.place, scalar: t.text}
	if t.quoted {
		return n
	}
	if v, ok := constants[t.text]; ok {
		n.scalar = v
	} else if v := numberOf(t.text); v != nil {
		n.scalar = v
		if _, float := v.(float64); !float {
			n.text = t.text
		}
	}
	return n
}

// numberOf returns the number that a text is: an int64 below 0, a uint64, or a float64; nil if it is none. Whole numbers may be
// written in other bases, 0x1F, 0o17 or 017, 0b1, and digits may be parted by underscores.
func numberOf(text string) any {
	if text == "" || strings.IndexByte("+-.0123456789", text[0]) < 0 {
		return nil
	}
	whole := strings.ReplaceAll(text, "_", "")
	size := strings.TrimLeft(whole, "+-")
	if sign := whole[:len(whole)-len(size)]; len(sign) < 2 {
		base := 10
		if len(size) > 1 && size[0] == '0' {
			base = 8
			if b, ok := map[byte]int{'x': 16, 'o': 8, 'b': 2}[size[1]]; ok {
				base, size = b, size[2:]
			}
		}
		if u, err := strconv.ParseUint(size, base, 64); err == nil && sign != "-" {
			return u
		}
		if i, err := strconv.ParseInt("-"+size, base, 64); err == nil && sign == "-" {
			return i
		}
	}
	if strings.Trim(whole, "+-.0123456789eE") != "" {
		return nil
	}
	if v, err := strconv.ParseFloat(whole, 64); err == nil {
		return v
	}
	return nil
}
