package data

import (
	"encoding/binary"
	"math"
	"slices"
)

// Among counts the examples of s that are examples of other, too: the same inputs and targets, bit by bit. Both must be as one network
// sees them, by one Schema. It is 0 for sets of other shapes or other kinds of targets.
func (s *Set) Among(other *Set) int {
	if !slices.Equal(s.Shape, other.Shape) || (s.U8 != nil) != (other.U8 != nil) || (s.Labels != nil) != (other.Labels != nil) || s.Outputs != other.Outputs {
		return 0
	}
	count := make(map[string]int, s.Len()) // of equal examples of s
	var row []byte
	for i := range s.Len() {
		row = s.appendExample(row[:0], i)
		count[string(row)]++
	}
	n := 0
	for i := range other.Len() {
		row = other.appendExample(row[:0], i)
		n += count[string(row)]
		delete(count, string(row)) // other may have it twice
	}
	return n
}

// appendExample appends example i as bytes: its inputs and its targets.
func (s *Set) appendExample(b []byte, i int) []byte {
	p := s.Features()
	if s.U8 != nil {
		b = append(b, s.U8[i*p:(i+1)*p]...)
	} else {
		b = appendFloats(b, s.F32[i*p:(i+1)*p])
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
