package rng

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"os"
	"testing"
)

func TestFunctionsAreWithinUlps(t *testing.T) {
	raw, err := os.ReadFile("testdata/fmath.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string][][2]float64
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	funcs := map[string]func(float64) float64{"exp": Exp, "log": Log, "erf": Erf, "erfc": Erfc, "atan": func(x float64) float64 { return Atan2(x, 1) }}
	bounds := map[string]float64{"exp": 1, "log": 1, "erf": 2, "erfc": 2, "atan": 1}
	if len(golden) != len(funcs) {
		t.Errorf("golden values of %d functions, want %d", len(golden), len(funcs))
	}
	for name, cases := range golden {
		if len(cases) == 0 {
			t.Errorf("no golden value of %s", name)
		}
		f, ok := funcs[name]
		if !ok {
			t.Fatalf("unknown function %q", name)
		}
		worst := 0.0
		for _, c := range cases {
			got, want := f(c[0]), c[1]
			ulp := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
			e := math.Abs(got-want) / ulp
			worst = max(worst, e)
			if !(e <= bounds[name]) {
				t.Errorf("%s(%v) = %v, want %v: %.1f ulp", name, c[0], got, want, e)
			}
		}
		t.Logf("%s: at most %.0f ulp from the rounded value over %d points", name, worst, len(cases))
	}
}

func TestFunctionsAtTheEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"exp(-Inf)", Exp(-inf), 0}, {"exp(Inf)", Exp(inf), inf}, {"exp(710)", Exp(710), inf}, {"exp(-746)", Exp(-746), 0},
		{"log(0)", Log(0), -inf}, {"log(Inf)", Log(inf), inf}, {"log(-1)", Log(-1), nan}, {"log(NaN)", Log(nan), nan},
		{"exp(NaN)", Exp(nan), nan},
		{"erf(0)", Erf(0), 0}, {"erf(Inf)", Erf(inf), 1}, {"erf(-Inf)", Erf(-inf), -1}, {"erf(NaN)", Erf(nan), nan},
		{"erf(5e-324)", Erf(5e-324), 5e-324}, {"erf(-9)", Erf(-9), -1},
		{"erfc(0)", Erfc(0), 1}, {"erfc(Inf)", Erfc(inf), 0}, {"erfc(-Inf)", Erfc(-inf), 2}, {"erfc(NaN)", Erfc(nan), nan},
		{"erfc(28)", Erfc(28), 0}, {"erfc(-9)", Erfc(-9), 2},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The bits are part of the format of every result. A machine or compiler that rounds differently fails here.
func TestFunctionsAreFrozen(t *testing.T) {
	frozen := func(name string, want uint64, outputs func(u float64) []float64) {
		h := fnv.New64a()
		s := Key{Seed: 3, Purpose: Synthetic}.Stream()
		for range 20000 {
			for _, y := range outputs(s.Float64()) {
				h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(y)))
			}
		}
		if got := h.Sum64(); got != want {
			t.Errorf("hash of the outputs of %s %#x, want %#x: do not change the golden value without a new format version", name, got, want)
		}
	}
	frozen("exp and log", 0x71416dea0b59563d, func(u float64) []float64 {
		return []float64{Exp(float64(1400*u) - 700), Exp(2*u - 1), Log(u), Log(Exp(float64(1400*u) - 700))}
	})
	frozen("erf and erfc", 0x41af144c6c71e9b1, func(u float64) []float64 {
		return []float64{Erf(float64(13*u) - 6.5), Erf(2*u - 1), Erfc(float64(13*u) - 6.5), Erfc(27 * u)}
	})
	frozen("the angle and log gamma", 0xff355ff9c074e2a3, func(u float64) []float64 {
		return []float64{Atan2(u, 1-u), Atan2(u-0.5, float64(u*u)-0.25), LogGamma(20 * u), LogGamma(Exp(20 * u))}
	})
	frozen("tails and draws of gamma distributions", 0x5148a53a1e3e2feb, func(u float64) []float64 {
		return []float64{GammaTail(10*u, 5), GammaTail(4, 9*u), Key{Seed: math.Float64bits(u)}.Stream().LogOfGamma(3 * u)}
	})
	frozen("functions near 0", 0x5d4ee93da90a4f09, func(u float64) []float64 {
		return []float64{Expm1(u - 0.5), Expm1(float64(20*u) - 10), Log1p(u - 0.5), Log1p(4 * u), Expm1(u * 1e-9), Log1p(u * -1e-9)}
	})
}
