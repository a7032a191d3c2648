package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The losses use the targets r times, once for each repeat. bernoulli takes n registers of targets. The others take the first
// register of each vector, which with AVX2 is one half. dz may be nil.
func loss() {
	each("bernoulli", "func(z, y, ll, dz *float32, n, repeats int)", bernoulli)
	each("categorical", "func(z *float32, label *int32, ll, dz *float32, classes, groups, repeats int)", categorical)
	each("gaussian", "func(z, y, ll, dz *float32, outputs, groups, repeats int, prec, half, logNorm float32)", gaussian)
}

func load(param string) reg.Register { return Load(Param(param), GP64()) }

// unless0 skips body if r is 0.
func unless0(r reg.Register, label string, body func()) {
	TESTQ(r, r)
	JZ(LabelRef(label))
	body()
	Label(label)
}

// repeated runs body for each group of each repeat.
func repeated(targets, count string, body func(z, y, ll, dz reg.Register)) {
	z, ll, dz, repeats := load("z"), load("ll"), load("dz"), load("repeats")
	loop("repeat", repeats, func() {
		y, n := load(targets), load(count)
		loop("group", n, func() { body(z, y, ll, dz) })
	})
}

func advance(bytes int, pointers ...reg.Register) {
	for _, p := range pointers {
		ADDQ(Imm(uint64(bytes)), p)
	}
}

func bernoulli(m *machine) {
	m.exp()
	m.log1p()
	m.ks([]float64{2, -1})
	zero := m.copy(m.k(0))
	repeated("y", "n", func(z, y, ll, dz reg.Register) {
		x := m.copy(Mem{Base: z})
		sign := m.fma(m.copy(Mem{Base: y}), m.k(2), m.k(-1))
		a := m.mul(sign, x)
		u := m.expNeg(m.or(x, m.sign()))
		p := m.horner(u, m.k(1), m.ks(log1pCoeffs))
		VMOVUPS(m.fnma(p, u, m.min(zero, a)), Mem{Base: ll})
		unless0(dz, "value", func() {
			top := m.choose(m.compare(greaterOrEqual, a, zero), u, m.in(m.k(1)))
			VMOVUPS(m.mul(sign, m.div(top, m.add(u, m.k(1)))), Mem{Base: dz})
			advance(m.bytes, dz)
		})
		advance(m.bytes, z, y, ll)
	})
}

func categorical(m *machine) {
	m.exp()
	m.log1p()
	m.bits(127)
	m.bits(0x7fffff)
	one, zero, nan := m.bits(1), m.copy(m.k(0)), m.k(math.NaN())
	stride := func(c, a, b reg.Register) { // classes·64 bytes further
		MOVQ(load("classes"), c)
		SHLQ(Imm(6), c)
		ADDQ(c, a)
		unless0(b, "value", func() { ADDQ(c, b) })
	}
	repeated("label", "groups", func(z, label, ll, dz reg.Register) {
		y, class, top, picked := m.copy(Mem{Base: label}), m.copy(zero), m.copy(Mem{Base: z}), m.copy(nan)
		x, n := GP64(), load("classes")
		MOVQ(z, x)
		loop("top", n, func() {
			v := m.copy(Mem{Base: x})
			VMAXPS(top, v, top)
			v = m.choose(m.equal(y, class), v, picked)
			VMOVUPS(v, picked)
			VPADDD(one, class, class)
			advance(64, x)
		})
		sum := m.copy(zero)
		n = load("classes")
		MOVQ(z, x)
		d := GP64()
		MOVQ(dz, d)
		loop("sum", n, func() {
			e := m.expNeg(m.sub(m.copy(Mem{Base: x}), top))
			VADDPS(e, sum, sum)
			advance(64, x)
			unless0(d, "sumValue", func() {
				VMOVUPS(e, Mem{Base: d})
				advance(64, d)
			})
		})
		v := m.sub(m.sub(picked, top), m.logUp(sum))
		VFMADD231PS(zero, sum, v)
		VMOVUPS(v, Mem{Base: ll})
		unless0(dz, "scaled", func() {
			scale := m.div(m.in(m.k(1)), sum)
			class = m.copy(zero)
			n = load("classes")
			MOVQ(dz, d)
			loop("scale", n, func() {
				hot := m.keep(m.equal(y, class), m.k(1))
				VFNMADD231PS(Mem{Base: d}, scale, hot)
				VMOVUPS(hot, Mem{Base: d})
				VPADDD(one, class, class)
				advance(64, d)
			})
		})
		stride(n, z, dz)
		advance(64, label, ll)
	})
}

func gaussian(m *machine) {
	argument := func(name string) vec {
		v := m.reg()
		VBROADCASTSS(param(name), v)
		return v
	}
	prec, half, logNorm := argument("prec"), argument("half"), argument("logNorm")
	zero := m.k(0)
	repeated("y", "groups", func(z, y, ll, dz reg.Register) {
		sum, n := m.copy(zero), load("outputs")
		loop("output", n, func() {
			d := m.sub(m.copy(Mem{Base: y}), Mem{Base: z})
			VADDPS(m.fma(m.mul(half, d), d, logNorm), sum, sum)
			unless0(dz, "value", func() {
				VMOVUPS(m.mul(prec, d), Mem{Base: dz})
				advance(64, dz)
			})
			advance(64, z, y)
		})
		VMOVUPS(sum, Mem{Base: ll})
		advance(64, ll)
	})
}
