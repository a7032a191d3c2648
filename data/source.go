package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/starling-smc/starling/internal/regular"
)

// source reads the bytes of a file of numbers, and unpacks gzip.
//
// The size of unpacked bytes is bounded in proportion to the file, so that a small file cannot fill the memory: at most
// gzipRatio times its size (MNIST's images unpack to five times their size), or gzipFloor if that is more. Memory grows with
// the bytes that are read, not with the size that a header claims.
type source struct {
	name   string
	r      io.Reader
	file   int    // size of the file
	packed bool   // with gzip
	at     int    // unpacked bytes read so far
	buf    []byte // see readValues
}

const (
	gzipRatio = 64
	gzipFloor = 8 << 20
)

// content is a file, or bytes in memory.
type content interface {
	io.Reader
	io.ReaderAt
}

func newSource(name string, c content, size int) (*source, error) {
	s := &source{name: name, r: c, file: size}
	var magic [2]byte
	if n, _ := c.ReadAt(magic[:], 0); n == 2 && magic == [2]byte{0x1f, 0x8b} {
		z, err := newMembers(c)
		if err != nil {
			return nil, fmt.Errorf("%s: byte 0: damaged gzip header: %w", name, ended(err))
		}
		s.r, s.packed = z, true
	}
	return s, nil
}

// withSource calls f with the source of a file.
func withSource[T any](path string, f func(*source) (T, error)) (T, error) {
	return reading(path, openReadable, func(file *regular.File) (T, error) {
		s, err := newSource(path, file, int(file.Size()))
		if err != nil {
			var none T
			return none, err
		}
		return f(s)
	})
}

// inMemory is the source of bytes; name stands for their file in errors.
func inMemory(name string, raw []byte) (*source, error) {
	return newSource(name, bytes.NewReader(raw), len(raw))
}

// errorf returns an error at a byte of the file, counted after unpacking.
func (s *source) errorf(at int, format string, args ...any) error {
	where := ""
	if s.packed {
		where = " after unpacking"
	}
	return fmt.Errorf("%s: byte %d%s: %w", s.name, at, where, fmt.Errorf(format, args...))
}

// fill reads all of b.
func (s *source) fill(b []byte) error {
	n, err := io.ReadFull(s.r, b)
	s.at += n
	return ended(err)
}

// ended replaces the errors for a file that ends early or is damaged by plain sentences. Other errors stay as they are.
func ended(err error) error {
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return errors.New("the file ends early")
	case gzip.ErrHeader:
		return errors.New("what follows the packed data is not gzip")
	}
	return err
}

// end returns an error unless the file ends here. For a packed file gzip's checksum is compared now.
func (s *source) end() error {
	var more [1]byte
	switch _, err := io.ReadFull(s.r, more[:]); err {
	case io.EOF:
		return nil
	case nil:
		return s.errorf(s.at, "bytes follow after the last value")
	default:
		return s.errorf(s.at, "%w", ended(err))
	}
}

// layout is the type and shape of an array, from its header.
type layout struct {
	format  string // idx or npy
	dtype   string
	big     bool // big-endian
	fortran bool // first index fastest
	shape   []int
}

// read reads the next n values, as a slice.
func (l *layout) read(s *source, n int) (any, error) {
	values, err := elements[l.dtype].read(s, n, l.big)
	return values, l.needs(err)
}

// needs adds to an error of a short read the number of bytes that the header announces.
func (l *layout) needs(err error) error {
	if err == nil {
		return nil
	}
	n, _ := count(l.shape, 1)
	return fmt.Errorf("%w; shape %v of %s needs %s bytes of values", err, l.shape, l.dtype, thousands(uint64(n*elements[l.dtype].size)))
}

// count returns the number of values, or an error if the machine cannot address them. The other dimensions of an empty array
// are checked, too, since readers of a part of it multiply them.
func count(shape []int, size int) (int, error) {
	n, empty := uint64(size), false
	for _, d := range shape {
		if d == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt {
			return 0, fmt.Errorf("shape %v: more values than a machine can address", shape)
		}
		n = lo
	}
	if empty {
		return 0, nil
	}
	return int(n) / size, nil
}

// check compares the size that the header announces with that of the file, before anything is allocated, and returns the
// number of values.
func (s *source) check(l *layout) (int, error) {
	size := elements[l.dtype].size
	n, err := count(l.shape, size)
	if err != nil {
		return 0, s.errorf(s.at, "%w", err)
	}
	need := n * size
	if s.packed {
		if need > max(gzipRatio*s.file, gzipFloor) {
			return 0, s.errorf(s.at, "shape %v of %s claims %s bytes, far more than a packed file of %s bytes holds (if it is right, unpack the file with gunzip first)",
				l.shape, l.dtype, thousands(uint64(need)), thousands(uint64(s.file)))
		}
		return n, nil
	}
	switch have := s.file - s.at; {
	case need > have:
		return 0, s.errorf(s.file, "the file ends early: shape %v of %s needs %s bytes of values, %s follow the header",
			l.shape, l.dtype, thousands(uint64(need)), thousands(uint64(have)))
	case need < have:
		return 0, s.errorf(s.at+need, "bytes follow after the last value: shape %v of %s needs %s bytes of values, %s follow the header",
			l.shape, l.dtype, thousands(uint64(need)), thousands(uint64(have)))
	}
	return n, nil
}

// element is a type of numbers in a file.
type element struct {
	size int
	read func(s *source, n int, big bool) (any, error) // returns the next n values as a slice
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
	return element{size, func(s *source, n int, big bool) (any, error) {
		out := make([]T, 0, s.first(n, size))
		if want := min(n*size, 32<<10); cap(s.buf) < want {
			s.buf = make([]byte, want)
		}
		for len(out) < n {
			b := s.buf[:min(cap(s.buf)/size, n-len(out))*size]
			if err := s.fill(b); err != nil {
				return nil, s.errorf(s.at, "%w", err)
			}
			if big {
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
func readBytes(s *source, n int, _ bool) (any, error) {
	out := make([]uint8, 0, s.first(n, 1))
	for len(out) < n {
		out = grow(out, 1, n)
		from := len(out)
		out = out[:min(cap(out), n)]
		if err := s.fill(out[from:]); err != nil {
			return nil, s.errorf(s.at, "%w", err)
		}
	}
	return out, nil
}

// first returns the initial capacity for n values: n if the file is known to hold them.
func (s *source) first(n, size int) int {
	if s.packed {
		return min(n, 8*s.file/size+1)
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

// header reads the first four bytes and lets parse read the rest of the header.
func (s *source) header(parse func(*source, [4]byte) (*layout, error)) (*layout, error) {
	var first [4]byte
	if err := s.fill(first[:]); err != nil {
		return nil, s.errorf(s.at, "header: %w", err)
	}
	return parse(s, first)
}

// array reads the whole array and the end of the file.
func (s *source) array(parse func(*source, [4]byte) (*layout, error)) (*Array, error) {
	l, err := s.header(parse)
	if err != nil {
		return nil, err
	}
	n, err := s.check(l)
	if err != nil {
		return nil, err
	}
	from := s
	if l.fortran {
		if from, err = s.toC(l, n); err != nil {
			return nil, err
		}
	}
	values, err := l.read(from, n)
	if err != nil {
		return nil, err
	}
	return &Array{Name: s.name, Shape: l.shape, Values: values}, s.end()
}

// toC reads the n values of an array in Fortran order and returns a source of the same values in C order.
func (s *source) toC(l *layout, n int) (*source, error) {
	size := elements[l.dtype].size
	values, err := readBytes(s, n*size, false)
	if err != nil {
		return nil, l.needs(err)
	}
	from, to := values.([]uint8), make([]byte, 0, n*size)
	stride := make([]int, len(l.shape)) // in from
	for i, step := 0, size; i < len(stride); i++ {
		stride[i], step = step, step*l.shape[i]
	}
	index, at := make([]int, len(l.shape)), 0
	for range n {
		to = append(to, from[at:at+size]...)
		for k := len(index) - 1; k >= 0; k-- {
			at += stride[k]
			if index[k]++; index[k] < l.shape[k] {
				break
			}
			at -= stride[k] * l.shape[k]
			index[k] = 0
		}
	}
	return &source{name: s.name, r: bytes.NewReader(to), file: len(to)}, nil
}
