package lanes

// Philox fills out with the numbers of consecutive blocks of Philox4x32 with ten rounds (Salmon, Moraes, Dror, Shaw: Parallel random
// numbers: as easy as 1, 2, 3, SC 2011), two of each block. The first block has the counter (counter, first), the next ones
// (counter, first+1) and so on; the last word of the counter wraps around. An odd last number is left as it is.
func Philox(counter [3]uint32, first uint32, key [2]uint32, out []uint64) {
	done := philoxAssembly(counter, first, key, out)
	first += uint32(done / 2)
	for out = out[done:]; len(out) >= 2; out = out[min(4, len(out)):] {
		a, b := PhiloxPair(counter, first, first+1, key)
		if out[0], out[1] = a[0], a[1]; len(out) >= 4 {
			out[2], out[3] = b[0], b[1]
		}
		first += 2
	}
}

// PhiloxPair computes two blocks at once, for counters that differ in the last word only, since the rounds of one block depend on
// each other. For every key a block is a bijection of the counter.
func PhiloxPair(counter [3]uint32, first, second uint32, key [2]uint32) (a, b [2]uint64) {
	const m0, m1 = 0xD2511F53, 0xCD9E8D57 // multipliers, and below the Weyl increments, of the paper's section 4
	c0, c1, c2, c3 := counter[0], counter[1], counter[2], first
	d0, d1, d2, d3 := counter[0], counter[1], counter[2], second
	k0, k1 := key[0], key[1]
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
