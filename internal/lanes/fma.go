//go:build !arm64

package lanes

import "math"

// fma32 is x·y + z rounded once to float32.
//
// The product of two float32 is exact in float64. Its sum with z is rounded to odd: an inexact sum becomes its neighbour
// with an odd last bit, found from the error of the sum by Knuth's TwoSum. Rounding that to float32 gives the correctly
// rounded result, since float64 has more than two bits to spare (Boldo and Melquiond, "Emulation of a FMA and correctly rounded
// sums: proved algorithms using rounding to odd", IEEE Trans. Comp. 57, 2008).
func fma32(x, y, z float32) float32 {
	p, a := float64(x)*float64(y), float64(z)
	s := p + a
	if s-s != 0 { // infinite or NaN
		return float32(s)
	}
	b := s - p
	err := (p - (s - b)) + (a - b)
	if bits := math.Float64bits(s); err != 0 && bits&1 == 0 {
		if (err > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}
