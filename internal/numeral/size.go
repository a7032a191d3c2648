package numeral

import (
	"math"
	"strconv"
	"strings"
)

// Percent writes a share of 1 with the given number of decimals: 0.937 as 93.7 %. NaN is a dash.
func Percent(share float64, decimals int) string {
	if math.IsNaN(share) {
		return Fixed(share, 0)
	}
	return Fixed(100*share, decimals) + " %"
}

// Rate writes a share of 1 with the digits that it was given with: 0.95 as 95 %.
func Rate(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e10)/1e8, 'f', -1, 64) + " %"
}

// Significant writes a number of any size with four significant digits, whole numbers up to 1e9 with all their digits. Sizes
// below 1e-4 and from 1e9 on have an exponent, as 1.5e-05.
func Significant(v float64) string {
	if v == 0 || v-v != 0 { // v-v is NaN for NaN and infinities
		return Fixed(v, 0)
	}
	const digits = 4
	size := math.Abs(v)
	_, power, _ := strings.Cut(strconv.FormatFloat(size, 'e', digits-1, 64), "e") // of the rounded number: 9.9999 is 10.00
	exponent, _ := strconv.Atoi(power)
	if exponent < -4 || size >= 1e9 {
		return Signed(strconv.FormatFloat(size, 'g', digits, 64), v < 0)
	}
	return Fixed(v, max(digits-1-exponent, 0))
}
