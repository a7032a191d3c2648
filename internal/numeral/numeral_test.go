package numeral

import (
	"encoding/json"
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

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0.937, 1, "93.7 %"}, {0, 1, "0.0 %"}, {1, 0, "100 %"}, {-0.0001, 1, "0.0 %"}, {-0.5, 1, "−50.0 %"}, {12.34, 0, "1,234 %"},
		{math.NaN(), 1, "–"}, {math.Inf(1), 1, "∞ %"}, {math.Inf(-1), 1, "−∞ %"},
	} {
		if got := Percent(c.v, c.decimals); got != c.want {
			t.Errorf("%v with %d decimals: %s, want %s", c.v, c.decimals, got, c.want)
		}
	}
}

func TestRate(t *testing.T) {
	for v, want := range map[float64]string{0.95: "95 %", 0.07: "7 %", 0.29: "29 %", 0.999: "99.9 %", 1.0 / 3: "33.33333333 %", 0.5: "50 %"} {
		if got := Rate(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {math.NaN(), "–"}, {math.Inf(1), "∞"}, {math.Inf(-1), "−∞"},
		{0.08, "0.08000"}, {1, "1.000"}, {-1.23456, "−1.235"}, {12.3456, "12.35"}, {123.456, "123.5"}, {1234.56, "1,235"},
		{-12345.6, "−12,346"}, {123456789, "123,456,789"}, {9.99949, "9.999"}, {9.9999, "10.00"}, {999.96, "1,000"}, {0.99996, "1.000"},
		{1e-4, "0.0001000"}, {0.99996e-4, "0.0001000"}, {1.5e-5, "1.5e-05"}, {-1.23456e-7, "−1.235e-07"}, {5e-324, "4.941e-324"},
		{999999999.4, "999,999,999"}, {1e9, "1e+09"}, {-1.23456e12, "−1.235e+12"}, {math.MaxFloat64, "1.798e+308"},
	} {
		if got := Significant(c.v); got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
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

func TestSeveral(t *testing.T) {
	for n, want := range map[int]string{0: "0 islands", 1: "1 island", 8: "8 islands", 1000: "1,000 islands"} {
		if got := Several(n, "island"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	raw, err := json.Marshal([]Number{0.1, 1e-300, Number(math.NaN()), Number(math.Inf(1)), Number(math.Inf(-1))})
	if want := `[0.1,1e-300,"NaN","Infinity","-Infinity"]`; err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
	var back []Number
	if err := json.Unmarshal(raw, &back); err != nil || len(back) != 5 || back[1] != 1e-300 || !math.IsNaN(float64(back[2])) || !math.IsInf(float64(back[4]), -1) {
		t.Errorf("%s is read as %v, %v", raw, back, err)
	}
	if err := json.Unmarshal([]byte(`["nan"]`), &back); err == nil {
		t.Error("nan without capitals is read")
	}
}

// Words around numbers.
func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Several(1, "row"), "1 row"}, {Several(0, "row"), "0 rows"}, {Several(2000, "row"), "2,000 rows"},
		{List(nil), ""}, {List([]string{"a"}), "a"}, {List([]string{"a", "b"}), "a and b"}, {List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestCapital: a word becomes the beginning of a sentence, and a name stays a name.
func TestCapital(t *testing.T) {
	for text, want := range map[string]string{
		"no run is chosen": "No run is chosen", "über allem": "Über allem", "epochs=3000 is the best": "epochs=3000 is the best",
		"net.safetensors is gone": "net.safetensors is gone", "x is 0": "x is 0", "": "", "Done": "Done",
	} {
		if got := Capital(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	v := []float64{4, math.NaN(), 1, 3, 2, math.Inf(1)}
	if Median(v) != 2.5 || Quantile(v, 0) != 1 || Quantile(v, 1) != 4 || Quantile(v, .25) != 1.75 || !math.IsNaN(Median(nil)) {
		t.Error(Median(v), Quantile(v, 0), Quantile(v, 1), Quantile(v, .25))
	}
}

func TestVector(t *testing.T) {
	for want, x := range map[string][]float64{
		"[]":                        nil,
		"[1.5 -2 0.333333 NaN]":     {1.5, -2, 1. / 3, math.NaN()},
		"[1 2 3 4 5 6 7 8 9 0 1 2]": {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2},
		"[1 2 3 4 5 6 7 8 9 0 1 2 … (13 in all)]": {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3},
	} {
		if got := Vector(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
