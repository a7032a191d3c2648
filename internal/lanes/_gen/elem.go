package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

// machine writes one kernel for one instruction set. The functions of ../float32.go stand here as macros with the same
// names and the same operations.
type machine struct {
	*target
	constants map[uint32]Op
}

// inRegisters is the number of constants that a kernel for AVX-512 keeps in registers. Other constants are memory operands.
const inRegisters = 19

// each writes a kernel for both instruction sets.
func each(kernel, signature string, write func(m *machine)) {
	for _, t := range []*target{avx512, avx2} {
		TEXT(kernel+t.name, NOSPLIT, signature)
		Pragma("noescape")
		write(&machine{t, map[uint32]Op{}})
		VZEROUPPER()
		RET()
	}
}

var constantData = map[uint32]Mem{}

// bits is a constant in every lane. Its first use must be outside of loops.
func (m *machine) bits(c uint32) Op {
	if op, ok := m.constants[c]; ok {
		return op
	}
	data, ok := constantData[c]
	if !ok {
		data = GLOBL(name("lanes%08x", c), RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(c))
		}
		constantData[c] = data
	}
	m.constants[c] = data
	if m.target == avx512 && len(m.constants) <= inRegisters {
		v := ZMM()
		VMOVUPS(data, v)
		m.constants[c] = v
	}
	return m.constants[c]
}

func (m *machine) k(c float64) Op { return m.bits(math.Float32bits(float32(c))) }

func (m *machine) ks(c []float64) []Op {
	ops := make([]Op, len(c))
	for i := range c {
		ops[i] = m.k(c[i])
	}
	return ops
}

func (m *machine) sign() Op { return m.bits(1 << 31) }

// copy is a new register with the value of x.
func (m *machine) copy(x Op) vec {
	v := m.reg()
	VMOVUPS(x, v)
	return v
}

// in is x as a register that must not be changed.
func (m *machine) in(x Op) vec {
	if v, ok := x.(vec); ok {
		return v
	}
	return m.copy(x)
}

// The operations below return new registers. The operands of sub, div and max are in Go's order, not in the assembler's. b
// may be a constant; a must be a register.

func (m *machine) add(a vec, b Op) vec { v := m.reg(); VADDPS(b, a, v); return v }
func (m *machine) sub(a vec, b Op) vec { v := m.reg(); VSUBPS(b, a, v); return v }
func (m *machine) mul(a vec, b Op) vec { v := m.reg(); VMULPS(b, a, v); return v }
func (m *machine) div(a vec, b Op) vec { v := m.reg(); VDIVPS(b, a, v); return v }
func (m *machine) max(a vec, b Op) vec { v := m.reg(); VMAXPS(b, a, v); return v }
func (m *machine) min(a vec, b Op) vec { v := m.reg(); VMINPS(b, a, v); return v }
func (m *machine) and(a vec, b Op) vec { v := m.reg(); VANDPS(b, a, v); return v }
func (m *machine) or(a vec, b Op) vec  { v := m.reg(); VORPS(b, a, v); return v }

// fma is a·b + c.
func (m *machine) fma(a vec, b, c Op) vec {
	v := m.copy(c)
	VFMADD231PS(b, a, v)
	return v
}

// fnma is c − a·b.
func (m *machine) fnma(a vec, b, c Op) vec {
	v := m.copy(c)
	VFNMADD231PS(b, a, v)
	return v
}

// Predicates of VCMPPS: false for NaN, but notLess true.
const (
	greater        = 0x1e
	greaterOrEqual = 0x1d
	notLess        = 0x15
	notOrdered     = 0x03
)

// newMask is a register for the result of a comparison.
func (m *machine) newMask() reg.Register {
	if m.target == avx512 {
		return K()
	}
	return YMM()
}

func (m *machine) compare(predicate uint8, a vec, b Op) reg.Register {
	k := m.newMask()
	VCMPPS(Imm(uint64(predicate)), b, a, k)
	return k
}

// equal compares integers.
func (m *machine) equal(a vec, b Op) reg.Register {
	k := m.newMask()
	VPCMPEQD(b, a, k)
	return k
}

// choose is k ? yes : no.
func (m *machine) choose(k reg.Register, yes Op, no vec) vec {
	v := m.reg()
	if m.target == avx512 {
		VBLENDMPS(yes, no, k, v)
	} else {
		VBLENDVPS(k, yes, no, v)
	}
	return v
}

// keep is k ? x : 0.
func (m *machine) keep(k reg.Register, x Op) vec {
	v := m.reg()
	if m.target == avx512 {
		VMOVUPS_Z(x, k, v)
	} else {
		VANDPS(x, k, v)
	}
	return v
}

func (m *machine) horner(x vec, first Op, c []Op) vec {
	p := m.copy(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		VFMADD213PS(c[i], x, p)
	}
	VFMADD213PS(first, x, p)
	return p
}

var (
	expCoeffs   = []float64{0.49999994, 0.16666521, 0.041668389, 0.0083687166, 0.0013814598}
	log1pCoeffs = []float64{-0.49999931, 0.33330512, -0.24958587, 0.1969540, -0.15355395, 0.10680553,
		-0.057664424, 0.020204576, -0.0033184702}
	tailCoeffs = []float64{-1.5957675, 2.4041462, -2.1051311, 0.8610587, 0.14985435, -0.31082013, 0.09685289}
)

const (
	log2E      = 1.4426950408889634
	ln2Hi      = 0.693145751953125
	ln2Lo      = 1.42860682030941723212e-6
	expBias    = 0x1.8p23 + 127
	expFloor   = -87.33654
	tanhReach  = 30
	swishReach = 88
	geluReach  = 13.5
	rsqrt2Pi   = 0.39894228040143268
)

// exp prepares the constants of expParts. It must be called outside of loops.
func (m *machine) exp() {
	for _, c := range append([]float64{1, log2E, expBias, ln2Hi, ln2Lo, expFloor}, expCoeffs...) {
		m.k(c)
	}
	m.sign()
}

func (m *machine) expParts(x vec) (w, r, scale vec) {
	t := m.fma(x, m.k(log2E), m.k(expBias))
	n := m.sub(t, m.k(expBias))
	r = m.fnma(n, m.k(ln2Hi), x)
	VFNMADD231PS(m.k(ln2Lo), n, r)
	w = m.horner(r, m.k(1), m.ks(expCoeffs))
	VPSLLD(Imm(23), t, t)
	return w, r, t
}

func (m *machine) expNeg(x vec) vec {
	k := m.compare(notLess, x, m.k(expFloor))
	w, r, scale := m.expParts(x)
	VFMADD213PS(m.k(1), r, w)
	if m.target == avx512 {
		v := m.reg()
		VMULPS_Z(scale, w, k, v)
		return v
	}
	return m.keep(k, m.mul(w, scale))
}

func (m *machine) log1p() { m.ks(log1pCoeffs) }

func (m *machine) logUp(x vec) vec {
	e, f := m.reg(), m.reg()
	VPSRLD(Imm(23), x, e)
	VPSUBD(m.bits(127), e, e)
	VCVTDQ2PS(e, e)
	VANDPS(m.bits(0x7fffff), x, f)
	VORPS(m.k(1), f, f)
	f = m.sub(f, m.k(1))
	p := m.mul(m.horner(f, m.k(1), m.ks(log1pCoeffs)), f)
	VFMADD231PS(m.k(ln2Lo), e, p)
	VFMADD231PS(m.k(ln2Hi), e, p)
	return p
}

func (m *machine) tanh(x vec) vec {
	a := m.or(x, m.sign())
	a = m.add(a, a)
	a = m.max(m.in(m.k(-2*tanhReach)), a)
	w, r, scale := m.expParts(a)
	q := m.mul(w, r)
	e := m.sub(scale, m.k(1))
	VFMADD231PS(q, scale, e)
	y := m.div(e, m.add(e, m.k(2)))
	return m.or(m.and(y, m.bits(1<<31-1)), m.and(x, m.sign()))
}

func (m *machine) sigmoid(x vec) (s, r, q vec) {
	u := m.expNeg(m.or(x, m.sign()))
	r = m.div(m.in(m.k(1)), m.add(u, m.k(1)))
	q = m.mul(u, r)
	return m.choose(m.compare(greaterOrEqual, x, m.k(0)), r, q), r, q
}

func (m *machine) normal(x vec) (cdf, e vec) {
	a := m.and(x, m.bits(1<<31-1))
	e = m.expNeg(m.mul(m.mul(a, a), m.k(-0.5)))
	a = m.mul(a, m.k(0.25))
	h := m.horner(m.div(a, m.add(a, m.k(1))), m.k(0.5), m.ks(tailCoeffs))
	return m.choose(m.compare(greaterOrEqual, x, m.k(0)), m.fnma(h, e, m.k(1)), m.mul(h, e)), e
}

// pointwise writes a kernel that sets out to a function of the inputs. It takes n registers of each. prepare loads the
// constants and returns the function.
func pointwise(kernel, out string, in []string, prepare func(m *machine) func(x []vec) vec) {
	signature := "func("
	for _, s := range in {
		signature += s + ", "
	}
	each(kernel, signature+out+" *float32, n int)", func(m *machine) {
		f := prepare(m)
		at := make([]reg.Register, len(in))
		for i, s := range in {
			at[i] = Load(Param(s), GP64())
		}
		y, n, off := Load(Param(out), GP64()), Load(Param("n"), GP64()), GP64()
		XORQ(off, off)
		loop("each", n, func() {
			x := make([]vec, len(in))
			for i := range x {
				x[i] = m.copy(Mem{Base: at[i], Index: off, Scale: 1})
			}
			VMOVUPS(f(x), Mem{Base: y, Index: off, Scale: 1})
			ADDQ(Imm(uint64(m.bytes)), off)
		})
	})
}

func activation() {
	pointwise("relu", "y", []string{"x"}, func(m *machine) func([]vec) vec {
		zero := m.copy(m.k(0))
		return func(x []vec) vec { return m.max(zero, x[0]) }
	})
	pointwise("reluBackward", "dx", []string{"y", "dy"}, func(m *machine) func([]vec) vec {
		m.k(0)
		return func(x []vec) vec { return m.keep(m.compare(greater, x[0], m.k(0)), x[1]) }
	})
	pointwise("tanh", "y", []string{"x"}, func(m *machine) func([]vec) vec {
		m.exp()
		m.ks([]float64{2, -2 * tanhReach})
		m.bits(1<<31 - 1)
		return func(x []vec) vec { return m.tanh(x[0]) }
	})
	pointwise("tanhBackward", "dx", []string{"y", "dy"}, func(m *machine) func([]vec) vec {
		m.k(1)
		return func(x []vec) vec { return m.mul(x[1], m.fnma(x[0], x[0], m.k(1))) }
	})
	gelu := func(m *machine) {
		m.exp()
		m.ks(tailCoeffs)
		m.ks([]float64{0, 0.25, 0.5, -0.5, geluReach, -geluReach, rsqrt2Pi})
		m.bits(1<<31 - 1)
	}
	pointwise("gelu", "y", []string{"x"}, func(m *machine) func([]vec) vec {
		gelu(m)
		return func(x []vec) vec {
			v := m.max(m.in(m.k(-geluReach)), x[0])
			cdf, _ := m.normal(m.min(m.in(m.k(geluReach)), v))
			return m.mul(v, cdf)
		}
	})
	pointwise("geluBackward", "dx", []string{"x", "dy"}, func(m *machine) func([]vec) vec {
		gelu(m)
		return func(x []vec) vec {
			v := m.min(m.in(m.k(geluReach)), m.max(m.in(m.k(-geluReach)), x[0]))
			cdf, e := m.normal(v)
			return m.mul(x[1], m.fma(m.mul(v, m.k(rsqrt2Pi)), e, cdf))
		}
	})
	swish := func(m *machine) {
		m.exp()
		m.ks([]float64{0, swishReach, -swishReach})
	}
	pointwise("swish", "y", []string{"x"}, func(m *machine) func([]vec) vec {
		swish(m)
		return func(x []vec) vec {
			v := m.max(m.in(m.k(-swishReach)), x[0])
			s, _, _ := m.sigmoid(v)
			return m.mul(v, s)
		}
	})
	pointwise("swishBackward", "dx", []string{"x", "dy"}, func(m *machine) func([]vec) vec {
		swish(m)
		return func(x []vec) vec {
			v := m.min(m.in(m.k(swishReach)), m.max(m.in(m.k(-swishReach)), x[0]))
			s, r, q := m.sigmoid(v)
			return m.mul(x[1], m.fma(m.mul(v, q), r, s))
		}
	})
}
