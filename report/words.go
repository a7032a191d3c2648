package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// percent writes 0.937 as 93.7 %.
func percent(v float64) string { return unbroken(numeral.Percent(v, 1)) }

// percentRound writes 0.937 as 94 %.
func percentRound(v float64) string { return unbroken(numeral.Percent(v, 0)) }

// unbroken keeps a number and its unit on one line.
func unbroken(s string) string { return strings.Replace(s, " ", "\u00a0", 1) }

// fixed writes v with a given number of decimals.
func fixed[T ~float64](v T, decimals int) string { return numeral.Fixed(float64(v), decimals) }

// significant writes four significant digits of a number of any size.
func significant[T ~float64](v T) string { return numeral.Significant(float64(v)) }

// shortest writes a value that was rounded to float32 with the digits that it had before. size is the magnitude of the values
// beside it.
func shortest(v, size float64) string {
	size = max(math.Abs(v), size)
	if v-v != 0 || size < 1e-9 || size >= 1e9 {
		return significant(v)
	}
	decimals := max(5-int(math.Floor(math.Log10(size))), 0)
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if decimals > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return numeral.Signed(numeral.Grouped(s), v < 0)
}

func count(n int) string { return numeral.Grouped(strconv.Itoa(n)) }

// several writes 1 island, 8 islands.
func several(n int, what string) string { return numeral.Several(n, what) }

// number returns the value of an optional number, NaN if it is missing.
func number(v *uq.Number) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// ShareOf writes a share of n with so many decimals, and its 95 % interval if n is small; a dash for none.
func ShareOf(share float64, n, decimals int) string {
	text := unbroken(numeral.Percent(share, decimals))
	if n == 0 || n >= uq.Small || math.IsNaN(share) {
		return text
	}
	low, high := uq.Wilson(share*float64(n), float64(n))
	return text + " (" + fixed(100*low, 0) + " to " + fixed(100*high, 0) + ")"
}

// AreaOf writes an AUROC with so many decimals, and its 95 % interval if either the negatives or the positives are few.
func AreaOf(area float64, negative, positive, decimals int) string {
	text := fixed(area, decimals)
	if min(negative, positive) >= uq.Small || math.IsNaN(area) {
		return text
	}
	low, high := uq.AUROCInterval(area, negative, positive)
	return text + " (" + fixed(low, 2) + "–" + fixed(high, 2) + ")"
}
