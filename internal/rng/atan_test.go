package rng

import (
	"math"
	"testing"
)

// TestAtan2: the quadrants, their borders and signs as package math has them, also for numbers that over- and underflow.
func TestAtan2(t *testing.T) {
	inf := math.Inf(1)
	values := []float64{0, math.Copysign(0, -1), 1, -1, 0.3, -7, 5e-324, -5e-324, 1e-300, -1e-300, 1e308, -1e308, inf, -inf, math.NaN()}
	s := Key{Seed: 6, Purpose: Synthetic}.Stream()
	for range 60 {
		values = append(values, s.Normal())
	}
	for _, y := range values {
		for _, x := range values {
			got, want := Atan2(y, x), math.Copysign(math.Atan2(y, x), y) // package math loses the sign of y where y/x is 0
			if math.IsNaN(want) {
				if !math.IsNaN(got) {
					t.Errorf("Atan2(%v, %v) = %v, want NaN", y, x, got)
				}
				continue
			}
			ulp := math.Nextafter(math.Abs(want), inf) - math.Abs(want)
			if !(math.Abs(got-want) <= 2*ulp) || math.Signbit(got) != math.Signbit(want) {
				t.Errorf("Atan2(%v, %v) = %v, want %v", y, x, got, want)
			}
		}
	}
}
