// Package numeral writes numbers for readers, such as 60,000 and −0.05 and ∞, and for JSON. It computes the medians and quantiles
// that pages and findings show.
package numeral

import (
	"math"
	"strconv"
	"strings"
)

// Fixed writes v with the given number of decimals, a true minus sign, and commas between thousands. NaN is a dash.
func Fixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	}
	return Signed(Grouped(strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)), v < 0)
}

// Grouped puts commas between the thousands of a decimal number without a sign.
func Grouped(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return whole
}

// Signed puts a minus sign before the text of a negative number, unless the text is a zero.
func Signed(s string, negative bool) string {
	if negative && strings.ContainsAny(s, "123456789") {
		return "−" + s
	}
	return s
}

// Count writes a whole number that is not negative: 60,000.
func Count(n int) string { return Grouped(strconv.Itoa(n)) }
