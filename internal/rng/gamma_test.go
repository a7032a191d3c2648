package rng

import (
	"math"
	"testing"
)

// TestLogGamma compares with package math, whose error is below 1 ulp but near the zeros at 1 and 2.
func TestLogGamma(t *testing.T) {
	check := func(x float64) {
		want, _ := math.Lgamma(x)
		if got := LogGamma(x); !(math.Abs(got-want) <= 1e-14+6e-16*math.Abs(want)) {
			t.Errorf("LogGamma(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{1e-300, 1e-9, 0.5, 1, 1.5, 2, 2.5, 9.999999, 10, 10.5, 1e9, 1e300} {
		check(x)
	}
	s := Key{Seed: 6, Purpose: Synthetic}.Stream()
	for range 2000 {
		check(20 * s.Float64())
		check(Exp(20 * s.Float64()))
	}
	factorial := 1.0
	for n := 1; n <= 20; n++ { // exact in float64
		factorial *= float64(n)
		if got, want := LogGamma(float64(n)+1), Log(factorial); !(math.Abs(got-want) <= 2e-14) {
			t.Errorf("log %d! = %v, want %v", n, got, want)
		}
	}
}
