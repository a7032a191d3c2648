package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// philox writes the kernel of ../philox.go. A word of the counter is the lower half of 64 bits, one register for the blocks
// side by side: the multiplication reads nothing else, and its product is two words of the next round. Several registers go
// through the rounds together, since those of one wait for each other.
func philox() {
	each("philox", "func(counter, key *uint32, out *uint64, count int)", func(m *machine) {
		side, groups := m.bytes/8, 2
		if m.target == avx512 {
			groups = 4
		}
		m0, m1, w0, w1 := m.bits(0xD2511F53), m.bits(0xCD9E8D57), m.bits(0x9E3779B9), m.bits(0xBB67AE85)
		ahead := m.bits(uint32(groups * side))
		counter, key, out, count := load("counter"), load("key"), load("out"), load("count")
		all := func(at Mem) vec { v := m.reg(); VPBROADCASTD(at, v); return v }
		block := m.reg()
		VPADDD(all(Mem{Base: counter, Disp: 12}), m.copy(blocksOf(side)), block)
		loop("blocks", count, func() {
			c := make([][4]vec, groups)
			for g := range c {
				for i := range 3 {
					c[g][i] = all(Mem{Base: counter, Disp: 4 * i})
				}
				c[g][3] = m.copy(block)
				if g > 0 {
					VPADDD(m.bits(uint32(g*side)), c[g][3], c[g][3])
				}
			}
			VPADDD(ahead, block, block)
			k0, k1 := all(Mem{Base: key}), all(Mem{Base: key, Disp: 4})
			for range 10 {
				for g, w := range c {
					p, q := m.reg(), m.reg()
					VPMULUDQ(m0, w[0], p)
					VPMULUDQ(m1, w[2], q)
					c[g] = [4]vec{m.highWord(q, w[1], k0), q, m.highWord(p, w[3], k1), p}
				}
				VPADDD(w0, k0, k0)
				VPADDD(w1, k1, k1)
			}
			for g, w := range c {
				words := func(imm uint64, x, y vec) vec { v := m.reg(); VSHUFPS(Imm(imm), y, x, v); return v }
				const even, odd = 0x88, 0xdd
				x, y := words(even, w[0], w[1]), words(even, w[2], w[3])
				VMOVUPS(words(even, x, y), Mem{Base: out, Disp: 2 * g * m.bytes})
				VMOVUPS(words(odd, x, y), Mem{Base: out, Disp: (2*g + 1) * m.bytes})
			}
			ADDQ(U32(uint32(2*groups*m.bytes)), out)
		})
	})
}

// highWord is the upper word of each product, xor two words.
func (m *machine) highWord(product, word, key vec) vec {
	v := m.reg()
	VPSRLQ(Imm(32), product, v)
	if m.target == avx512 {
		VPTERNLOGD(Imm(0x96), word, key, v)
		return v
	}
	VPXOR(word, v, v)
	VPXOR(key, v, v)
	return v
}

// blocksOf numbers the blocks of a register: those in even places leave it first.
func blocksOf(side int) Mem {
	data := GLOBL(name("blocks%d", side), RODATA|NOPTR)
	for i := range side {
		DATA(8*i, U64(uint64(i%2*side/2+i/2)))
	}
	return data
}
