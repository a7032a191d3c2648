// Package stated turns numbers that a file states, such as lengths and sizes, into numbers to compute with. They may be anything: below 0,
// beyond the file, or so large that a product of two of them is small. Readers of files convert by these functions alone, which want to
// know what is the most that can be right (internal/lint).
package stated

import "math/bits"

// integer is a type in which a file states numbers.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Int is a number that a file states, from 0 to most; ok is false where it is not.
func Int[T integer](n T, most int) (v int, ok bool) {
	if most < 0 || uint64(n) > uint64(most) { // a number below 0 is larger than any int
		return 0, false
	}
	return int(n), true
}

// Product is the product of two sizes; ok is false where one is negative, or the product is above most.
func Product(a, b, most int) (v int, ok bool) {
	if a < 0 || b < 0 || most < 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > uint64(most) {
		return 0, false
	}
	return int(lo), true
}

// Cut cuts off the first n bytes, as a file states it; ok is false where b has fewer.
func Cut[T integer](b []byte, n T) (first, rest []byte, ok bool) {
	k, ok := Int(n, len(b))
	if !ok {
		return nil, nil, false
	}
	return b[:k:k], b[k:], true
}
