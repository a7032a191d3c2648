package arrays

import (
	"encoding/binary"
	"math"

	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/stated"
)

// idxTypes are the type codes; codes that are not used are empty.
var idxTypes = [...]string{0x08: "uint8", 0x09: "int8", 0x0B: "int16", 0x0C: "int32", 0x0D: "float32", 0x0E: "float64"}

// IDX is the Header of the format of the MNIST files (LeCun, Cortes, Burges, http://yann.lecun.com/exdb/mnist), big-endian:
//
//	byte 0, 1   zero
//	byte 2      type: 0x08 uint8, 0x09 int8, 0x0B int16, 0x0C int32, 0x0D float32, 0x0E float64
//	byte 3      number of dimensions, at least 1
//	4 bytes     for each dimension, its size
//	values      in C order, and nothing after them
//
// The whole may be compressed with gzip.
func IDX(s *packed.Source, first [4]byte) (*Layout, error) {
	if first[0] != 0 || first[1] != 0 {
		return nil, s.Errorf(0, "% x is neither an IDX header (00 00, type, dimensions) nor gzip (1f 8b)", first)
	}
	if int(first[2]) >= len(idxTypes) || idxTypes[first[2]] == "" {
		return nil, s.Errorf(2, "unknown IDX type 0x%02x, want 08 (uint8), 09, 0b, 0c (int8, 16, 32), 0d or 0e (float32, 64)", first[2])
	}
	if first[3] == 0 {
		return nil, s.Errorf(3, "an IDX array needs at least one dimension")
	}
	l := &Layout{DType: idxTypes[first[2]], big: true, Shape: make([]int, first[3])}
	for i := range l.Shape {
		var b [4]byte
		if err := s.Fill(b[:]); err != nil {
			return nil, s.Errorf(s.At, "dimension %d of %d: %w", i+1, len(l.Shape), err)
		}
		size, ok := stated.Int(binary.BigEndian.Uint32(b[:]), math.MaxInt)
		if !ok {
			return nil, s.Errorf(s.At, "dimension %d of %d: more values than a machine can address", i+1, len(l.Shape))
		}
		l.Shape[i] = size
	}
	return l, nil
}
