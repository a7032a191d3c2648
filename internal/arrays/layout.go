package arrays

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/packed"
)

// Layout is the type and shape of an array, from its header.
type Layout struct {
	DType   string
	Shape   []int
	Fortran bool   // first index fastest
	Stays   bool   // the numbers can stay in their file (Store)
	big     bool   // big-endian
	buf     []byte // of Read
}

// Header reads the header of a format, whose first four bytes have been read: NPY or IDX.
type Header func(s *packed.Source, first [4]byte) (*Layout, error)

// Begin reads a header, and compares the size that it announces with that of the file before anything is allocated. n is the number of
// values.
func Begin(s *packed.Source, header Header) (l *Layout, n int, err error) {
	var first [4]byte
	if err := s.Fill(first[:]); err != nil {
		return nil, 0, s.Errorf(s.At, "header: %w", err)
	}
	if l, err = header(s, first); err != nil {
		return nil, 0, err
	}
	if n, err = l.check(s); err == nil {
		l.Stays = l.stays(s, n)
	}
	return l, n, err
}

// Size is the number of bytes of a value.
func (l *Layout) Size() int { return elements[l.DType].size }

// Read reads the next n values, as a slice.
func (l *Layout) Read(s *packed.Source, n int) (any, error) {
	values, err := elements[l.DType].read(s, n, l)
	return values, l.needs(err)
}

// needs adds to an error of a short read the number of bytes that the header announces.
func (l *Layout) needs(err error) error {
	if err == nil {
		return nil
	}
	n, _ := count(l.Shape, 1)
	return fmt.Errorf("%w; shape %v of %s needs %s bytes of values", err, l.Shape, l.DType, numeral.Count(n*elements[l.DType].size))
}

// check compares the size that the header announces with that of the file, and returns the number of values.
func (l *Layout) check(s *packed.Source) (int, error) {
	size := l.Size()
	n, err := count(l.Shape, size)
	if err != nil {
		return 0, s.Errorf(s.At, "%w", err)
	}
	need := n * size
	if s.Packed {
		if need > s.Most() {
			return 0, s.Errorf(s.At, "shape %v of %s claims %s bytes, far more than a packed file of %s bytes holds (if it is right, unpack the file with gunzip first)",
				l.Shape, l.DType, numeral.Count(need), numeral.Count(s.Size))
		}
		return n, nil
	}
	switch have := s.Size - s.At; {
	case need > have:
		return 0, s.Errorf(s.Size, "the file ends early: shape %v of %s needs %s bytes of values, %s follow the header",
			l.Shape, l.DType, numeral.Count(need), numeral.Count(have))
	case need < have:
		return 0, s.Errorf(s.At+need, "bytes follow after the last value: shape %v of %s needs %s bytes of values, %s follow the header",
			l.Shape, l.DType, numeral.Count(need), numeral.Count(have))
	}
	return n, nil
}

// element is a type of numbers in a file.
type element struct {
	size int
	read func(s *packed.Source, n int, l *Layout) (any, error) // returns the next n values as a slice
}

var elements = map[string]element{
	"bool":     of(1, func(b []byte) bool { return b[0] != 0 }),
	"uint8":    {1, readBytes},
	"int8":     of(1, func(b []byte) int8 { return int8(b[0]) }),
	"uint16":   of(2, little.Uint16),
	"int16":    of(2, func(b []byte) int16 { return int16(little.Uint16(b)) }),
	"uint32":   of(4, little.Uint32),
	"int32":    of(4, func(b []byte) int32 { return int32(little.Uint32(b)) }),
	"uint64":   of(8, little.Uint64),
	"int64":    of(8, func(b []byte) int64 { return int64(little.Uint64(b)) }),
	"float16":  of(2, func(b []byte) Float16 { return Float16(little.Uint16(b)) }),
	"bfloat16": of(2, func(b []byte) BFloat16 { return BFloat16(little.Uint16(b)) }),
	"float32":  of(4, func(b []byte) float32 { return math.Float32frombits(little.Uint32(b)) }),
	"float64":  of(8, func(b []byte) float64 { return math.Float64frombits(little.Uint64(b)) }),
}

var little = binary.LittleEndian

func of[T any](size int, one func([]byte) T) element {
	return element{size, func(s *packed.Source, n int, l *Layout) (any, error) {
		out := make([]T, 0, first(s, n, size))
		if want := min(n*size, 32<<10); cap(l.buf) < want {
			l.buf = make([]byte, want)
		}
		for len(out) < n {
			b := l.buf[:min(cap(l.buf)/size, n-len(out))*size]
			if err := s.Fill(b); err != nil {
				return nil, s.Errorf(s.At, "%w", err)
			}
			if l.big {
				reverse(b, size)
			}
			out = grow(out, len(b)/size, n)
			for ; len(b) > 0; b = b[size:] {
				out = append(out, one(b))
			}
		}
		return out, nil
	}}
}

// readBytes is read of uint8, without a copy.
func readBytes(s *packed.Source, n int, _ *Layout) (any, error) {
	out := make([]uint8, 0, first(s, n, 1))
	for len(out) < n {
		out = grow(out, 1, n)
		from := len(out)
		out = out[:min(cap(out), n)]
		if err := s.Fill(out[from:]); err != nil {
			return nil, s.Errorf(s.At, "%w", err)
		}
	}
	return out, nil
}

// first returns the initial capacity for n values: n if the file is known to hold them.
func first(s *packed.Source, n, size int) int {
	if s.Packed {
		return min(n, 8*s.Size/size+1)
	}
	return n
}

// grow makes room for more values, of n in all.
func grow[T any](out []T, more, n int) []T {
	if len(out)+more <= cap(out) {
		return out
	}
	return append(make([]T, 0, min(max(2*cap(out), len(out)+more), n)), out...)
}

// reverse reverses the bytes of every value.
func reverse(b []byte, size int) {
	for ; len(b) > 0; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// Whole reads a whole array and the end of the file.
func Whole(s *packed.Source, header Header) (*Array, error) {
	l, n, err := Begin(s, header)
	if err != nil {
		return nil, err
	}
	return l.whole(s, n)
}

// whole reads the n values after a header, and the end of the file.
func (l *Layout) whole(s *packed.Source, n int) (*Array, error) {
	from, err := l.InC(s, n)
	if err != nil {
		return nil, err
	}
	values, err := l.Read(from, n)
	if err != nil {
		return nil, err
	}
	return &Array{Name: s.Name, Shape: l.Shape, Values: values}, s.End()
}

// Decode decodes the bytes of a file; name stands for it in errors.
func Decode(name string, raw []byte, header Header) (*Array, error) {
	s, err := packed.New(name, bytes.NewReader(raw), len(raw))
	if err != nil {
		return nil, err
	}
	return Whole(s, header)
}

// InC returns a source of the n values of an array in C order: s itself, or of one in Fortran order all values, read and put in order.
func (l *Layout) InC(s *packed.Source, n int) (*packed.Source, error) {
	if !l.Fortran {
		return s, nil
	}
	size := l.Size()
	values, err := readBytes(s, n*size, l)
	if err != nil {
		return nil, l.needs(err)
	}
	from, to := values.([]uint8), make([]byte, 0, n*size)
	stride := make([]int, len(l.Shape)) // in from
	for i, step := 0, size; i < len(stride); i++ {
		stride[i], step = step, step*l.Shape[i]
	}
	index, at := make([]int, len(l.Shape)), 0
	for range n {
		to = append(to, from[at:at+size]...)
		for k := len(index) - 1; k >= 0; k-- {
			at += stride[k]
			if index[k]++; index[k] < l.Shape[k] {
				break
			}
			at -= stride[k] * l.Shape[k]
			index[k] = 0
		}
	}
	return packed.Bytes(s.Name, to), nil
}
