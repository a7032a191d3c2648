package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Most kernels that move data are no faster with wider registers, so AVX-512 uses the AVX2 kernels, too.

func layout() {
	loadRows("loadF32AVX2", "float32", 4, func(src reg.Register, row []reg.Register) (low, high [4]vec) {
		for j := range 4 {
			for q, v := range []*vec{&low[j], &high[j]} {
				*v = YMM()
				VMOVUPS(Mem{Base: src, Index: row[j], Scale: 4, Disp: 16 * q}, (*v).AsX())
				VINSERTF128(Imm(1), Mem{Base: src, Index: row[j+4], Scale: 4, Disp: 16 * q}, *v, *v)
			}
		}
		return
	})
	loadF16()
	loadU8()
	loadU8Wide()
	standardise()
	transpose()
	laneSums()
	float32s()
	addFloat64s()
	for _, rows := range []int{4, 1} {
		each(name("sumRows%d", rows), "func(x, acc *float32, blocks, cols, rowStride int)",
			func(m *machine) { sumRows(m, rows) })
	}
	each("maxPool", "func(x *float32, taps *int32, y *float32, arg *int32, outputs, k int)", maxPool)
	each("maxPoolBackward", "func(dx *float32, taps *int32, dy *float32, arg *int32, outputs, k int)", maxPoolBackward)
	each("sumPool", "func(x *float32, taps *int32, y *float32, outputs, k int, scale float32)", sumPool)
	each("sumPoolBackward", "func(dx *float32, taps *int32, dy *float32, outputs, k int, scale float32)", sumPoolBackward)
	each("scale", "func(x, y *float32, n int, c float32)", scale)
	unpool()
	drop()
}

// quads transposes the two 4×4 blocks of v[0] … v[3], side by side.
func quads(v [4]vec) [4]vec {
	var t, out [4]vec
	for i := range t {
		t[i], out[i] = YMM(), YMM()
	}
	VUNPCKLPS(v[1], v[0], t[0])
	VUNPCKLPS(v[3], v[2], t[1])
	VUNPCKHPS(v[1], v[0], t[2])
	VUNPCKHPS(v[3], v[2], t[3])
	VUNPCKLPD(t[1], t[0], out[0])
	VUNPCKHPD(t[1], t[0], out[1])
	VUNPCKLPD(t[3], t[2], out[2])
	VUNPCKHPD(t[3], t[2], out[3])
	return out
}

// loadRows writes a kernel that takes 8 rows and blocks of 8 features. read returns the first four and the last four
// features of rows j and j+4, side by side.
func loadRows(kernel, of string, size int, read func(src reg.Register, row []reg.Register) (low, high [4]vec)) {
	TEXT(kernel, NOSPLIT, "func(src *"+of+", row *int, at *int32, dst *float32, blocks int, mean, factor float32)")
	Pragma("noescape")
	src, at, dst, blocks := load("src"), load("at"), load("dst"), load("blocks")
	table, row := load("row"), make([]reg.Register, 8)
	for i := range row {
		row[i] = GP64()
		MOVQ(Mem{Base: table, Disp: 8 * i}, row[i])
	}
	inChannel(&machine{avx2, map[uint32]Op{}}, func(label string, taken func(vec) vec) {
		loop(label, blocks, func() {
			low, high := read(src, row)
			for q, v := range [][4]vec{low, high} {
				for i, y := range quads(v) {
					to := GP64()
					MOVLQSX(Mem{Base: at, Disp: 16*q + 4*i}, to)
					VMOVUPS(taken(y), Mem{Base: dst, Index: to, Scale: 4})
				}
			}
			ADDQ(Imm(uint64(8*size)), src)
			ADDQ(Imm(32), at)
		})
	})
	VZEROUPPER()
	RET()
}

// inChannel emits loops twice: for numbers that a channel changes, (x − mean)·factor, and for those that stay as they are.
func inChannel(m *machine, loops func(label string, taken func(x vec) vec)) {
	for _, of := range []struct {
		name  string
		plain float32
	}{{"mean", 0}, {"factor", 1}} {
		bits := GP32()
		MOVL(param(of.name), bits)
		CMPL(bits, U32(math.Float32bits(of.plain)))
		JNE(LabelRef("changed"))
	}
	loops("block", func(x vec) vec { return x })
	JMP(LabelRef("done"))
	Label("changed")
	mean, factor := m.reg(), m.reg()
	VBROADCASTSS(param("mean"), mean)
	VBROADCASTSS(param("factor"), factor)
	loops("changed_block", func(x vec) vec { return m.mul(m.sub(x, mean), factor) })
	Label("done")
}

// fractions makes bytes fractions of 255: x·high + x·low, where high + low is 1/255 to 48 bits. For all 256 bytes that is what
// IEEE 754 divides to.
func fractions(m *machine) func(x vec) vec {
	const inverse = 1. / 255
	high, low := m.k(inverse), m.k(inverse-float64(float32(inverse)))
	return func(x vec) vec {
		VCVTDQ2PS(x, x)
		v := m.mul(x, low)
		VFMADD231PS(high, x, v)
		return v
	}
}

// loadU8 takes 8 rows and blocks of 8 features.
func loadU8() {
	divided := fractions(&machine{avx2, map[uint32]Op{}})
	loadRows("loadU8AVX2", "uint8", 1, widened(func(src reg.Register, row reg.Register, x vec) vec {
		VPMOVZXBD(Mem{Base: src, Index: row, Scale: 1}, x)
		return divided(x)
	}))
}

// loadF16 takes 8 rows and blocks of 8 features. It needs no stack: it may read a file that shrinks, and a fault of it becomes a panic.
func loadF16() {
	loadRows("loadF16AVX2", "uint16", 2, widened(func(src reg.Register, row reg.Register, x vec) vec {
		VCVTPH2PS(Mem{Base: src, Index: row, Scale: 2}, x)
		return x
	}))
}

// widened is a read of loadRows whose numbers, of which one widens 8 of a row into x, are not yet float32.
func widened(one func(src, row reg.Register, x vec) vec) func(src reg.Register, row []reg.Register) (low, high [4]vec) {
	return func(src reg.Register, row []reg.Register) (low, high [4]vec) {
		var v [8]vec
		for i := range v {
			v[i] = one(src, row[i], YMM())
		}
		for j := range 4 {
			low[j], high[j] = YMM(), YMM()
			VPERM2F128(Imm(0x20), v[j+4], v[j], low[j])
			VPERM2F128(Imm(0x31), v[j+4], v[j], high[j])
		}
		return
	}
}

// standardise takes the vectors of n features, in float64, a quarter of a vector at a time.
func standardise() {
	TEXT("standardiseAVX2", NOSPLIT, "func(at *int32, mean, sd *float64, dst *float32, n int, to float64)")
	Pragma("noescape")
	at, mean, sd, dst, n, to := load("at"), load("mean"), load("sd"), load("dst"), load("n"), YMM()
	VBROADCASTSD(param("to"), to)
	loop("feature", n, func() {
		x, m, d := GP64(), YMM(), YMM()
		MOVLQSX(Mem{Base: at}, x)
		LEAQ(Mem{Base: dst, Index: x, Scale: 4}, x)
		VBROADCASTSD(Mem{Base: mean}, m)
		VBROADCASTSD(Mem{Base: sd}, d)
		for i := range 4 {
			v := YMM()
			VCVTPS2PD(Mem{Base: x, Disp: 16 * i}, v)
			VSUBPD(m, v, v)
			VDIVPD(d, v, v)
			VMULPD(v, to, v)
			VCVTPD2PSY(v, v.AsX())
			VMOVUPS(v.AsX(), Mem{Base: x, Disp: 16 * i})
		}
		ADDQ(Imm(4), at)
		advance(8, mean, sd)
	})
	VZEROUPPER()
	RET()
}

// loadU8Wide takes 16 rows and blocks of 16 features. It transposes bytes, where loadU8 transposes numbers of four bytes: that is
// half of the shuffles, of which a processor makes one a cycle. Lane l of a[k] has row 4l+k; unpacking leaves four rows of a
// feature side by side, and a permutation brings those of all lanes together.
func loadU8Wide() {
	m := &machine{avx512, map[uint32]Op{}}
	TEXT("loadU8AVX512", NOSPLIT, "func(src *uint8, row *int, at *int32, dst *float32, blocks int, mean, factor float32)")
	Pragma("noescape")
	src, row, at, dst, blocks := load("src"), load("row"), load("at"), load("dst"), load("blocks")
	data := GLOBL("lanesTogether", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(uint32(4*(i%4)+i/4)))
	}
	together, bytes := ZMM(), AllocLocal(256)
	VMOVDQU32(data, together)
	divided := fractions(m)
	each := func(taken func(vec) vec) {
		var a [4]vec
		for k := range a {
			a[k] = ZMM()
			for l := range 4 {
				from := GP64()
				MOVQ(Mem{Base: row, Disp: 8 * (4*l + k)}, from)
				if l == 0 {
					VMOVDQU(Mem{Base: src, Index: from, Scale: 1}, a[k].AsX())
				} else {
					VINSERTI32X4(Imm(uint64(l)), Mem{Base: src, Index: from, Scale: 1}, a[k], a[k])
				}
			}
		}
		unpack := func(op func(...Op), x, y vec) vec { v := ZMM(); op(y, x, v); return v }
		for half, bw := range []func(...Op){VPUNPCKLBW, VPUNPCKHBW} {
			low, high := unpack(bw, a[0], a[1]), unpack(bw, a[2], a[3])
			for quarter, wd := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
				v := unpack(wd, low, high)
				VPERMD(v, together, v)
				VMOVDQU32(v, bytes.Offset(64*(2*half+quarter)))
			}
		}
		for f := range 16 {
			x, to := ZMM(), GP64()
			VPMOVZXBD(bytes.Offset(16*f), x)
			MOVLQSX(Mem{Base: at, Disp: 4 * f}, to)
			VMOVUPS(taken(divided(x)), Mem{Base: dst, Index: to, Scale: 4})
		}
		ADDQ(Imm(16), src)
		ADDQ(Imm(64), at)
	}
	inChannel(m, func(label string, taken func(vec) vec) { loop(label, blocks, func() { each(taken) }) })
	VZEROUPPER()
	RET()
}

// transpose takes 8 lanes and blocks of 8 vectors.
func transpose() {
	TEXT("transposeAVX2", NOSPLIT, "func(x, dst *float32, dstStride, blocks int)")
	Pragma("noescape")
	x, dst, blocks, high := load("x"), load("dst"), load("blocks"), GP64()
	s := newStrides("dstStride", 4)
	LEAQ(Mem{Base: dst, Index: s[1], Scale: 4}, high)
	loop("block", blocks, func() {
		for q, to := range []reg.Register{dst, high} {
			var v [4]vec
			for j := range v {
				v[j] = YMM()
				VMOVUPS(Mem{Base: x, Disp: 64*j + 16*q}, v[j].AsX())
				VINSERTF128(Imm(1), Mem{Base: x, Disp: 64*(j+4) + 16*q}, v[j], v[j])
			}
			for i, y := range quads(v) {
				VMOVUPS(y, s.at(to, i))
			}
		}
		ADDQ(U32(512), x)
		advance(32, dst, high)
	})
	VZEROUPPER()
	RET()
}

// laneSums: mask has a word for each lane of the last group.
func laneSums() {
	TEXT("laneSumsAVX2", NOSPLIT, "func(ll *float32, groups int, mask *int32, sums *float64, n int)")
	Pragma("noescape")
	ll, mask, sums, n := load("ll"), load("mask"), load("sums"), load("n")
	loop("sum", n, func() {
		acc, groups := avx2.regs(4), load("groups")
		for _, a := range acc {
			avx2.zero(a)
		}
		add := func(i int, v vec) {
			VCVTPS2PD(v.AsX(), v)
			VADDPD(v, acc[i], acc[i])
		}
		DECQ(groups)
		loop("group", groups, func() {
			for i := range acc {
				v := YMM()
				VMOVUPS(Mem{Base: ll, Disp: 16 * i}, v.AsX())
				add(i, v)
			}
			advance(64, ll)
		})
		for i := range acc {
			v := YMM()
			VMOVUPS(Mem{Base: mask, Disp: 16 * i}, v.AsX())
			VANDPS(Mem{Base: ll, Disp: 16 * i}, v.AsX(), v.AsX())
			add(i, v)
		}
		VADDPD(acc[2], acc[0], acc[0])
		VADDPD(acc[3], acc[1], acc[1])
		VADDPD(acc[1], acc[0], acc[0])
		VEXTRACTF128(Imm(1), acc[0], acc[1].AsX())
		VADDPD(acc[1].AsX(), acc[0].AsX(), acc[0].AsX())
		VUNPCKHPD(acc[0].AsX(), acc[0].AsX(), acc[1].AsX())
		VADDSD(acc[1].AsX(), acc[0].AsX(), acc[0].AsX())
		VADDSD(Mem{Base: sums}, acc[0].AsX(), acc[0].AsX())
		VMOVSD(acc[0].AsX(), Mem{Base: sums})
		advance(64, ll)
		advance(8, sums)
	})
	VZEROUPPER()
	RET()
}

// float32s and addFloat64s take blocks of 16.
func float32s() {
	TEXT("float32sAVX2", NOSPLIT, "func(dst *float32, src *float64, blocks int)")
	Pragma("noescape")
	dst, src, blocks := load("dst"), load("src"), load("blocks")
	loop("block", blocks, func() {
		for i := range 4 {
			v := XMM()
			VCVTPD2PSY(Mem{Base: src, Disp: 32 * i}, v)
			VMOVUPS(v, Mem{Base: dst, Disp: 16 * i})
		}
		advance(64, dst, src, src)
	})
	VZEROUPPER()
	RET()
}

func addFloat64s() {
	TEXT("addFloat64sAVX2", NOSPLIT, "func(dst *float64, src *float32, blocks int)")
	Pragma("noescape")
	dst, src, blocks := load("dst"), load("src"), load("blocks")
	loop("block", blocks, func() {
		for i := range 4 {
			v := YMM()
			VCVTPS2PD(Mem{Base: src, Disp: 16 * i}, v)
			VADDPD(Mem{Base: dst, Disp: 32 * i}, v, v)
			VMOVUPD(v, Mem{Base: dst, Disp: 32 * i})
		}
		advance(64, src, dst, dst)
	})
	VZEROUPPER()
	RET()
}

// sumRows takes blocks of rows. Their sums are independent, which hides the latency of each.
func sumRows(m *machine, rows int) {
	x, acc, blocks := load("x"), load("acc"), load("blocks")
	s := newStrides("rowStride", rows)
	loop("block", blocks, func() {
		a, at, cols := m.regs(m.parts(rows)), GP64(), load("cols")
		for i := range a {
			VMOVUPS(Mem{Base: acc, Disp: i * m.bytes}, a[i])
		}
		MOVQ(x, at)
		loop("col", cols, func() {
			for i := range a {
				VADDPS(s.at(at, i/m.parts(1)).Offset(i%m.parts(1)*m.bytes), a[i], a[i])
			}
			advance(64, at)
		})
		for i := range a {
			VMOVUPS(a[i], Mem{Base: acc, Disp: i * m.bytes})
		}
		ADDQ(U32(uint32(64*rows)), acc)
		for range rows {
			ADDQ(param("rowStride"), x)
		}
	})
}

// windows runs start, tap and end for each output; tap, for taps that are not −1, gets the address of the tap's
// vector and index, its number in every lane. The kernels of pools take the first register of each vector.
func windows(m *machine, buffer string, start func(), tap func(at Mem, index vec), end func()) {
	x, taps, outputs := load(buffer), load("taps"), load("outputs")
	one := m.bits(1)
	loop("output", outputs, func() {
		start()
		index, k, off := m.copy(m.k(0)), load("k"), GP64()
		loop("tap", k, func() {
			MOVLQSX(Mem{Base: taps}, off)
			advance(4, taps)
			TESTQ(off, off)
			JS(LabelRef("border"))
			tap(Mem{Base: x, Index: off, Scale: 4}, index)
			Label("border")
			VPADDD(one, index, index)
		})
		end()
	})
}

func maxPool(m *machine) {
	y, arg, best, which := load("y"), load("arg"), m.reg(), m.reg()
	low, none := m.bits(0xff800000), m.bits(1<<32-1)
	windows(m, "x", func() {
		VMOVUPS(low, best)
		VMOVUPS(none, which)
	}, func(at Mem, index vec) {
		v := m.copy(at)
		more, nan := m.compare(greater, v, best), m.compare(notOrdered, v, v)
		if m.target == avx512 {
			KORW(more, nan, more)
		} else {
			VORPS(more, nan, more)
		}
		VMOVUPS(m.choose(more, v, best), best)
		VMOVUPS(m.choose(more, index, which), which)
	}, func() {
		VMOVUPS(best, Mem{Base: y})
		VMOVUPS(which, Mem{Base: arg})
		advance(64, y, arg)
	})
}

func maxPoolBackward(m *machine) {
	dy, arg, d, which := load("dy"), load("arg"), m.reg(), m.reg()
	windows(m, "dx", func() {
		VMOVUPS(Mem{Base: dy}, d)
		VMOVUPS(Mem{Base: arg}, which)
		advance(64, dy, arg)
	}, func(at Mem, index vec) {
		VMOVUPS(m.add(m.keep(m.equal(index, which), d), at), at)
	}, func() {})
}

func sumPool(m *machine) {
	y, sum, scale := load("y"), m.reg(), m.reg()
	VBROADCASTSS(param("scale"), scale)
	zero := m.k(0)
	windows(m, "x", func() { VMOVUPS(zero, sum) },
		func(at Mem, _ vec) { VADDPS(at, sum, sum) },
		func() {
			VMOVUPS(m.mul(sum, scale), Mem{Base: y})
			advance(64, y)
		})
}

func sumPoolBackward(m *machine) {
	dy, d, scale := load("dy"), m.reg(), m.reg()
	VBROADCASTSS(param("scale"), scale)
	windows(m, "dx", func() {
		VMULPS(Mem{Base: dy}, scale, d)
		advance(64, dy)
	}, func(at Mem, _ vec) { VMOVUPS(m.add(d, at), at) }, func() {})
}

func scale(m *machine) {
	x, y, n, c := load("x"), load("y"), load("n"), m.reg()
	VBROADCASTSS(param("c"), c)
	loop("vector", n, func() {
		VMOVUPS(m.mul(c, Mem{Base: x}), Mem{Base: y})
		advance(m.bytes, x, y)
	})
}

// unpool takes each vector as two halves, each with its byte of the mask.
func unpool() {
	bit := GLOBL("unpoolBits", RODATA|NOPTR)
	for l := range 8 {
		DATA(4*l, U32(1<<l))
	}
	TEXT("unpoolAVX2", NOSPLIT, "func(dy *float32, masks *uint16, upper, lower *float32, count int)")
	Pragma("noescape")
	dy, masks, count := load("dy"), load("masks"), load("count")
	upper, lower := load("upper"), load("lower")
	bits := YMM()
	VMOVDQU(bit, bits)
	loop("pooled", count, func() {
		for h := range 2 {
			d := YMM()
			VMOVUPS(Mem{Base: dy, Disp: 32 * h}, d)
			for q := range 4 {
				k, row := YMM(), upper
				if q >= 2 {
					row = lower
				}
				VPBROADCASTB(Mem{Base: masks, Disp: 2*q + h}, k)
				VPAND(bits, k, k)
				VPCMPEQD(bits, k, k)
				VANDPS(d, k, k)
				VMOVUPS(k, Mem{Base: row, Disp: 64*(q%2) + 32*h})
			}
		}
		advance(64, dy)
		advance(8, masks)
		for range 2 { // 128 does not fit the short form of an addition
			advance(64, upper, lower)
		}
	})
	VZEROUPPER()
	RET()
}
