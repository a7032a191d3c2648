package cells

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrText says that a cell is not a number.
var ErrText = errors.New("is not a number")

// Number reads the number in a cell; an empty cell is NaN. It is strict: ParseFloat alone would also take hexadecimal numbers
// and underscores, and turns numbers that are too large into an infinity. Blanks of all kinds around the number, a minus that is no hyphen
// and Fortran's exponents need no decision. A Notation reads what does. Its errors name the cell, except ErrText.
func Number(b []byte) (float64, error) {
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
	if len(word) > 0 && word[0] > '9' { // most words are numbers, for which this test is quick
		switch strings.ToLower(string(word[:min(len(word), 9)])) {
		case "nan":
			return math.NaN(), nil
		case "inf", "infinity":
			return math.Inf(int(sign)), nil
		}
	}
	for _, c := range b {
		if !IsNumberByte(c) {
			return odd(b)
		}
	}
	return parse(b)
}

// parse reads a text of the characters of numbers.
func parse(b []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err == nil:
		return v, nil
	case math.IsInf(v, 0):
		return 0, fmt.Errorf("%s is too large for a float64", Quote(b))
	}
	return 0, ErrText
}

// IsNumberByte reports whether a decimal number may have the character c.
func IsNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// Quote shows the beginning of a cell in an error.
func Quote(b []byte) string { return strconv.Quote(Clip(string(b[:min(len(b), 64)]))) }

// Clip shortens a text for an error.
func Clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// QuoteSome lists the first few names.
func QuoteSome(names []string) string {
	const few = 20
	q := make([]string, min(len(names), few))
	for i := range q {
		q[i] = strconv.Quote(Clip(names[i]))
	}
	if len(names) > few {
		q = append(q, "…")
	}
	return strings.Join(q, ", ")
}
