package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	dotSignature     = "func(pairs *int32, count int, dy, x, acc *float32, streams *int32, dyStride, accStride int)"
	poolDotSignature = "func(pairs *int32, count int, dy *float32, masks *uint16, x, acc *float32, streams, window *int32, dyStride, accStride int)"
)

func dot() {
	for _, m := range []int{1, 2, 4} {
		for n := 1; n <= 6; n++ {
			dotTile(avx512, m, n, 1)
			switch { // 8 to 12 accumulators, if the tile has as many
			case m*n <= 6:
				dotTile(avx2, m, n, 2)
			case m*n <= 12:
				dotTile(avx2, m, n, 1)
			}
		}
	}
	for _, n := range []int{1, 2, 3, 5, 8, 9} {
		poolDotAVX512(1, n)
		poolDotAVX512(2, n)
		poolDotAVX2(n)
	}
	reduceAdd()
	poolMasks()
	peak(avx512, 24)
	peak(avx2, 14)
}

// streams returns the addresses of the streams of x for a pair offset of 0.
func streams(n int) []reg.Register {
	table := Load(Param("streams"), GP64())
	x := make([]reg.Register, n)
	for j := range x {
		x[j] = pointer(Mem{Base: table, Disp: 4 * j}, "x")
	}
	return x
}

func clearAcc(t *target, acc [][]reg.VecVirtual) {
	for _, row := range acc {
		for _, v := range row {
			t.zero(v)
		}
	}
}

// addAcc adds the accumulators to their places in memory.
func addAcc(t *target, acc [][]reg.VecVirtual, parts int) {
	base := Load(Param("acc"), GP64())
	for i := range acc {
		for j, v := range acc[i] {
			m := Mem{Base: base, Disp: j/parts*64 + j%parts*t.bytes}
			VADDPS(m, v, v)
			VMOVUPS(v, m)
		}
		if i < len(acc)-1 {
			ADDQ(param("accStride"), base)
		}
	}
}

// dotTile emits the kernel of m × n streams. It takes parts registers of each vector: with AVX2, 1 is one half of the
// lanes.
func dotTile(t *target, m, n, parts int) {
	TEXT(name("dot%dx%d%s", m, n, t.name), NOSPLIT, dotSignature)
	pair, count := Load(Param("pairs"), GP64()), Load(Param("count"), GP64())
	s := newStrides("dyStride", m)
	x := streams(n)
	// The halves of a vector are independent tiles that share the addresses.
	acc := t.grid(m, n*parts)
	clearAcc(t, acc)
	loop("pairs", count, func() {
		dy, off := pointer(Mem{Base: pair}, "dy"), GP64()
		MOVLQSX(Mem{Base: pair, Disp: 4}, off)
		ADDQ(Imm(8), pair)
		for h := range parts {
			part := make([][]reg.VecVirtual, m)
			for i := range part {
				for j := range n {
					part[i] = append(part[i], acc[i][j*parts+h])
				}
			}
			t.outer(part,
				func(i int, v reg.VecVirtual) { VMOVUPS(s.at(dy, i).Offset(h*t.bytes), v) },
				func(j int, v reg.VecVirtual) {
					VMOVUPS(Mem{Base: x[j], Index: off, Scale: 1, Disp: h * t.bytes}, v)
				})
		}
	})
	addAcc(t, acc, parts)
	VZEROUPPER()
	RET()
}

// poolPair loads the addresses of a pair's dy and masks, and the offset in x.
func poolPair(pair reg.Register) (dy, masks, off reg.Register) {
	dy, masks, off = GP64(), GP64(), GP64()
	MOVLQSX(Mem{Base: pair}, dy)
	MOVQ(dy, masks)
	SHRQ(Imm(3), masks)
	ADDQ(param("dy"), dy)
	ADDQ(param("masks"), masks)
	MOVLQSX(Mem{Base: pair, Disp: 4}, off)
	ADDQ(Imm(8), pair)
	return dy, masks, off
}

// windowOffset is the place of position q of the window relative to the streams.
func windowOffset(off reg.Register, q int) reg.Register {
	r := Load(Param("window"), GP64())
	MOVLQSX(Mem{Base: r, Disp: 4 * q}, r)
	ADDQ(off, r)
	return r
}

func poolDotAVX512(m, n int) {
	TEXT(name("poolDot%dx%dAVX512", m, n), NOSPLIT, poolDotSignature)
	t := avx512
	pair, count := Load(Param("pairs"), GP64()), Load(Param("count"), GP64())
	x := streams(n)
	acc := t.grid(m, n)
	clearAcc(t, acc)
	loop("pairs", count, func() {
		dy, masks0, off := poolPair(pair)
		d, masks := t.regs(m), []reg.Register{masks0}
		VMOVUPS(Mem{Base: dy}, d[0])
		if m > 1 {
			stride := Load(Param("dyStride"), GP64())
			VMOVUPS(Mem{Base: dy, Index: stride, Scale: 1}, d[1])
			SHRQ(Imm(3), stride)
			ADDQ(masks0, stride)
			masks = append(masks, stride)
		}
		for q := range 4 {
			at, k := windowOffset(off, q), make([]reg.Register, m)
			for i := range m {
				k[i] = K()
				KMOVW(Mem{Base: masks[i], Disp: 2 * q}, k[i])
			}
			for j := range n {
				v := t.reg()
				VMOVUPS(Mem{Base: x[j], Index: at, Scale: 1}, v)
				for i := range m {
					VFMADD231PS(v, d[i], k[i], acc[i][j])
				}
			}
		}
	})
	addAcc(t, acc, 1)
	VZEROUPPER()
	RET()
}

// poolDotAVX2 takes one stream of dy and one half of the lanes: masks points to the byte of that half. Lanes that are
// not in the mask get the product of −0 and +0, which does not change an accumulator, not even −0 or an infinity.
func poolDotAVX2(n int) {
	TEXT(name("poolDot1x%dAVX2", n), NOSPLIT, poolDotSignature)
	t := avx2
	bit := GLOBL(name("laneBits%d", n), RODATA|NOPTR)
	for l := range 8 {
		DATA(4*l, U32(1<<l))
	}
	pair, count := Load(Param("pairs"), GP64()), Load(Param("count"), GP64())
	x := streams(n)
	bits, negative := t.reg(), t.reg()
	VMOVDQU(bit, bits)
	VPCMPEQD(negative, negative, negative)
	VPSLLD(Imm(31), negative, negative)
	acc := t.grid(1, n)
	clearAcc(t, acc)
	loop("pairs", count, func() {
		dy, masks, off := poolPair(pair)
		d := t.reg()
		VMOVUPS(Mem{Base: dy}, d)
		for q := range 4 {
			at, k, dk := windowOffset(off, q), t.reg(), t.reg()
			VPBROADCASTB(Mem{Base: masks, Disp: 2 * q}, k)
			VPAND(bits, k, k)
			VPCMPEQD(bits, k, k)
			VBLENDVPS(k, d, negative, dk)
			for j := range n {
				v := t.reg()
				VANDPS(Mem{Base: x[j], Index: at, Scale: 1}, k, v)
				VFMADD231PS(v, dk, acc[0][j])
			}
		}
	})
	addAcc(t, acc, 1)
	VZEROUPPER()
	RET()
}

// reduceAdd takes four vectors at a time.
func reduceAdd() {
	TEXT("reduceAddAVX2", NOSPLIT, "func(acc, sums *float32, count int)")
	acc, sums, count := Load(Param("acc"), GP64()), Load(Param("sums"), GP64()), Load(Param("count"), GP64())
	loop("four", count, func() {
		var v [4]reg.VecVirtual
		for k := range v {
			y, high := YMM(), XMM()
			VMOVUPS(Mem{Base: acc, Disp: 64 * k}, y)
			VADDPS(Mem{Base: acc, Disp: 64*k + 32}, y, y)
			VEXTRACTF128(Imm(1), y, high)
			v[k] = XMM()
			VADDPS(y.AsX(), high, v[k])
		}
		pairs := func(a, b reg.VecVirtual) reg.VecVirtual { // lanes 0+2, 1+3 of a, then of b
			low, high := XMM(), XMM()
			VMOVLHPS(b, a, low)
			VMOVHLPS(a, b, high)
			VADDPS(high, low, low)
			return low
		}
		ab, cd := pairs(v[0], v[1]), pairs(v[2], v[3])
		even, odd := XMM(), XMM()
		VSHUFPS(Imm(0x88), cd, ab, even)
		VSHUFPS(Imm(0xdd), cd, ab, odd)
		VADDPS(odd, even, even)
		VADDPS(Mem{Base: sums}, even, even)
		VMOVUPS(even, Mem{Base: sums})
		ADDQ(U32(256), acc)
		ADDQ(Imm(16), sums)
	})
	VZEROUPPER()
	RET()
}

// poolMasks takes four groups of four words at a time: with p = k01, k01, k23, k23 and q = kb four times, the result
// is (p ^ constant) & (q ^ constant).
func poolMasks() {
	constant := func(name string, words [4]uint64) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i, w := range words {
			DATA(8*i, U64(w))
		}
		return m
	}
	pairs := constant("poolPairs", [4]uint64{0x0302030201000100, 0x0b0a0b0a09080908, 0x0302030201000100, 0x0b0a0b0a09080908})
	both := constant("poolBoth", [4]uint64{0x0504050405040504, 0x0d0c0d0c0d0c0d0c, 0x0504050405040504, 0x0d0c0d0c0d0c0d0c})
	flipPairs := constant("poolFlipPairs", [4]uint64{0x0000ffff0000ffff, 0x0000ffff0000ffff, 0x0000ffff0000ffff, 0x0000ffff0000ffff})
	flipBoth := constant("poolFlipBoth", [4]uint64{0x00000000ffffffff, 0x00000000ffffffff, 0x00000000ffffffff, 0x00000000ffffffff})

	TEXT("poolMasksAVX2", NOSPLIT, "func(masks *uint16, count int)")
	masks, count := Load(Param("masks"), GP64()), Load(Param("count"), GP64())
	var c [4]reg.VecVirtual
	for i, m := range []Mem{pairs, both, flipPairs, flipBoth} {
		c[i] = YMM()
		VMOVDQU(m, c[i])
	}
	loop("four", count, func() {
		p, q := YMM(), YMM()
		VMOVDQU(Mem{Base: masks}, p)
		VPSHUFB(c[1], p, q)
		VPSHUFB(c[0], p, p)
		VPXOR(c[2], p, p)
		VPXOR(c[3], q, q)
		VPAND(p, q, q)
		VMOVDQU(q, Mem{Base: masks})
		ADDQ(Imm(32), masks)
	})
	VZEROUPPER()
	RET()
}

// peak runs iters rounds of n independent multiply-adds.
func peak(t *target, n int) {
	TEXT("peak"+t.name, NOSPLIT, "func(iters int)")
	count := Load(Param("iters"), GP64())
	a, acc := t.reg(), t.regs(n)
	t.zero(a)
	for _, v := range acc {
		t.zero(v)
	}
	loop("round", count, func() {
		for range 4 {
			for _, v := range acc {
				VFMADD231PS(a, a, v)
			}
		}
	})
	VZEROUPPER()
	RET()
}
