package cells

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Notation says how the numbers of a column are written, where they are not plain decimal numbers. The zero value is that of plain ones.
// In every other notation a number in parentheses is negative, and a minus may stand behind a number, as in books of accounts.
type Notation struct {
	Decimal   string `json:"decimal,omitempty"`   // the decimal mark; empty: a point
	Thousands string `json:"thousands,omitempty"` // the mark between thousands: , . ' or a blank of any kind, which is " "; empty: none
	Before    string `json:"before,omitempty"`    // the text before each number, such as $
	After     string `json:"after,omitempty"`     // the text behind each number, such as % or cm
	Books     bool   `json:"books,omitempty"`     // some numbers are in parentheses, or have their minus behind them
	Turned    int    `json:"turned,omitempty"`    // the numbers of the table that are negative for that
	Dash      bool   `json:"dash,omitempty"`      // some have a dash in the place of decimals that are 0, as 174.- or 4036,--
	Fortran   bool   `json:"fortran,omitempty"`   // some have an exponent of Fortran's, as 1.5D+03
}

// Marks are the values that Notation.Decimal and Notation.Thousands may have.
var (
	DecimalMarks   = []string{".", ","}
	ThousandsMarks = []string{",", ".", "'", " "}
)

// Check returns the first inconsistency of a notation that came from a file.
func (n *Notation) Check() error {
	known := func(mark string, marks []string) bool {
		return mark == "" || strings.Contains(strings.Join(marks, ""), mark) && len(mark) == 1
	}
	if !known(n.Decimal, DecimalMarks) || !known(n.Thousands, ThousandsMarks) || n.Thousands == n.decimal() {
		return fmt.Errorf("numbers with the decimal mark %q and %q between thousands", n.Decimal, n.Thousands)
	}
	if n.Turned < 0 {
		return fmt.Errorf("%d numbers in parentheses", n.Turned)
	}
	return nil
}

func (n *Notation) decimal() string {
	if n.Decimal == "" {
		return "."
	}
	return n.Decimal
}

// Number reads the number in a cell; an empty cell is NaN. A plain number that the notation reads otherwise, or not at all, is an error: a
// file that is written otherwise is not to be read by chance.
func (n *Notation) Number(b []byte) (float64, error) {
	v, err := Number(b)
	if err == nil && v != v || *n == (Notation{}) {
		return v, err
	}
	var room [48]byte
	w, ok := cut(b, room[:])
	if !ok || string(w.before) != n.Before || !sameUnit(string(w.after), n.After) {
		return 0, ErrText
	}
	f := form{decimal: n.decimal()[0]}
	if n.Thousands != "" {
		f.thousands = n.Thousands[0]
	}
	if !f.reads(w.core) {
		return 0, ErrText
	}
	return w.value(f, b)
}

// Learn takes the texts around the number in a cell as those of all numbers, if it has a number.
func (n *Notation) Learn(b []byte) {
	if w, ok := cut(b, nil); ok {
		n.Before, n.After = string(w.before), string(w.after)
	}
}

// String says what the numbers of a notation have, as in "a decimal comma, and points between thousands".
func (n *Notation) String() string {
	var parts []string
	if n.Decimal == "," {
		parts = append(parts, "a decimal comma")
	}
	if n.Thousands != "" {
		parts = append(parts, map[string]string{",": "commas", ".": "points", "'": "apostrophes", " ": "blanks"}[n.Thousands]+" between thousands")
	}
	if n.Before != "" {
		parts = append(parts, n.Before+" before them")
	}
	if n.After != "" {
		parts = append(parts, n.After+" behind them")
	}
	if n.Dash {
		parts = append(parts, "a dash in the place of decimals that are 0")
	}
	if n.Fortran {
		parts = append(parts, "exponents of Fortran's, as in 1.5D+03")
	}
	if n.Books {
		text := "parentheses or a minus behind negative ones"
		if n.Turned > 0 {
			text += fmt.Sprintf(" (%s)", numeral.Count(n.Turned))
		}
		parts = append(parts, text)
	}
	if len(parts) > 1 {
		return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
	}
	return strings.Join(parts, "")
}

// form is a decimal mark and a mark between thousands; 0: none.
type form struct{ decimal, thousands byte }

// forms are those that a column may have: first those with a decimal point, each time first the one without thousands.
var forms = [...]form{{'.', 0}, {'.', ','}, {'.', '\''}, {'.', ' '}, {',', 0}, {',', '.'}, {',', '\''}, {',', ' '}}

const (
	withPoint = 0x0f // the forms with a decimal point, as bits
	withComma = 0xf0 // those with a decimal comma
)

// written is a cell that may hold a number.
type written struct {
	negative      bool
	books         bool   // in parentheses, or with the minus behind it
	behind        bool   // with the minus behind it
	dash          bool   // with a dash in the place of its decimals
	before, after []byte // the texts around it
	core          []byte // digits and marks: . , ' and " " for blanks of all kinds
	exponent      []byte // a sign and digits; empty: none
}

// longestBefore bounds the bytes of a text before a number: currencies are short.
const longestBefore = 16

// cut cuts a cell into a number and the texts around it; ok reports whether it looks like one in some form. The core is in
// room, as long as it fits.
func cut(b, room []byte) (w written, ok bool) {
	b = unquoted(trimBlanks(b))
	signs, open := 0, false
	var before []byte
	for len(b) > 0 && !startsNumber(b) { // what stands before the number
		r, size := decode(b)
		switch {
		case isMinus(r) || r == '+':
			signs++
			w.negative = r != '+'
		case r == '(' && !open:
			open, w.books = true, true
		case IsBlank(r) && len(before) == 0:
		default:
			if before = append(before, b[:size]...); len(before) > longestBefore {
				return w, false
			}
		}
		b = b[size:]
	}
	w.before = trimBlanks(before)
	core, rest := takeCore(b, room[:0])
	if len(core) == 0 {
		return w, false
	}
	w.core = core
	w.exponent, rest = takeExponent(core, rest)
	rest = trimBlanks(rest)
	if last := core[len(core)-1]; (last == '.' || last == ',') && len(w.exponent) == 0 {
		k := len(rest)
		rest = takeDash(rest)
		w.dash = len(rest) < k
		rest = trimBlanks(rest)
	}
	if open {
		k := bytes.IndexByte(rest, ')')
		if k < 0 || signs > 0 {
			return w, false
		}
		rest, w.negative = trimBlanks(append(bytes.Clone(rest[:k]), rest[k+1:]...)), true
	} else if r, size := decode(rest); isMinus(r) && signs == 0 && len(rest) == size {
		rest, w.negative, w.books, w.behind = nil, true, true, true
	}
	w.after = rest
	return w, signs <= 1 && isBefore(w.before) && isUnit(w.after)
}

// startsNumber reports whether a text begins with a digit, or with a decimal mark before one.
func startsNumber(b []byte) bool {
	return isDigit(b[0]) || (b[0] == '.' || b[0] == ',') && len(b) > 1 && isDigit(b[1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// takeCore takes digits and the marks between them, and a decimal mark behind them. Blanks and apostrophes count where a digit follows.
func takeCore(b, core []byte) (_, rest []byte) {
	for len(b) > 0 {
		r, size := decode(b)
		switch {
		case isDigit(b[0]):
		case r == '.' || r == ',':
		case isApostrophe(r) && len(b) > size && isDigit(b[size]):
			r = '\''
		case IsBlank(r) && len(b) > size && isDigit(b[size]):
			r = ' '
		default:
			return core, b
		}
		core, b = append(core, byte(r)), b[size:]
	}
	return core, b
}

// takeDash takes the dash, or two of them, behind a decimal mark, which stand for no cents.
func takeDash(b []byte) (rest []byte) {
	for range 2 {
		if r, size := decode(b); isMinus(r) || r == '\u2014' {
			b = b[size:]
		}
	}
	return b
}

// takeExponent takes an exponent: e, or d as Fortran has it behind a mantissa with a decimal mark, and with a sign or two digits.
func takeExponent(core, b []byte) (exponent, rest []byte) {
	if len(b) < 2 || b[0]|0x20 != 'e' && (b[0]|0x20 != 'd' || !bytes.ContainsAny(core, ".,")) {
		return nil, b
	}
	k := 1
	if r, size := decode(b[1:]); r == '+' || isMinus(r) {
		if k += size; r != '+' {
			exponent = append(exponent, '-')
		}
	}
	from := k
	for k < len(b) && isDigit(b[k]) {
		k++
	}
	if k == from || b[0]|0x20 == 'd' && k < 3 {
		return nil, b
	}
	return append(exponent, b[from:k]...), b[k:]
}

// Fortran reports whether a number has an exponent of Fortran's, as 1.5D+03: a sign and one digit, or two or three digits behind the D.
func Fortran(number []byte) bool {
	n := len(number)
	return n >= 5 && (number[n-3]|0x20 == 'd' || number[n-4]|0x20 == 'd' || number[n-5]|0x20 == 'd')
}

// cutAt cuts a text at the first of a byte.
func cutAt(b []byte, mark byte) (before, after []byte, found bool) {
	if k := bytes.IndexByte(b, mark); k >= 0 {
		return b[:k], b[k+1:], true
	}
	return b, nil, false
}

// readable are the forms that read the number, as bits.
func (w *written) readable() (mask uint8) {
	for k, f := range forms {
		if f.reads(w.core) && (len(w.exponent) == 0 || f.thousands == 0 || bytes.IndexByte(w.core, f.thousands) < 0) {
			mask |= 1 << k
		}
	}
	return mask
}

// reads reports whether digits and marks are a number in a form: at most one decimal mark, and thousands only between groups before it.
func (f form) reads(core []byte) bool {
	whole, fraction, _ := cutAt(core, f.decimal)
	if bytes.ContainsAny(fraction, ".,' ") || len(whole)+len(fraction) == 0 {
		return false
	}
	if f.thousands == 0 || bytes.IndexByte(whole, f.thousands) < 0 {
		return !bytes.ContainsAny(whole, ".,' ")
	}
	return grouped(whole, f.thousands)
}

// grouped reports whether digits stand in groups of three, the first of which may be shorter and does not begin with 0. Groups of two before
// the last one, as in 12,34,567, are those of India.
func grouped(whole []byte, mark byte) bool {
	first, rest, _ := cutAt(whole, mark)
	if len(first) == 0 || len(first) > 3 || first[0] == '0' || bytes.ContainsAny(first, ".,' ") {
		return false
	}
	size := 3
	if mark == ',' && len(first) < 3 && bytes.IndexByte(rest, mark) == 2 {
		size = 2
	}
	for more := true; more; {
		var group []byte
		if group, rest, more = cutAt(rest, mark); !more {
			size = 3
		}
		if len(group) != size || bytes.ContainsAny(group, ".,' ") {
			return false
		}
	}
	return true
}

// value is the number in a form that reads it. An error quotes the cell.
func (w *written) value(f form, cell []byte) (float64, error) {
	var room [64]byte
	plain := room[:0]
	if w.negative {
		plain = append(plain, '-')
	}
	for _, c := range w.core {
		switch {
		case c == f.decimal:
			plain = append(plain, '.')
		case isDigit(c):
			plain = append(plain, c)
		}
	}
	if len(w.exponent) > 0 {
		plain = append(append(plain, 'e'), w.exponent...)
	}
	v, err := strconv.ParseFloat(string(plain), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is too large for a float64", Quote(cell))
	}
	return v, nil
}
