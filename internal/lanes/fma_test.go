package lanes

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactFMA is x·y + z by math/big, for finite arguments: 600 bits hold it exactly.
func exactFMA(x, y, z float32) float32 {
	f := func(v float32) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(float64(v)) }
	p := f(x)
	p.Mul(p, f(y))
	s, _ := p.Add(p, f(z)).Float32()
	return s
}

func TestFMA32(t *testing.T) {
	inf, nan, zero := float32(math.Inf(1)), float32(math.NaN()), float32(0)
	negative := float32(math.Copysign(0, -1))
	for _, c := range [][4]float32{
		{inf, 1, 1, inf}, {inf, 0, 1, nan}, {inf, 1, -inf, nan}, {1, 1, -inf, -inf}, {nan, 1, 1, nan}, {1, nan, 1, nan},
		{1, 1, nan, nan}, {-inf, 2, 5, -inf}, {1, zero, negative, zero}, {-1, zero, negative, negative},
		{1, 1, -1, zero}, {math.MaxFloat32, 2, -math.MaxFloat32, math.MaxFloat32}, {math.MaxFloat32, 2, 0, inf},
		{math.MaxFloat32, 2, -inf, -inf},
	} {
		sameBits(t, "fma32", []float32{fma32(c[0], c[1], c[2])}, c[3:])
	}

	try := func(x, y, z float32) {
		t.Helper()
		have, want := fma32(x, y, z), exactFMA(x, y, z)
		if have != want {
			t.Fatalf("fma32(%g, %g, %g) = %g, want %g", x, y, z, have, want)
		}
	}
	// z has an odd last bit, and the product is half of that bit, less 2^−46 of itself. float64 rounds the sum to exactly the
	// middle; an emulation that rounds that again takes the even neighbour, which is wrong.
	const ulp = 1.0 / (1 << 23)
	for e := -100; e <= 100; e++ {
		for _, x := range []float32{1 + ulp, -1 - ulp} {
			for k := -26; k <= 0; k++ {
				y, z := float32(math.Ldexp(1-ulp, e+k)), float32(math.Ldexp(1+ulp, e))
				try(x, y, z)
				try(x, y, -z)
				try(x, y, float32(math.Ldexp(1, e)))
			}
			y, z := float32(math.Ldexp(1-ulp, e-24)), float32(math.Ldexp(1+ulp, e))
			if x > 0 && float32(float64(x)*float64(y)+float64(z)) == exactFMA(x, y, z) {
				t.Errorf("case of exponent %d is not a hard one", e)
			}
		}
	}
	// Sums on the middle or beside it, all exponents, denormals; bits at random.
	r := rand.New(rand.NewPCG(1, 2))
	trials := 200_000
	if testing.Short() {
		trials = 20_000
	}
	for range trials {
		x, y := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		var z float32
		switch r.IntN(3) {
		case 0:
			z = math.Float32frombits(r.Uint32())
		case 1:
			z = -x * y
		case 2:
			z = float32(math.Ldexp(float64(x*y), r.IntN(60)-30))
		}
		if s := float64(x) + float64(y) + float64(z); s-s == 0 {
			try(x, y, z)
		}
	}
	for range trials / 4 { // denormal results
		x := math.Float32frombits(r.Uint32()&0x80ffffff | 0x20000000)
		y := math.Float32frombits(r.Uint32()&0x80ffffff | 0x1f000000)
		z := math.Float32frombits(r.Uint32() & 0x80ffffff)
		try(x, y, z)
	}
}
