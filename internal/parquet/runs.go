package parquet

import "encoding/binary"

// Runs are how Parquet writes small numbers, such as places in a dictionary and definition levels: runs of equal values, and values
// that are packed by eights, each of some bits (https://parquet.apache.org/docs/file-format/data-pages/encodings/).

// decodeRuns returns n numbers of some bits each, at most 32.
func decodeRuns(b []byte, bits, n int) ([]uint32, error) {
	values, size := make([]uint32, 0, n), (bits+7)/8
	for len(values) < n {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errDamaged
		}
		b = b[k:]
		left := n - len(values)
		if head&1 == 0 {
			if head>>1 == 0 || head>>1 > uint64(left) || len(b) < size {
				return nil, errDamaged
			}
			v := uint32(0)
			for i, c := range b[:size] {
				v |= uint32(c) << (8 * i)
			}
			for range head >> 1 {
				values = append(values, v)
			}
			b = b[size:]
			continue
		}
		eights := head >> 1
		if eights == 0 || eights > uint64(left+7)/8 || eights*uint64(bits) > uint64(len(b)) {
			return nil, errDamaged
		}
		packed := b[:int(eights)*bits]
		for i := range min(left, 8*int(eights)) {
			values = append(values, unpackBits(packed, i*bits, bits))
		}
		b = b[len(packed):]
	}
	return values, nil
}

// unpackBits is the number of some bits that begins at a bit of b, the lowest bit first.
func unpackBits(b []byte, at, bits int) (v uint32) {
	for have := 0; have < bits; {
		c, from := uint32(b[at/8]), at%8
		take := min(8-from, bits-have)
		v |= (c >> from & (1<<take - 1)) << have
		have, at = have+take, at+take
	}
	return v
}
