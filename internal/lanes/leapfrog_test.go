package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Each kernel has the bits of its definition, element by element, at all lengths and in calls that are cut.
func TestLeapfrogKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 17))
	lengths := []int{1<<16 + 13, 2<<16 + 8}
	for n := range 70 {
		lengths = append(lengths, n)
	}
	eachKernel(t, func(t *testing.T) {
		for _, n := range lengths {
			x, y, z, w := doubles(r, n), doubles(r, n), doubles(r, n), doubles(r, n)
			a, b := r.NormFloat64(), r.NormFloat64()
			compare := func(name string, want func(i int) float64, run func(out []float64), before []float64) {
				t.Helper()
				out := guard(before, n%5, 12345)
				run(out.words)
				for i, have := range out.words {
					if !sameBits64(have, want(i)) {
						t.Fatalf("%s: element %d of %d is %v, want %v", name, i, n, have, want(i))
					}
				}
				out.check(t, name)
			}
			scaled := func(i int) float64 { return x[i] + float64(a*y[i]) }
			compare("AddScaled", scaled, func(out []float64) { AddScaled(out, x, a, y) }, w)
			compare("AddScaled to x", scaled, func(out []float64) { AddScaled(out, out, a, y) }, x)
			compare("AddScaled to y", scaled, func(out []float64) { AddScaled(out, x, a, out) }, y)
			compare("Kick", func(i int) float64 { return x[i] + float64(a*(float64(b*y[i])+z[i])) },
				func(out []float64) { Kick(out, a, b, y, z) }, x)
			compare("NormalGradient", func(i int) float64 { return -float64((x[i] - y[i]) * z[i]) },
				func(out []float64) { NormalGradient(x, y, z, out) }, w)

			var squares [4]float64
			var terms [2]float64
			for i := range n {
				squares[i%4] += float64(x[i] * x[i])
				d := x[i] - y[i]
				terms[i%2] += float64(d * float64(d*z[i]))
			}
			if have, want := Squares(x), squares[0]+squares[1]+(squares[2]+squares[3]); !sameBits64(have, want) {
				t.Fatalf("Squares of %d numbers is %v, want %v", n, have, want)
			}
			if have, want := NormalSquares(x, y, z), terms[0]+terms[1]; !sameBits64(have, want) {
				t.Fatalf("NormalSquares of %d numbers is %v, want %v", n, have, want)
			}
		}
	})
}

// doubles are normal numbers; in one of three slices one in ten is a special value instead.
func doubles(r *rand.Rand, n int) []float64 {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 5e-324, -1e-310, 1e200, -1e300}
	x, odd := make([]float64, n), r.IntN(3) == 0
	for i := range x {
		if x[i] = r.NormFloat64(); odd && r.IntN(10) == 0 {
			x[i] = special[r.IntN(len(special))]
		}
	}
	return x
}

func sameBits64(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}
