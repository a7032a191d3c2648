package arrays

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestToFloat16: every Float16 comes back, and any other number becomes the nearest one, of two equally near ones that whose last bit is 0, as a
// search over the numbers in float64 finds it.
func TestToFloat16(t *testing.T) {
	for h := range 1 << 16 {
		x := Float16(h).Float32()
		got := ToFloat16(x)
		if x != x {
			if y := got.Float32(); y == y {
				t.Fatalf("NaN becomes %v", y)
			}
			continue
		}
		if got != Float16(h) {
			t.Fatalf("%v, %#x, becomes %#x", x, h, got)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	check := func(x float32) {
		low, high := 0, 31<<10 // of the positive ones, whose bits are in the order of their numbers
		size := math.Abs(float64(x))
		for high-low > 1 {
			if middle := (low + high) / 2; float64(Float16(middle).Float32()) <= size {
				low = middle
			} else {
				high = middle
			}
		}
		above := float64(Float16(high).Float32())
		if high == 31<<10 {
			above = 65536 // what would follow 65504
		}
		below := size - float64(Float16(low).Float32())
		want := low
		if up := above - size; up < below || up == below && low%2 == 1 {
			want = high
		}
		if math.Signbit(float64(x)) {
			want |= 1 << 15
		}
		if got := ToFloat16(x); got != Float16(want) {
			t.Fatalf("%v becomes %v, want %v", x, got.Float32(), Float16(want).Float32())
		}
	}
	for h := range 31 << 10 { // numbers between neighbours, and just beside
		middle := (Float16(h).Float32() + Float16(min(h+1, 31<<10-1)).Float32()) / 2
		for _, x := range []float32{middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, 1e9)} {
			check(x)
			check(-x)
		}
	}
	for range 100000 {
		check(float32(math.Ldexp(r.Float64()*2-1, r.IntN(45)-28)))
	}
	for _, x := range []float32{65519.996, 65520, 65504, 1e30, 1e-30, 0x1p-25, 0x1.000002p-25, 0} {
		check(x)
	}
	if ToFloat16(float32(math.Inf(-1))) != 0xfc00 || ToFloat16(float32(math.Copysign(0, -1))) != 0x8000 {
		t.Error("−∞ or −0")
	}
}
