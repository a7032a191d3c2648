package arrays

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
)

// Float16 holds the bits of an IEEE 754 binary16 number, which the kernels widen as they load it.
type Float16 = lanes.Float16

// BFloat16 holds the upper half of the bits of a float32.
type BFloat16 uint16

// Float32 returns the number's value, which is exact.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }
