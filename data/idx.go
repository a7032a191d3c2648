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
)

// IDX is the format of the MNIST files (LeCun, Cortes, Burges, http://yann.lecun.com/exdb/mnist), big-endian:
//
//	byte 0, 1   zero
//	byte 2      type: 0x08 uint8, 0x09 int8, 0x0B int16, 0x0C int32, 0x0D float32, 0x0E float64
//	byte 3      number of dimensions, at least 1
//	4 bytes     for each dimension, its size
//	values      in C order, and nothing after them
//
// The whole may be compressed with gzip. What is unpacked is bounded in proportion to the file, so that a small file
// cannot fill the memory: at most gzipRatio times its size (the images of MNIST unpack to five times), or gzipFloor
// where that is more. Memory grows with what really arrives.
const (
	gzipRatio = 64
	gzipFloor = 8 << 20
)

// ReadIDX reads an IDX file, compressed or not. Errors name the file, the place and what is wrong there.
func ReadIDX(path string) (*Array, error) {
	raw, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return DecodeIDX(path, raw)
}

// DecodeIDX decodes the bytes of an IDX file; name stands for the file in errors.
func DecodeIDX(name string, raw []byte) (*Array, error) {
	var r io.Reader = bytes.NewReader(raw)
	limit := uint64(len(raw))
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("%s: damaged gzip header: %w", name, err)
		}
		r, limit = z, max(gzipRatio*limit, gzipFloor)
	}
	a, err := decodeIDX(r, limit, uint64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a.Name = name
	return a, nil
}

func decodeIDX(r io.Reader, limit, file uint64) (*Array, error) {
	var head [4]byte
	if err := fill(r, head[:]); err != nil {
		return nil, fmt.Errorf("byte 0: IDX header: %w", err)
	}
	if head[0] != 0 || head[1] != 0 {
		return nil, fmt.Errorf("byte 0: % x is neither an IDX header (00 00, type, dimensions) nor gzip (1f 8b)", head)
	}
	size := map[byte]uint64{0x08: 1, 0x09: 1, 0x0B: 2, 0x0C: 4, 0x0D: 4, 0x0E: 8}[head[2]]
	if size == 0 {
		return nil, fmt.Errorf("byte 2: unknown IDX type 0x%02x, want 08 (uint8), 09, 0b, 0c (int8, 16, 32), 0d or 0e (float32, 64)", head[2])
	}
	if head[3] == 0 {
		return nil, errors.New("byte 3: an IDX array needs at least one dimension")
	}
	shape := make([]int, head[3])
	total, empty := size, false
	for i := range shape {
		var b [4]byte
		if err := fill(r, b[:]); err != nil {
			return nil, fmt.Errorf("byte %d: IDX dimension %d: %w", 4+4*i, i+1, err)
		}
		d := uint64(binary.BigEndian.Uint32(b[:]))
		shape[i] = int(d)
		if d == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(total, d)
		if hi != 0 || lo > math.MaxInt {
			return nil, fmt.Errorf("byte %d: shape %v: more values than a machine can address", 4+4*i, shape[:i+1])
		}
		total = lo
	}
	if empty {
		total = 0
	}
	if total > limit {
		return nil, fmt.Errorf("shape %v claims %s bytes, far more than a file of %s bytes holds (if it is right, unpack the file with gunzip first)",
			shape, thousands(total), thousands(file))
	}
	body, err := readBody(r, total, file)
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w: shape %v needs %s bytes of values", 4+4*len(shape)+len(body), err, shape, thousands(total))
	}
	return &Array{Shape: shape, Values: values(head[2], body)}, nil
}

// readBody reads exactly total bytes and the end of the stream, where gzip checks its sum. Memory grows with what
// arrives, not with what the header claims.
func readBody(r io.Reader, total, file uint64) ([]byte, error) {
	body := make([]byte, 0, min(total, 8*file))
	for uint64(len(body)) < total {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(2*uint64(cap(body)), total)), body...)
		}
		free := min(uint64(cap(body)-len(body)), total-uint64(len(body)))
		n, err := r.Read(body[len(body) : len(body)+int(free)])
		body = body[:len(body)+n]
		if err != nil && uint64(len(body)) < total {
			return body, ended(err)
		}
	}
	var more [1]byte
	switch _, err := io.ReadFull(r, more[:]); err {
	case io.EOF:
		return body, nil
	case nil:
		return body, errors.New("bytes follow after the last value")
	default:
		return body, ended(err)
	}
}

func values(kind byte, b []byte) any {
	switch be := binary.BigEndian; kind {
	case 0x08:
		return b
	case 0x09:
		return decode(b, 1, func(b []byte) int8 { return int8(b[0]) })
	case 0x0B:
		return decode(b, 2, func(b []byte) int16 { return int16(be.Uint16(b)) })
	case 0x0C:
		return decode(b, 4, func(b []byte) int32 { return int32(be.Uint32(b)) })
	case 0x0D:
		return decode(b, 4, func(b []byte) float32 { return math.Float32frombits(be.Uint32(b)) })
	default:
		return decode(b, 8, func(b []byte) float64 { return math.Float64frombits(be.Uint64(b)) })
	}
}

func decode[T any](b []byte, size int, one func([]byte) T) []T {
	v := make([]T, len(b)/size)
	for i := range v {
		v[i] = one(b[i*size:])
	}
	return v
}

// fill reads all of b.
func fill(r io.Reader, b []byte) error {
	if _, err := io.ReadFull(r, b); err != nil {
		return ended(err)
	}
	return nil
}

// ended says in words that a file stops too early; other errors (a wrong checksum, damaged compression) stay.
func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends early")
	}
	return err
}
