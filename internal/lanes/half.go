package lanes

import "math"

// Float16 holds the bits of an IEEE 754 binary16 number: sign, 5 bits of exponent, 10 of fraction.
type Float16 uint16

// Float32 returns the number's value, which is exact.
func (h Float16) Float32() float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0: // zero or subnormal: fraction · 2⁻²⁴
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 31: // infinity or NaN
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
