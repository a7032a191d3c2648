package rng

import "math/bits"

// below returns a uniform integer in [0, n), n > 0: the high word of a product. It draws again in the few cases that
// would favour small numbers.
func (s *Stream) below(n uint64) uint64 {
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for t := -n % n; lo < t; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}
