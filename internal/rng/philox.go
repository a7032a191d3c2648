package rng

import "math/bits"

// philox is Philox4x32 with ten rounds: a bijection of the counter for every key.
func philox(c [4]uint32, k [2]uint32) [4]uint32 {
	const m0, m1 = 0xD2511F53, 0xCD9E8D57 // multipliers, and below the Weyl increments, of the paper's section 4
	c0, c1, c2, c3, k0, k1 := c[0], c[1], c[2], c[3], k[0], k[1]
	for range 10 {
		a, b := uint64(m0)*uint64(c0), uint64(m1)*uint64(c2)
		c0, c1, c2, c3 = uint32(b>>32)^c1^k0, uint32(b), uint32(a>>32)^c3^k1, uint32(a)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return [4]uint32{c0, c1, c2, c3}
}

// below returns a uniform integer in [0, n), n > 0: the high word of a product, drawn again in the few cases that
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
