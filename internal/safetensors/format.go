package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Format is a format in which parameters are written, by its name in PyTorch.
type Format string

// The formats. BFloat16 has the range of float32, and 8 bits of precision.
const (
	Float32  Format = "float32"
	BFloat16 Format = "bfloat16"
)

// Formats lists them.
var Formats = []string{string(Float32), string(BFloat16)}

// DType is the format's name in a file.
func (f Format) DType() string {
	switch f {
	case Float32:
		return "F32"
	case BFloat16:
		return "BF16"
	}
	panic(fmt.Sprintf("safetensors: no format %q", f))
}

// Round returns the number of the format that is nearest to x, of two the one whose last bit is 0. ok is false where a finite x
// is beyond the format's range.
func (f Format) Round(x float64) (rounded float32, ok bool) {
	rounded = float32(x)
	if f == BFloat16 {
		rounded = nearest(x, rounded)
	}
	return rounded, !math.IsInf(float64(rounded), 0) || math.IsInf(x, 0)
}

// nearest rounds x to bfloat16 in one step. y is x as float32. A tie of y may come from its own rounding: then x lies to one side of it.
func nearest(x float64, y float32) float32 {
	b := math.Float32bits(y)
	if y != y {
		return y
	}
	const half = 1 << 15
	down, rest := b&^uint32(1<<16-1), b&(1<<16-1)
	up := rest > half || rest == half && down>>16&1 == 1
	if rest == half && math.Abs(x) != math.Abs(float64(y)) {
		up = math.Abs(x) > math.Abs(float64(y))
	}
	if up {
		down += 1 << 16 // a carry into the exponent is right, up to infinity
	}
	return math.Float32frombits(down)
}

// Append appends values of the format, which Round has returned.
func (f Format) Append(to []byte, values []float32) []byte {
	for _, x := range values {
		b := math.Float32bits(x)
		if f == BFloat16 {
			to = binary.LittleEndian.AppendUint16(to, uint16(b>>16))
		} else {
			to = binary.LittleEndian.AppendUint32(to, b)
		}
	}
	return to
}

// Bytes is the number of bytes of a value.
func (f Format) Bytes() int { return sizes[f.DType()] }
