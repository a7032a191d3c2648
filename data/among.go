package data

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// Among counts the examples of s that are examples of other sets, too: the same inputs and targets, bit by bit. repeated is the number of
// examples of the others that another example of theirs equals, by which chance can be judged. All sets must be as one network sees them, by
// one Schema. Sets of other shapes or other kinds of targets do not count.
func (s *Set) Among(others ...*Set) (n, repeated int) {
	var sums []uint64
	for _, other := range others {
		if slices.Equal(s.Shape, other.Shape) && (s.U8 != nil) == (other.U8 != nil) && (s.Labels != nil) == (other.Labels != nil) && s.Outputs == other.Outputs {
			sums = append(sums, other.sums()...)
		}
	}
	slices.Sort(sums)
	for i, sum := range sums {
		if i > 0 && sum == sums[i-1] || i+1 < len(sums) && sum == sums[i+1] {
			repeated++
		}
	}
	for _, sum := range s.sums() {
		if _, ok := slices.BinarySearch(sums, sum); ok {
			n++
		}
	}
	return n, repeated
}

// sums are 64 bits of the SHA-256 of each example. Of a million examples and a million others, two that differ have the same sum with a
// probability of 1 in ten million.
func (s *Set) sums() []uint64 {
	sums := make([]uint64, s.Len())
	var row []byte
	var next func(i int) []float32
	if s.U8 == nil {
		next = s.pass()
	}
	for i := range sums {
		row = s.appendExample(row[:0], i, next)
		sum := sha256.Sum256(row)
		sums[i] = binary.LittleEndian.Uint64(sum[:])
	}
	return sums
}

// appendExample appends example i as bytes: its inputs, of which next returns those that are not bytes, and its targets.
func (s *Set) appendExample(b []byte, i int, next func(i int) []float32) []byte {
	p := s.Features()
	if s.U8 != nil {
		b = append(b, s.U8[i*p:(i+1)*p]...)
	} else {
		b = appendFloats(b, next(i))
	}
	if s.Labels != nil {
		return binary.LittleEndian.AppendUint32(b, uint32(s.Labels[i]))
	}
	return appendFloats(b, s.Values[i*s.Outputs:(i+1)*s.Outputs])
}

func appendFloats(b []byte, values []float32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
