package arrays

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
)

// Float16 holds the bits of an IEEE 754 binary16 number, which the kernels widen as they load it.
type Float16 = lanes.Float16

// MaxFloat16 is the largest number that a Float16 holds.
const MaxFloat16 = 65504

// ToFloat16 rounds a number to the nearest Float16, of two equally near ones to the even. What is above MaxFloat16 by half a step or more
// becomes an infinity; a NaN stays one.
func ToFloat16(x float32) Float16 {
	b := math.Float32bits(x)
	sign, of := Float16(b>>16&0x8000), b&0x7fffffff
	switch {
	case of > 255<<23: // NaN
		return sign | 31<<10 | 1<<9
	case of >= 0x477ff000: // 65520
		return sign | 31<<10
	case of < 113<<23: // below 2⁻¹⁴: a multiple of 2⁻²⁴, to which 0.5 is added so that the sum is rounded there
		return sign | Float16(math.Float32bits(math.Float32frombits(of)+0.5)-math.Float32bits(0.5))
	}
	of -= 112 << 23
	return sign | Float16((of+0xfff+of>>13&1)>>13)
}

// BFloat16 holds the upper half of the bits of a float32.
type BFloat16 uint16

// Float32 returns the number's value, which is exact.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }
