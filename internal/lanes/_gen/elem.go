package main

import (
	"math"
	"slices"

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
func (m *machine) xor(a vec, b Op) vec { v := m.reg(); VXORPS(b, a, v); return v }

// without is b where a has no bits.
func (m *machine) without(a vec, b Op) vec { v := m.reg(); VANDNPS(b, a, v); return v }

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

// Predicates of VCMPPS: false for NaN, but notLess, notLessOrEqual and notEqual true.
const (
	greater        = 0x1e
	greaterOrEqual = 0x1d
	notEqual       = 0x04
	notLess        = 0x15
	notLessOrEqual = 0x16
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

// normal chooses between h·e and 1 − h·e by the sign of x. It does without comparisons, which take the place of multiply-adds.
func (m *machine) normal(x vec) (cdf, e vec) {
	a := m.and(x, m.bits(1<<31-1))
	e = m.expNeg(m.mul(m.mul(a, a), m.k(-0.5)))
	h := m.horner(m.div(a, m.add(a, m.k(4))), m.k(0.5), m.ks(tailCoeffs))
	negative := m.reg()
	VPSRAD(Imm(31), x, negative)
	cdf = m.without(negative, m.k(1))
	VFMADD231PS(m.xor(h, m.without(x, m.sign())), e, cdf)
	return cdf, e
}

// pointwise writes a kernel that sets the outputs to functions of the inputs, the last of which may be the first output. It takes n
// registers of each. prepare loads the constants and returns the functions.
func pointwise(kernel string, in, out []string, prepare func(m *machine) func(x []vec) []vec) {
	signature, params := "func(", slices.Compact(slices.Concat(in, out))
	for _, s := range params {
		signature += s + " *float32, "
	}
	each(kernel, signature+"n int)", func(m *machine) {
		f, off := prepare(m), GP64()
		at := map[string]Mem{}
		for _, s := range params {
			at[s] = Mem{Base: Load(Param(s), GP64()), Index: off, Scale: 1}
		}
		n := Load(Param("n"), GP64())
		XORQ(off, off)
		loop("each", n, func() {
			x := make([]vec, len(in))
			for i := range x {
				x[i] = m.copy(at[in[i]])
			}
			for i, y := range f(x) {
				VMOVUPS(y, at[out[i]])
			}
			ADDQ(Imm(uint64(m.bytes)), off)
		})
	})
}

// activationKernels writes the kernels of an activation: its value, and its value with its derivative. prepare loads the
// constants and returns the function that computes them; without derivative, it leaves out what only the derivative needs.
func activationKernels(kernel string, prepare func(m *machine) func(x vec, derivative bool) (y, d vec)) {
	pointwise(kernel, []string{"x"}, []string{"y"}, func(m *machine) func([]vec) []vec {
		f := prepare(m)
		return func(x []vec) []vec { y, _ := f(x[0], false); return []vec{y} }
	})
	pointwise(kernel+"WithDerivative", []string{"x"}, []string{"y", "d"}, func(m *machine) func([]vec) []vec {
		f := prepare(m)
		return func(x []vec) []vec { y, d := f(x[0], true); return []vec{y, d} }
	})
}

func activation() {
	activationKernels("relu", func(m *machine) func(vec, bool) (vec, vec) {
		zero, one := m.copy(m.k(0)), m.k(1)
		return func(x vec, derivative bool) (y, d vec) {
			if y = m.max(zero, x); derivative {
				d = m.keep(m.compare(greater, x, zero), one)
			}
			return
		}
	})
	pointwise("reluBackward", []string{"y", "dy"}, []string{"dx"}, func(m *machine) func([]vec) []vec {
		m.k(0)
		return func(x []vec) []vec { return []vec{m.keep(m.compare(greater, x[0], m.k(0)), x[1])} }
	})
	pointwise("multiplyDerivative", []string{"d", "dy"}, []string{"dx"}, func(m *machine) func([]vec) []vec {
		m.k(0)
		return func(x []vec) []vec {
			return []vec{m.keep(m.compare(notEqual, x[0], m.k(0)), m.mul(x[0], x[1]))}
		}
	})
	activationKernels("tanh", func(m *machine) func(vec, bool) (vec, vec) {
		m.exp()
		m.ks([]float64{2, -2 * tanhReach})
		m.bits(1<<31 - 1)
		return func(x vec, derivative bool) (y, d vec) {
			if y = m.tanh(x); derivative {
				d = m.fnma(y, y, m.k(1))
			}
			return
		}
	})
	activationKernels("gelu", func(m *machine) func(vec, bool) (vec, vec) {
		m.exp()
		m.ks(tailCoeffs)
		m.ks([]float64{4, 0.5, -0.5, geluReach, -geluReach, rsqrt2Pi})
		m.bits(1<<31 - 1)
		return func(x vec, derivative bool) (y, d vec) {
			low := m.max(m.in(m.k(-geluReach)), x)
			v := m.min(m.in(m.k(geluReach)), low)
			cdf, e := m.normal(v)
			if y = m.mul(low, cdf); derivative {
				d = m.fma(m.mul(v, m.k(rsqrt2Pi)), e, cdf)
			}
			return
		}
	})
	activationKernels("swish", func(m *machine) func(vec, bool) (vec, vec) {
		m.exp()
		m.ks([]float64{0, swishReach, -swishReach})
		return func(x vec, derivative bool) (y, d vec) {
			low := m.max(m.in(m.k(-swishReach)), x)
			s, r, q := m.sigmoid(low)
			if y = m.mul(low, s); derivative {
				v := m.min(m.in(m.k(swishReach)), low)
				d = m.fma(m.mul(v, q), r, s)
			}
			return
		}
	})
}
