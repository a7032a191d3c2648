package rng

import (
	"math"
	"testing"
)

// TestNormalQuantile: values of the inverse of Φ by mpmath with 40 digits.
func TestNormalQuantile(t *testing.T) {
	for _, c := range [][2]float64{
		{1e-300, -37.0470962993611992}, {1e-20, -9.26234008979840758}, {1e-11, -6.7060231554951363}, {1e-5, -4.26489079392282461},
		{.02, -2.05374891063182304}, {.0745, -1.44307267437090089}, {.076, -1.43250272082581162}, {.3, -0.524400512708040816}, {.5, 0},
		{.7, 0.524400512708040656}, {.925, 1.43953147093845623}, {.93, 1.4757910281791711}, {.999, 3.09023230616781328},
	} {
		if got := NormalQuantile(c[0]); !(math.Abs(got-c[1]) <= 1e-15*math.Abs(c[1])) {
			t.Errorf("quantile %v of the normal distribution is %v, want %v", c[0], got, c[1])
		}
	}
}
