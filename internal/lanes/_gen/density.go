package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// density writes the kernels of ../density.go. With AVX2 a vector is two registers, which one pass of a loop takes one after
// the other.
func density() {
	each("squareSum", "func(y *float32, stride, vectors, width int, mean *float64, mask *int32, sum *float32)", squareSum)
	each("normalTerms",
		"func(m *float32, stride, width int, x, terms *float32, vectors int, mask *int32, sum *float32)", normalTerms)
	ln2 := GLOBL("lanesLn2", RODATA|NOPTR)
	DATA(0, U64(math.Float64bits(math.Ln2)))
	each("mixtureTerm", "func(x, y, terms, out *float32, vectors, before, after int, mx, my float64, peak float32, sum *float64)",
		func(m *machine) { mixtureTerm(m, ln2) })
}

// broadcast is a number of memory in every lane.
func (m *machine) broadcast(from Mem) vec {
	v := m.reg()
	VBROADCASTSS(from, v)
	return v
}

// halves reads a float64 as the sum of two float32, in every lane: x rounded, and what that leaves.
func (m *machine) halves(from Mem) (high, low vec) {
	x, h, back, l := XMM(), XMM(), XMM(), XMM()
	VMOVSD(from, x)
	VCVTSD2SS(x, x, h)
	VCVTSS2SD(h, h, back)
	VSUBSD(back, x, x)
	VCVTSD2SS(x, x, l)
	high, low = m.reg(), m.reg()
	VBROADCASTSS(h, high)
	VBROADCASTSS(l, low)
	return high, low
}

// filled are the registers of n vectors with x in every lane.
func (m *machine) filled(n int, x Op) []vec {
	v := m.regs(m.parts(n))
	for i := range v {
		v[i] = m.copy(x)
	}
	return v
}

// laneSum is the sum of the lanes of one vector, as a tree, in the first lane.
func (m *machine) laneSum(v []vec) vec {
	y, high, x := YMM(), XMM(), XMM()
	if m.target == avx512 {
		VEXTRACTF64X4(Imm(1), v[0], y)
		VADDPS(y, v[0].AsY(), y)
	} else {
		VADDPS(v[1], v[0], y)
	}
	VEXTRACTF128(Imm(1), y, high)
	VADDPS(high, y.AsX(), x)
	VMOVHLPS(x, x, high)
	VADDPS(high, x, x)
	VMOVSHDUP(x, high)
	VADDSS(high, x, x)
	return x
}

// intSum is the sum of the lanes of a register of integers, in the first lane.
func (m *machine) intSum(v vec) vec {
	y, high, x := v, XMM(), XMM()
	if m.target == avx512 {
		y = YMM()
		VEXTRACTI64X4(Imm(1), v, y)
		VPADDD(y, v.AsY(), y)
	}
	VEXTRACTI128(Imm(1), y, high)
	VPADDD(high, y.AsX(), x)
	VPSHUFD(Imm(0x4e), x, high)
	VPADDD(high, x, x)
	VPSHUFD(Imm(0xb1), x, high)
	VPADDD(high, x, x)
	return x
}

// squareSum takes vectors+1 vectors of each coordinate, of the last one only the lanes of mask: vectors/4 times four, vectors%4
// times one, and the last.
func squareSum(m *machine) {
	y, mean, mask, stride, width := load("y"), load("mean"), load("mask"), load("stride"), load("width")
	acc := m.filled(4, m.k(0))
	at, n := GP64(), GP64()
	loop("coordinate", width, func() {
		high, low := m.halves(Mem{Base: mean})
		MOVQ(y, at)
		add := func(i int, from int, masked bool) {
			d := m.sub(m.sub(m.copy(Mem{Base: at, Disp: from * m.bytes}), high), low)
			if masked {
				d = m.and(d, Mem{Base: mask, Disp: from * m.bytes})
			}
			VFMADD231PS(d, d, acc[i])
		}
		MOVQ(param("vectors"), n)
		SHRQ(Imm(2), n)
		loop("four", n, func() {
			for i := range acc {
				add(i, i, false)
			}
			ADDQ(U32(256), at)
		})
		MOVQ(param("vectors"), n)
		ANDQ(Imm(3), n)
		loop("one", n, func() {
			for i := range m.parts(1) {
				add(i, i, false)
			}
			ADDQ(Imm(64), at)
		})
		for i := range m.parts(1) {
			add(i, i, true)
		}
		ADDQ(stride, y)
		ADDQ(Imm(8), mean)
	})
	p := m.parts(1)
	for i := range p {
		VADDPS(acc[2*p+i], acc[i], acc[i])
		VADDPS(acc[3*p+i], acc[p+i], acc[p+i])
		VADDPS(acc[p+i], acc[i], acc[i])
	}
	VMOVSS(m.laneSum(acc[:p]), Mem{Base: load("sum")})
}

// normalTerms takes vectors+1 vectors, of the last one only the lanes of mask.
func normalTerms(m *machine) {
	m.exp()
	half := m.k(-0.5)
	from, x, out, stride := load("m"), load("x"), load("terms"), load("stride")
	acc, at, coordinate := m.filled(1, m.k(0)), GP64(), GP64()
	vector := func(i int, mask Op) {
		q, width := m.copy(m.k(0)), load("width")
		LEAQ(Mem{Base: from, Disp: i * m.bytes}, at)
		MOVQ(x, coordinate)
		label := name("distance%d", i)
		if mask != nil {
			label += "last"
		}
		loop(label, width, func() {
			d := m.sub(m.copy(Mem{Base: at}), m.broadcast(Mem{Base: coordinate}))
			VFMADD231PS(d, d, q)
			ADDQ(stride, at)
			ADDQ(Imm(4), coordinate)
		})
		e := m.expNeg(m.mul(q, half))
		if mask != nil {
			e = m.and(e, mask)
		}
		VMOVUPS(e, Mem{Base: out, Disp: i * m.bytes})
		VADDPS(e, acc[i], acc[i])
	}
	loop("vector", load("vectors"), func() {
		for i := range acc {
			vector(i, nil)
		}
		advance(64, from, out)
	})
	mask := load("mask")
	for i := range acc {
		vector(i, Mem{Base: mask, Disp: i * m.bytes})
	}
	VMOVSS(m.laneSum(acc), Mem{Base: load("sum")})
}

func mixtureTerm(m *machine, ln2 Mem) {
	m.exp()
	mantissa, half, zero := m.bits(0x7fffff), m.k(-0.5), m.k(0)
	peak := m.broadcast(param("peak"))
	mx, restX := m.halves(param("mx"))
	my, restY := m.halves(param("my"))
	x, y, terms, out := load("x"), load("y"), load("terms"), load("out")
	product := m.filled(1, m.k(1))
	exponent, bad := m.copy(zero), m.copy(zero) // of both halves together
	row, rows, at, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(param("vectors"), row)
	SHLQ(Imm(6), row)
	MOVQ(param("before"), rows)
	ADDQ(param("after"), rows)
	INCQ(rows)
	IMULQ(row, rows)
	// Points that follow in memory, as a scan's chunks do, are fetched in time: x and y are one behind the other, terms a
	// matrix.
	fetch := func(r, ahead reg.Register, scale uint8) {
		PREFETCHT0(Mem{Base: r, Index: ahead, Scale: scale})
	}
	split := func(v vec) vec { // adds the exponent of v; returns its mantissa, between 1 and 2
		e := m.reg()
		VPSRLD(Imm(23), v, e)
		VPADDD(e, exponent, exponent)
		return m.or(m.and(v, mantissa), m.k(1))
	}
	loop("vector", load("vectors"), func() {
		for i := range product {
			here := func(r reg.Register) Mem { return Mem{Base: r, Disp: i * m.bytes} }
			dx := m.sub(m.sub(m.copy(here(x)), mx), restX)
			dy := m.sub(m.sub(m.copy(here(y)), my), restY)
			q := m.mul(dx, dx)
			VFMADD231PS(dy, dy, q)
			if i == 0 {
				fetch(x, row, 2)
				fetch(y, row, 2)
			}
			w := m.mul(m.expNeg(m.mul(q, half)), peak)
			VMOVUPS(w, here(out))
			sum := m.copy(m.k(1))
			MOVQ(terms, at)
			others := func(param, label string) {
				Load(Param(param), n)
				loop(name("%s%d", label, i), n, func() {
					if i == 0 {
						fetch(at, rows, 1)
					}
					VADDPS(here(at), sum, sum)
					ADDQ(row, at)
				})
			}
			others("before", "before")
			VADDPS(w, sum, sum)
			ADDQ(row, at)
			others("after", "after")
			VFMADD231PS(zero, sum, bad)
			VMULPS(split(sum), product[i], product[i])
		}
		advance(64, x, y, terms, out)
	})
	for i, v := range product {
		f := m.sub(split(v), m.k(1))
		product[i] = m.mul(m.horner(f, m.k(1), m.ks(log1pCoeffs)), f)
	}
	VADDPS(bad, product[0], product[0])
	logs, exponents := m.laneSum(product), m.intSum(exponent)

	count, bias, sum, rest := GP32(), GP64(), XMM(), XMM()
	VMOVD(exponents, count)
	MOVQ(param("vectors"), bias)
	INCQ(bias)
	IMUL3Q(U32(16*127), bias, bias)
	SUBL(bias.As32(), count)
	VXORPS(sum, sum, sum)
	VCVTSI2SDL(count, sum, sum)
	VMULSD(ln2, sum, sum)
	VCVTSS2SD(logs, logs, rest)
	VADDSD(rest, sum, sum)
	VMOVSD(sum, Mem{Base: load("sum")})
}
