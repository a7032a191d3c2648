package data

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// errText says that a cell is not a number.
var errText = errors.New("is not a number")

// forMissing are texts that other programs write for a missing value, in lower case.
var forMissing = []string{"na", "n/a", "#n/a", "null", "none", "?", "-"}

// parseNumber is strict: ParseFloat alone would also take hexadecimal numbers and underscores, and turns numbers that
// are too large into an infinity. Its errors name the cell, except errText.
func parseNumber(b []byte) (float64, error) {
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
	switch strings.ToLower(string(word[:min(len(word), 9)])) {
	case "nan":
		return math.NaN(), nil
	case "inf", "infinity":
		return math.Inf(int(sign)), nil
	}
	for _, c := range b {
		if !isNumberByte(c) {
			if bytes.Count(b, []byte(",")) == 1 {
				return 0, fmt.Errorf("%s is not a number (the decimal mark is a point)", quote(b))
			}
			return 0, errText
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err == nil:
		return v, nil
	case math.IsInf(v, 0):
		return 0, fmt.Errorf("%s is too large for a float64", quote(b))
	}
	return 0, errText
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

func looksLikeHeader(rec []cell) bool {
	words := false
	for _, c := range rec {
		if len(c.text) == 0 {
			continue
		}
		if _, err := parseNumber(c.text); err == nil {
			return false
		}
		words = true
	}
	return words
}

// quote shows the beginning of a cell in an error.
func quote(b []byte) string { return strconv.Quote(clip(string(b[:min(len(b), 64)]))) }

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// quoteSome lists the first few names.
func quoteSome(names []string) string {
	const few = 20
	q := make([]string, min(len(names), few))
	for i := range q {
		q[i] = strconv.Quote(clip(names[i]))
	}
	if len(names) > few {
		q = append(q, "…")
	}
	return strings.Join(q, ", ")
}
