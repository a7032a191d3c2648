package rng

import (
	"math"
	"testing"
)

// TestNearFunctions: e^x − 1 and ln(1+x) are those of package math, to a few units in the last place, from the smallest numbers on.
func TestNearFunctions(t *testing.T) {
	s := Key{Seed: 5, Purpose: Synthetic}.Stream()
	check := func(name string, x, got, want float64) {
		ulp := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
		if !(math.Abs(got-want) <= 4*ulp) && got != want {
			t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
		}
	}
	for range 50_000 {
		u := 2*s.Float64() - 1
		for _, x := range []float64{u, 40 * u, 600 * u, math.Copysign(Exp(-700*math.Abs(u)), u)} {
			check("expm1", x, Expm1(x), math.Expm1(x))
			check("log1p", math.Abs(x), Log1p(math.Abs(x)), math.Log1p(math.Abs(x)))
			if x > -1 {
				check("log1p", x, Log1p(x), math.Log1p(x))
			}
		}
	}
	inf := math.Inf(1)
	for _, c := range [][2]float64{
		{Expm1(0), 0}, {Expm1(inf), inf}, {Expm1(-inf), -1}, {Expm1(5e-324), 5e-324}, {Expm1(800), inf}, {Expm1(-800), -1},
		{Log1p(0), 0}, {Log1p(inf), inf}, {Log1p(-1), -inf}, {Log1p(5e-324), 5e-324},
	} {
		if c[0] != c[1] {
			t.Errorf("%v, want %v", c[0], c[1])
		}
	}
	for _, v := range []float64{Expm1(math.NaN()), Log1p(math.NaN()), Log1p(-1.5)} {
		if !math.IsNaN(v) {
			t.Errorf("%v, want NaN", v)
		}
	}
}
