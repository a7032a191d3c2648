package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const gemmSignature = "func(blocks *int32, count, n int, terms *int32, w, x, init, gate, dst *float32, masks *uint16, " +
	"wStride, dStride int, floor float32, mode int)"

// Comparison predicates of VCMPPS.
const (
	unordered = 0x03
	ordered   = 0x07
	less      = 0x11 // quiet, false on NaN
)

func gemm() {
	for _, m := range []int{1, 2, 3, 4, 5, 6, 8} {
		for _, n := range []int{1, 2, 4} {
			if m*n <= 24 {
				gemmTile(avx512, m, n)
			}
			if n == 1 || n == 2 && m <= 3 || n == 4 && m == 1 {
				gemmTile(avx2, m, n)
			}
		}
		if m*4 <= 24 {
			gemmPoolAVX512("gemmMaxPool", m, maxOfWindowAVX512)
			gemmPoolAVX512("gemmMeanPool", m, meanOfWindow(avx512, positiveAVX512))
			gemmPoolAVX2("gemmMaxPool", m, maxOfWindowAVX2)
			gemmPoolAVX2("gemmMeanPool", m, meanOfWindow(avx2, positiveAVX2))
		}
	}
}

// terms sums the terms of the block at blk. base holds the addresses of the columns' inputs for a term offset of 0.
func terms(t *target, label string, blk reg.Register, s strides, row0 int, acc [][]reg.VecVirtual, col func(j int, off reg.Register) Mem) {
	term, count := pointer(Mem{Base: blk}, "terms"), GP64()
	MOVLQSX(Mem{Base: blk, Disp: 4}, count)
	loop(label, count, func() {
		w, off := pointer(Mem{Base: term}, "w"), GP64()
		MOVLQSX(Mem{Base: term, Disp: 4}, off)
		ADDQ(Imm(8), term)
		t.outer(acc,
			func(i int, v reg.VecVirtual) { VBROADCASTSS(s.at(w, row0+i), v) },
			func(j int, v reg.VecVirtual) { VMOVUPS(col(j, off), v) })
	})
}

// fromBias sets the accumulators to the bias of their rows, or to 0 if there is none.
func fromBias(t *target, label string, row0 int, acc [][]reg.VecVirtual) {
	bias := Load(Param("init"), GP64())
	TESTQ(bias, bias)
	JZ(LabelRef(label + "_zero"))
	for i := range acc {
		for j := range acc[i] {
			VBROADCASTSS(Mem{Base: bias, Disp: 4 * (row0 + i)}, acc[i][j])
		}
	}
	JMP(LabelRef(label + "_terms"))
	Label(label + "_zero")
	for i := range acc {
		for j := range acc[i] {
			t.zero(acc[i][j])
		}
	}
	Label(label + "_terms")
}

// gemmTile emits the kernel of m rows that takes v vectors at a time. AVX-512 takes all n of the plan; AVX2 makes n/v
// rounds, and its rows in two passes when m is 8.
func gemmTile(t *target, m, v int) {
	TEXT(name("gemm%dx%d%s", m, v, t.name), NOSPLIT, gemmSignature)
	blk, count := Load(Param("blocks"), GP64()), Load(Param("count"), GP64())
	s := newStrides("wStride", m)
	floor := t.reg()
	passes := 1
	if t == avx2 && m == 8 {
		passes = 2
	}
	var vec, left, n4 reg.Register // AVX2: place of the round's first vector in the block, vectors left, 4n
	if t == avx2 {
		vec, left, n4 = GP64(), GP64(), GP64()
		MOVQ(param("n"), n4)
		SHLQ(Imm(2), n4)
	}
	Label("block")
	if t == avx2 {
		LEAQ(Mem{Base: blk, Disp: 8}, vec)
		MOVQ(param("n"), left)
		Label("round")
	}
	field := func(f, j int) Mem { // f = 0: X[j], f = 1: D[j]
		if t == avx2 {
			p := Mem{Base: vec, Disp: 4 * j}
			if f == 1 {
				p.Index, p.Scale = n4, 1
			}
			return p
		}
		return Mem{Base: blk, Disp: 8 + 4*v*f + 4*j}
	}
	for p := range passes {
		rows := m / passes
		gemmPass(t, name("p%d", p), blk, s, p*rows, rows, v, floor, field)
	}
	if t == avx2 {
		ADDQ(Imm(uint64(4*v)), vec)
		SUBQ(Imm(uint64(v)), left)
		JNZ(LabelRef("round"))
		LEAQ(Mem{Base: vec, Index: n4, Scale: 1}, blk)
	} else {
		ADDQ(Imm(uint64(8+8*v)), blk)
	}
	DECQ(count)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func gemmPass(t *target, label string, blk reg.Register, s strides, row0, rows, v int, floor reg.VecVirtual, field func(f, j int) Mem) {
	acc := t.grid(rows, t.parts(v))
	// each calls f for the accumulators in turn, with the addresses of their destination and, at the same offset, in
	// the buffer that more names.
	each := func(more string, f func(acc reg.VecVirtual, dst, other Mem)) {
		for j := range v {
			d := pointer(field(1, j), "dst")
			var o reg.Register = d
			if more != "" {
				o = pointer(field(1, j), more)
			}
			advance := func(stride Op) {
				ADDQ(stride, d)
				if more != "" {
					ADDQ(stride, o)
				}
			}
			if row0 > 0 {
				skip := Load(Param("dStride"), GP64())
				IMUL3Q(Imm(uint64(row0)), skip, skip)
				advance(skip)
			}
			for i := range rows {
				for h := range t.parts(1) {
					f(acc[i][t.parts(j)+h], Mem{Base: d, Disp: h * t.bytes}, Mem{Base: o, Disp: h * t.bytes})
				}
				if i < rows-1 {
					advance(param("dStride"))
				}
			}
		}
	}
	CMPQ(param("mode"), Imm(1))
	JNE(LabelRef(label + "_bias"))
	each("", func(acc reg.VecVirtual, dst, _ Mem) { VMOVUPS(dst, acc) })
	JMP(LabelRef(label + "_terms"))
	Label(label + "_bias")
	fromBias(t, label, row0, acc)

	x := make([]reg.Register, v)
	for j := range x {
		x[j] = pointer(field(0, j), "x")
	}
	terms(t, label, blk, s, row0, acc, func(j int, off reg.Register) Mem {
		return Mem{Base: x[j/t.parts(1)], Index: off, Scale: 1, Disp: j % t.parts(1) * t.bytes}
	})

	CMPQ(param("mode"), Imm(2))
	JEQ(LabelRef(label + "_gated"))
	VBROADCASTSS(param("floor"), floor)
	each("", func(acc reg.VecVirtual, dst, _ Mem) {
		VMAXPS(acc, floor, acc)
		VMOVUPS(acc, dst)
	})
	JMP(LabelRef(label + "_done"))
	Label(label + "_gated")
	t.zero(floor)
	each("gate", func(acc reg.VecVirtual, dst, gate Mem) {
		if t == avx512 {
			k := K()
			VCMPPS(Imm(less), gate, floor, k)
			VMOVAPS_Z(acc, k, acc)
		} else {
			k := t.reg()
			VCMPPS(Imm(less), gate, floor, k)
			VANDPS(k, acc, acc)
		}
		VMOVUPS(acc, dst)
	})
	Label(label + "_done")
}

// poolInputs are the addresses of the window's four inputs.
func poolInputs(blk reg.Register) []reg.Register {
	x := make([]reg.Register, 4)
	for j := range x {
		x[j] = pointer(Mem{Base: blk, Disp: 8 + 4*j}, "x")
	}
	return x
}

// poolOutputs are the addresses of a block's first output and of its masks, 1/8 of the output's offset into masks.
func poolOutputs(blk reg.Register) (dst, masks reg.Register) {
	dst, masks = GP64(), GP64()
	MOVLQSX(Mem{Base: blk, Disp: 24}, dst)
	MOVQ(dst, masks)
	SHRQ(Imm(3), masks)
	ADDQ(param("dst"), dst)
	ADDQ(param("masks"), masks)
	return dst, masks
}

func advancePool(dst, masks reg.Register) {
	stride := Load(Param("dStride"), GP64())
	ADDQ(stride, dst)
	SHRQ(Imm(3), stride)
	ADDQ(stride, masks)
}

// gemmPoolAVX512 takes the four vectors of a window for m rows. epilogue prepares its constants and returns a function that
// turns one row's sums into a vector and its masks.
func gemmPoolAVX512(kernel string, m int, epilogue func() func(v []reg.VecVirtual, dst, masks reg.Register)) {
	TEXT(name("%s%dAVX512", kernel, m), NOSPLIT, gemmSignature)
	t := avx512
	blk, count := Load(Param("blocks"), GP64()), Load(Param("count"), GP64())
	s := newStrides("wStride", m)
	Label("block")
	acc := t.grid(m, 4)
	fromBias(t, "pool", 0, acc)
	x := poolInputs(blk)
	terms(t, "terms", blk, s, 0, acc, func(j int, off reg.Register) Mem { return Mem{Base: x[j], Index: off, Scale: 1} })
	window := epilogue()
	dst, masks := poolOutputs(blk)
	for i := range m {
		window(acc[i], dst, masks)
		if i < m-1 {
			advancePool(dst, masks)
		}
	}
	ADDQ(Imm(8+8*4), blk)
	DECQ(count)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func maxOfWindowAVX512() func(v []reg.VecVirtual, dst, masks reg.Register) {
	t := avx512
	nan, zero := t.reg(), t.reg()
	VBROADCASTSS(constant32("quietNaN", 0x7fc00000), nan)
	t.zero(zero)
	return func(v []reg.VecVirtual, dst, masks reg.Register) {
		k01, k23, kb, number := K(), K(), K(), K()
		a, b, y := t.reg(), t.reg(), t.reg()
		VCMPPS(Imm(less), v[1], v[0], k01)
		VCMPPS(Imm(less), v[3], v[2], k23)
		VCMPPS(Imm(ordered), v[1], v[0], number)
		VCMPPS(Imm(ordered), v[3], v[2], number, number)
		VMAXPS(v[0], v[1], a)
		VMAXPS(v[2], v[3], b)
		VCMPPS(Imm(less), b, a, kb)
		VMAXPS(a, b, a)
		VMOVAPS(nan, y)
		VMAXPS(a, zero, number, y)
		VMOVUPS(y, Mem{Base: dst})
		KMOVW(k01, Mem{Base: masks})
		KMOVW(k23, Mem{Base: masks, Disp: 2})
		KMOVW(kb, Mem{Base: masks, Disp: 4})
		MOVW(U16(0), Mem{Base: masks, Disp: 6})
	}
}

// meanOfWindow is the same for both instruction sets, except for positive, which stores the mask of the lanes of v above 0.
func meanOfWindow(t *target, positive func(v, zero reg.VecVirtual, masks reg.Register, disp int)) func() func(v []reg.VecVirtual, dst, masks reg.Register) {
	return func() func(v []reg.VecVirtual, dst, masks reg.Register) {
		zero, quarter := t.reg(), t.reg()
		t.zero(zero)
		VBROADCASTSS(constant32("quarter", 0x3e800000), quarter)
		return func(v []reg.VecVirtual, dst, masks reg.Register) {
			for q := range v {
				positive(v[q], zero, masks, 2*q)
				VMAXPS(v[q], zero, v[q])
			}
			VADDPS(v[1], v[0], v[0])
			VADDPS(v[3], v[2], v[2])
			VADDPS(v[2], v[0], v[0])
			VMULPS(quarter, v[0], v[0])
			VMOVUPS(v[0], Mem{Base: dst})
		}
	}
}

func positiveAVX512(v, zero reg.VecVirtual, masks reg.Register, disp int) {
	k := K()
	VCMPPS(Imm(less), v, zero, k)
	KMOVW(k, Mem{Base: masks, Disp: disp})
}

func positiveAVX2(v, zero reg.VecVirtual, masks reg.Register, disp int) {
	k := avx2.reg()
	VCMPPS(Imm(less), v, zero, k)
	storeMask(k, masks, disp)
}

// gemmPoolAVX2 takes 8 lanes and up to 3 rows at a time; masks points to the byte of those lanes.
func gemmPoolAVX2(kernel string, m int, epilogue func() func(v []reg.VecVirtual, dst, masks reg.Register)) {
	TEXT(name("%s%dAVX2", kernel, m), NOSPLIT, gemmSignature)
	t := avx2
	blk, count := Load(Param("blocks"), GP64()), Load(Param("count"), GP64())
	s := newStrides("wStride", m)
	half := GP64() // 0 or 32: offset of the lanes
	Label("block")
	XORQ(half, half)
	Label("half")
	rows := m
	if m > 3 {
		rows = (m + 1) / 2
	}
	for row0 := 0; row0 < m; row0 += rows {
		label := name("rows%d", row0)
		acc := t.grid(min(rows, m-row0), 4)
		fromBias(t, label, row0, acc)
		x := poolInputs(blk)
		for j := range x {
			ADDQ(half, x[j])
		}
		terms(t, label, blk, s, row0, acc, func(j int, off reg.Register) Mem { return Mem{Base: x[j], Index: off, Scale: 1} })

		dst, masks := poolOutputs(blk)
		ADDQ(half, dst)
		byteOf := GP64()
		MOVQ(half, byteOf)
		SHRQ(Imm(5), byteOf)
		ADDQ(byteOf, masks)
		for range row0 {
			advancePool(dst, masks)
		}
		window := epilogue()
		for i := range acc {
			window(acc[i], dst, masks)
			if i < len(acc)-1 {
				advancePool(dst, masks)
			}
		}
	}
	XORQ(Imm(32), half)
	JNZ(LabelRef("half"))
	ADDQ(Imm(8+8*4), blk)
	DECQ(count)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// storeMask stores the byte of a comparison.
func storeMask(k reg.VecVirtual, masks reg.Register, disp int) {
	bits := GP32()
	VMOVMSKPS(k, bits)
	MOVB(bits.As8(), Mem{Base: masks, Disp: disp})
}

func maxOfWindowAVX2() func(v []reg.VecVirtual, dst, masks reg.Register) {
	t := avx2
	return func(v []reg.VecVirtual, dst, masks reg.Register) {
		k, a, b, none := t.reg(), t.reg(), t.reg(), t.reg()
		VCMPPS(Imm(less), v[1], v[0], k)
		storeMask(k, masks, 0)
		VCMPPS(Imm(less), v[3], v[2], k)
		storeMask(k, masks, 2)
		VMAXPS(v[0], v[1], a)
		VMAXPS(v[2], v[3], b)
		VCMPPS(Imm(less), b, a, k)
		storeMask(k, masks, 4)
		MOVB(Imm(0), Mem{Base: masks, Disp: 6})
		VCMPPS(Imm(unordered), v[1], v[0], none)
		VCMPPS(Imm(unordered), v[3], v[2], k)
		VORPS(k, none, none)
		VMAXPS(a, b, a)
		t.zero(b)
		VMAXPS(a, b, a)
		VORPS(none, a, a)
		VMOVUPS(a, Mem{Base: dst})
	}
}

var constants32 = map[string]Mem{}

// constant32 is a float32 in memory, by its bits.
func constant32(name string, bits uint32) Mem {
	m, ok := constants32[name]
	if !ok {
		m = ConstData(name, U32(bits))
		constants32[name] = m
	}
	return m
}
