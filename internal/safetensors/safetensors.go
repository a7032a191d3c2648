// Package safetensors reads and writes the format in which PyTorch users exchange weights
// (https://github.com/huggingface/safetensors#format):
//
//	8 bytes   n, little endian, at most 100,000,000; here 16 MiB
//	n bytes   JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}, padded with spaces;
//	          "__metadata__" may hold a map of strings
//	the rest  values, little endian, row-major; the tensors cover it without overlap or hole
//
// Reading is strict: all that the format's text does not allow is an error. It takes at most four times the header's size in
// memory, and time in proportion to it.
package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// Tensor is one tensor of a file.
type Tensor struct {
	Name  string
	DType string // BOOL, U8, I8, U16, I16, F16, BF16, U32, I32, F32, U64, I64 or F64
	Shape []int  // empty: a scalar
	Data  []byte // the values, little endian, row-major; Parse returns a part of the file's bytes

	// Rows, if not nil, writes the values of n entries of the first axis in place of Data, which need not be in memory then.
	Rows func(w io.Writer, first, n int) error
}

// bytes is the number of bytes of the values.
func (t Tensor) bytes() int {
	if t.Rows == nil {
		return len(t.Data)
	}
	n := sizes[t.DType]
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// writeTo writes the values.
func (t Tensor) writeTo(w io.Writer) error {
	if t.Rows != nil {
		return t.Rows(w, 0, t.Shape[0])
	}
	_, err := w.Write(t.Data)
	return err
}

// sizes are the numbers of bytes of one value, by DType.
var sizes = map[string]int{
	"BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

// Float64s converts the values to float64: integers beyond 2⁵³ to the nearest one, a BOOL to 0 or 1.
func (t Tensor) Float64s() []float64 {
	out := make([]float64, len(t.Data)/sizes[t.DType])
	t.float64s(out)
	return out
}

// float64s sets out to the values.
func (t Tensor) float64s(out []float64) {
	size := sizes[t.DType]
	for i := range out {
		b := t.Data[i*size:]
		switch t.DType {
		case "BOOL":
			out[i] = float64(min(b[0], 1))
		case "U8":
			out[i] = float64(b[0])
		case "I8":
			out[i] = float64(int8(b[0]))
		case "U16":
			out[i] = float64(binary.LittleEndian.Uint16(b))
		case "I16":
			out[i] = float64(int16(binary.LittleEndian.Uint16(b)))
		case "F16":
			out[i] = half(binary.LittleEndian.Uint16(b))
		case "BF16":
			out[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
		case "U32":
			out[i] = float64(binary.LittleEndian.Uint32(b))
		case "I32":
			out[i] = float64(int32(binary.LittleEndian.Uint32(b)))
		case "F32":
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case "U64":
			out[i] = float64(binary.LittleEndian.Uint64(b))
		case "I64":
			out[i] = float64(int64(binary.LittleEndian.Uint64(b)))
		case "F64":
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
}

// half is the value of an IEEE 754 binary16 number.
func half(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	var x float64
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		x = math.Inf(1)
		if fraction > 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if b>>15 == 1 {
		x = -x
	}
	return x
}

// Write writes a file without metadata, with the tensors in their order. The same tensors give the same bytes.
func Write(w io.Writer, tensors []Tensor) error { return WriteWith(w, nil, tensors) }

// WriteWith is Write with metadata, unless there are none.
func WriteWith(w io.Writer, metadata map[string]string, tensors []Tensor) error {
	head, err := header(metadata, tensors)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, t := range tensors {
		if err := t.writeTo(w); err != nil {
			return err
		}
	}
	return nil
}

// header is all that stands before the values.
func header(metadata map[string]string, tensors []Tensor) ([]byte, error) {
	var header strings.Builder
	header.WriteByte('{')
	if len(metadata) > 0 {
		text, err := json.Marshal(metadata) // in the order of the keys
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&header, `"__metadata__":%s`, text)
	}
	at := 0
	for _, t := range tensors {
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		shape, err := json.Marshal(append([]int{}, t.Shape...))
		if err != nil {
			return nil, err
		}
		if header.Len() > 1 {
			header.WriteByte(',')
		}
		fmt.Fprintf(&header, `%s:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, name, t.DType, shape, at, at+t.bytes())
		at += t.bytes()
	}
	header.WriteByte('}')
	for header.Len()%8 != 0 { // so that the data begins at a multiple of 8
		header.WriteByte(' ')
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(header.Len())), header.String()...), nil
}
