package safetensors

import (
	"math"
	"testing"
)

// A number is rounded to the nearest bfloat16, ties to even, in one step: 1 + 2⁻⁸ + 2⁻⁴⁰ is above a tie, which float32 cannot tell.
func TestRound(t *testing.T) {
	largest := math.Float64frombits(0x47efe00000000000) // (2 − 2⁻⁷) 2¹²⁷
	for _, c := range []struct {
		x, want float64
		ok      bool
	}{
		{1, 1, true}, {1 + 1./256, 1, true}, {1 + 3./256, 1 + 1./64, true}, {1 + 1./256 + 0x1p-40, 1 + 1./128, true}, {-1 - 1./256 - 0x1p-40, -1 - 1./128, true},
		{1 + 3./256 - 0x1p-40, 1 + 1./128, true}, {0, 0, true}, {largest, largest, true}, {largest * (1 + 1./256), math.Inf(1), false}, {math.Inf(-1), math.Inf(-1), true},
		{0x1p-133, 0x1p-133, true}, {0x1p-134, 0, true}, {0x1.8p-134, 0x1p-133, true}, {1e39, math.Inf(1), false},
	} {
		got, ok := BFloat16.Round(c.x)
		if float64(got) != c.want || ok != c.ok {
			t.Errorf("%v becomes %v, %v, want %v, %v", c.x, got, ok, c.want, c.ok)
		}
		if back := (Tensor{DType: "BF16", Data: BFloat16.Append(nil, []float32{got})}).Float64s()[0]; back != float64(got) {
			t.Errorf("%v is written as %v", got, back)
		}
	}
	if x, _ := BFloat16.Round(math.NaN()); x == x {
		t.Errorf("NaN becomes %v", x)
	}
	if x, ok := Float32.Round(0.1); x != 0.1 || !ok {
		t.Errorf("0.1 becomes %v", x)
	}
	if x, ok := Float32.Round(1e39); ok {
		t.Errorf("1e39 becomes %v", x)
	}
}
