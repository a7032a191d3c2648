package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLoadF16Widens: every finite number of 16 bits is ±m·2^e, by the definition of binary16, on every kernel.
func TestLoadF16Widens(t *testing.T) {
	const features = 1<<16/Lanes + 5 // blocks of 8 and a rest
	at, src, row := make([]int32, features), make([]Float16, Lanes*features), new([Lanes]int)
	for f := range at {
		at[f] = int32(f * Lanes)
	}
	for i := range src {
		src[i] = Float16(i)
	}
	for i := range row {
		row[i] = i * features
	}
	for _, kernel := range Kernels() {
		defer setKernel(t, kernel)()
		dst := make([]float32, features*Lanes)
		mustLoad(t, at).F16(src, row, AsIs, dst)
		for i, h := range src {
			exponent, fraction := int(h>>10&31), float64(h&1023)
			want := math.Ldexp(1024+fraction, exponent-25)
			switch exponent {
			case 0:
				want = math.Ldexp(fraction, -24)
			case 31:
				continue
			}
			if h>>15 == 1 {
				want = math.Copysign(want, -1)
			}
			if got := dst[i%features*Lanes+i/features]; math.Float32bits(got) != math.Float32bits(float32(want)) {
				t.Fatalf("%s: %#04x is %v, want %v", kernel, h, got, want)
			}
		}
	}
}

// TestStandardiseAsInMemory: what is standardised in float64 when it is loaded has the bits of what was standardised before, also where it is −0
// and where a feature is constant.
func TestStandardiseAsInMemory(t *testing.T) {
	const features = 1100 // more than one call of assembly takes
	r := rand.New(rand.NewPCG(4, 2))
	s := &Standard{Mean: make([]float64, features), SD: make([]float64, features), To: .5}
	at, src, row := make([]int32, features), make([]float32, Lanes*features), new([Lanes]int)
	for f := range at {
		at[f] = int32((features - 1 - f) * (Lanes + 4))
		s.Mean[f], s.SD[f] = r.NormFloat64(), math.Exp(r.NormFloat64())
	}
	s.SD[7], s.Mean[8], s.Mean[9], s.SD[9] = 0, 0, 0, 1
	for i := range src {
		src[i] = float32(r.NormFloat64())
	}
	src[8], src[9] = float32(math.Copysign(0, -1)), 1+0x1p-23
	for i := range row {
		row[i] = i * features
	}
	for _, kernel := range Kernels() {
		defer setKernel(t, kernel)()
		dst := make([]float32, features*(Lanes+4))
		plan := mustLoad(t, at)
		plan.F32(src, row, AsIs, dst)
		plan.Standardise(s, dst)
		for i, v := range src {
			f := i % features
			d := (float64(v) - s.Mean[f]) / s.SD[f]
			want := float32(s.To * d)
			if s.SD[f] == 0 {
				want = 0
			}
			if got := dst[int(at[f])+i/features]; math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("%s: feature %d, example %d is %v, want %v", kernel, f, i/features, got, want)
			}
		}
	}
}
