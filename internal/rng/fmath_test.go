package rng

import (
	"encoding/json"
	"hash/fnv"
	"math"
	"os"
	"testing"
)

func TestFunctionsAreWithinOneUlp(t *testing.T) {
	raw, err := os.ReadFile("testdata/fmath.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string][][2]float64
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	funcs := map[string]func(float64) float64{"exp": Exp, "log": Log}
	for name, cases := range golden {
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
			if !(e <= 1) {
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
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The bits are part of the format of every result; a machine or compiler that rounds differently fails here.
func TestFunctionsAreFrozen(t *testing.T) {
	h := fnv.New64a()
	add := func(x float64) {
		b := math.Float64bits(x)
		for range 8 {
			h.Write([]byte{byte(b)})
			b >>= 8
		}
	}
	s := Key{Seed: 3, Purpose: Synthetic}.Stream()
	for range 20000 {
		u := s.Float64()
		add(Exp(1400*u - 700))
		add(Exp(2*u - 1))
		add(Log(u))
		add(Log(Exp(1400*u - 700)))
	}
	if got, want := h.Sum64(), uint64(0x71416dea0b59563d); got != want {
		t.Errorf("hash of the outputs %#x, want %#x: do not change the golden value without a new format version", got, want)
	}
}
