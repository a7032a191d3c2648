package lanes

import (
	"math"
	"testing"
)

// The sums and the gate at values that a sign, a comparison or a NaN could turn.
func TestSumOfBranches(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	a, b := make([]float32, Lanes), make([]float32, Lanes)
	copy(a, []float32{1, -3, negative, 2, inf32, nan32, 0, -1})
	copy(b, []float32{2, 1, negative, -2, -inf32, 1, nan32, 3})
	for _, c := range []struct {
		name string
		f    func(a, b, y []float32)
		want []float32
	}{
		{"Add", Add, []float32{3, -2, negative, 0, nan32, nan32, nan32, 2}},
		{"AddReLU", AddReLU, []float32{3, 0, negative, 0, nan32, nan32, nan32, 2}},
	} {
		y := make([]float32, Lanes)
		c.f(a, b, y)
		sameBits(t, c.name, y[:8], c.want)
	}
	y := make([]float32, Lanes)
	copy(y, []float32{5, 5, 5, 5, 5, 5, 5, 5})
	AddGated(a, b, y)
	sameBits(t, "AddGated", y[:8], []float32{7, 0, 0, 3, -inf32, 0, 0, 0})
}
