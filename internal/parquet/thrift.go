package parquet

import (
	"errors"
	"io"
)

// thrift walks over values in Thrift's compact protocol, in which Parquet describes itself, without building anything. So it is known
// that what they claim to hold is there before the library allocates it.
// Protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
type thrift struct {
	r    byteSource
	take func(path [2]int, v int64) // is told the integers of a structure and of those in it, by their fields, a boolean as 1 or 0; nil: not told
	path [2]int

	parts int // structures in lists so far
}

// byteSource is read byte by byte, and can pass over bytes.
type byteSource interface {
	io.ByteReader
	Discard(n int) (int, error)
}

// sliceReader is a byteSource of bytes in memory.
type sliceReader struct{ b []byte }

func (s *sliceReader) ReadByte() (byte, error) {
	if len(s.b) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	c := s.b[0]
	s.b = s.b[1:]
	return c, nil
}

func (s *sliceReader) Discard(n int) (int, error) {
	if n > len(s.b) {
		return 0, io.ErrUnexpectedEOF
	}
	s.b = s.b[n:]
	return n, nil
}

// The types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftDeep is more than the deepest nesting of what a Parquet file says of itself.
const thriftDeep = 32

var errThrift = errors.New("it is no description of a Parquet file")

// structure walks over the fields of a structure.
func (t *thrift) structure(depth int) error {
	if depth > thriftDeep {
		return errThrift
	}
	for id := 0; ; {
		head, err := t.r.ReadByte()
		if err != nil {
			return ended(err)
		}
		if head == 0 {
			return nil
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			v, err := t.varint()
			if err != nil {
				return err
			}
			id = int(unzigzag(v))
		}
		if depth < len(t.path) {
			t.path[depth] = id
			for k := depth + 1; k < len(t.path); k++ {
				t.path[k] = 0
			}
		}
		if err := t.value(int(head&15), depth, true); err != nil {
			return err
		}
	}
}

// value walks over a value. A boolean that is a field stands in its type.
func (t *thrift) value(kind, depth int, field bool) error {
	switch kind {
	case thriftTrue, thriftFalse:
		if !field {
			return t.pass(1)
		}
		if t.take != nil && depth < len(t.path) {
			t.take(t.path, int64(thriftFalse-kind))
		}
		return nil
	case thriftByte:
		return t.pass(1)
	case thriftI16, thriftI32, thriftI64:
		v, err := t.varint()
		if err != nil {
			return err
		}
		n := unzigzag(v)
		if kind != thriftI64 && int64(int32(n)) != n {
			return errThrift
		}
		if t.take != nil && field && depth < len(t.path) {
			t.take(t.path, n)
		}
		return nil
	case thriftDouble:
		return t.pass(8)
	case thriftBinary:
		n, err := t.varint()
		if err != nil {
			return err
		}
		if n > 1<<31-1 {
			return errThrift
		}
		return t.pass(int(n))
	case thriftList, thriftSet:
		head, err := t.r.ReadByte()
		if err != nil {
			return ended(err)
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = t.varint(); err != nil {
				return err
			}
		}
		return t.several(n, depth, int(head&15))
	case thriftMap:
		n, err := t.varint()
		if err != nil || n == 0 {
			return err
		}
		head, err := t.r.ReadByte()
		if err != nil {
			return ended(err)
		}
		return t.several(n, depth, int(head>>4), int(head&15))
	case thriftStruct:
		return t.structure(depth + 1)
	}
	return errThrift
}

// several walks over n values of each kind in turn. Each takes at least a byte, so a file ends before a claim that it cannot hold.
func (t *thrift) several(n uint64, depth int, kinds ...int) error {
	if depth+1 > thriftDeep {
		return errThrift
	}
	for ; n > 0; n-- {
		for _, kind := range kinds {
			if kind == thriftStruct {
				t.parts++
			}
			if err := t.value(kind, depth+1, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *thrift) pass(n int) error {
	_, err := t.r.Discard(n)
	return ended(err)
}

func (t *thrift) varint() (v uint64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		c, err := t.r.ReadByte()
		if err != nil {
			return 0, ended(err)
		}
		if v |= uint64(c&127) << shift; c < 128 {
			return v, nil
		}
	}
	return 0, errThrift
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
