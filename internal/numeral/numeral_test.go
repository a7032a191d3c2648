package numeral

import (
	"math"
	"testing"
)

func TestFixed(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 0, "0"}, {999, 0, "999"}, {1000, 0, "1,000"}, {1234567, 0, "1,234,567"}, {-1234.5, 2, "−1,234.50"}, {123456.789, 1, "123,456.8"},
		{-0.04, 1, "0.0"}, {-0.06, 1, "−0.1"}, {math.Copysign(0, -1), 1, "0.0"},
		{math.NaN(), 1, "–"}, {math.Inf(1), 1, "∞"}, {math.Inf(-1), 1, "−∞"},
	} {
		if got := Fixed(c.v, c.decimals); got != c.want {
			t.Errorf("%v with %d decimals: %s, want %s", c.v, c.decimals, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for s, want := range map[string]string{"0": "0", "60000": "60,000", "999": "999", "18446744073709551615": "18,446,744,073,709,551,615", "1234.5678": "1,234.5678"} {
		if got := Grouped(s); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
