package rng

import (
	"math"
	"slices"
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

// TestGammaTail compares with closed forms: sums of Poisson probabilities for whole shapes, erfc for shape ½, and the recurrence
// Q(a+1, x) = Q(a, x) + xᵃ e⁻ˣ/Γ(a+1), which joins the series below a+1 and the fraction above.
func TestGammaTail(t *testing.T) {
	near := func(a, x, want float64) {
		if got := GammaTail(a, x); !(math.Abs(got-want) <= 1e-13) {
			t.Errorf("tail of Gamma(%v) above %v is %v, want %v", a, x, got, want)
		}
	}
	for _, x := range []float64{1e-9, 0.1, 0.9, 1.5, 2.4, 3, 7, 19.9, 40, 60} {
		near(0.5, x, math.Erfc(math.Sqrt(x)))
		term, sum := math.Exp(-x), 0.0
		for n := 1; n <= 60; n++ {
			sum += term
			term *= x / float64(n)
			near(float64(n), x, sum)
		}
		for _, a := range []float64{1e-3, 0.3, 1.7, 22.5} {
			lg, _ := math.Lgamma(a + 1)
			near(a+1, x, GammaTail(a, x)+math.Exp(a*math.Log(x)-x-lg))
		}
	}
	for _, a := range []float64{0.1, 1, 50, 1e5} {
		if GammaTail(a, 0) != 1 || GammaTail(a, math.Inf(1)) != 0 || GammaTail(a, -1) != 1 {
			t.Errorf("ends of Gamma(%v)", a)
		}
		// The median lies between a−1/3 and a (Chen and Rubin 1986).
		if !(GammaTail(a, a) < 0.5 && GammaTail(a, a-1./3) > 0.5) {
			t.Errorf("Gamma(%v): the median is not where it must be", a)
		}
	}
}

// Draws have their law: the distance of Kolmogorov and Smirnov between n draws and the distribution is above 2.88/√n with probability
// 1e-6 for all 8 shapes together. A shape off by 3 % is found.
func TestLogOfGamma(t *testing.T) {
	const n = 40000
	for i, a := range []float64{0.05, 0.4, 1, 1.5, 2, 3.5, 40, 900} {
		s := Key{Seed: 5, Purpose: Synthetic, Iteration: i}.Stream()
		u := make([]float64, n)
		for k := range u {
			u[k] = GammaTail(a, Exp(s.LogOfGamma(a)))
		}
		slices.Sort(u)
		far := 0.0
		for k, v := range u {
			far = max(far, v-float64(k)/n, float64(k+1)/n-v)
		}
		if !(far <= 2.88/math.Sqrt(n)) {
			t.Errorf("draws of Gamma(%v) are %v from their law", a, far)
		}
	}
	if x := (Key{Seed: 1, Purpose: Synthetic}).Stream().LogOfGamma(1e-6); !(x < -1000) || math.IsInf(x, 0) {
		t.Errorf("a draw of Gamma(1e-6) is e^%v", x)
	}
}
