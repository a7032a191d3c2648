package golden

import (
	"math"
	"testing"
)

// TestNear: a finite number is not near an infinity, although the tolerance relative to it is infinite.
func TestNear(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want float64
		near      bool
	}{
		{1, 1, true}, {1.009, 1, true}, {1.011, 1, false}, {0.0009, 0, true}, {0.0011, 0, false}, {-1, 1, false},
		{inf, inf, true}, {-inf, -inf, true}, {-inf, inf, false}, {3, inf, false}, {3, -inf, false}, {inf, 3, false},
		{nan, 1, false}, {nan, inf, false}, {nan, nan, false}, {1, nan, false}, {inf, nan, false},
	} {
		if Near(c.got, c.want, 0.0095, 0.001) != c.near {
			t.Errorf("Near(%v, %v) is %v", c.got, c.want, !c.near)
		}
	}
}
