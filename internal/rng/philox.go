package rng

import "math/bits"

// philox is Philox4x32 with ten rounds, a bijection of the counter for every key. It computes two blocks at once, for
// counters that differ in the last word only, since the rounds of one block depend on each other.
func philox(c0, c1, c2, c3 uint32, d3 uint32, k0, k1 uint32) (a, b [2]uint64) {
	const m0, m1 = 0xD2511F53, 0xCD9E8D57 // multipliers, and below the Weyl increments, of the paper's section 4
	d0, d1, d2 := c0, c1, c2
	for range 10 {
		p, q := uint64(m0)*uint64(c0), uint64(m1)*uint64(c2)
		r, s := uint64(m0)*uint64(d0), uint64(m1)*uint64(d2)
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		d0, d1, d2, d3 = uint32(s>>32)^d1^k0, uint32(s), uint32(r>>32)^d3^k1, uint32(r)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return [2]uint64{uint64(c0) | uint64(c1)<<32, uint64(c2) | uint64(c3)<<32},
		[2]uint64{uint64(d0) | uint64(d1)<<32, uint64(d2) | uint64(d3)<<32}
}

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
