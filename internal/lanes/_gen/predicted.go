package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// predicted writes the kernels of ../predicted.go, without and with a floor.
func predicted() {
	const signature = "func(z, y, ll, dz *float32, outputs int"
	each("predictedNormal", signature+")", func(m *machine) { predictedNormal(&doubles{m}, nil) })
	each("flooredNormal", signature+", square float64)", func(m *machine) {
		square := m.reg()
		VBROADCASTSD(param("square"), square)
		predictedNormal(&doubles{m}, square)
	})
}

// doubles are the operations of machine in float64. None is fused. A register holds 8 lanes with AVX-512, 4 with AVX2.
type doubles struct{ *machine }

var doubleData = map[uint64]Mem{}

// bits is a constant in every lane, in memory.
func (m *doubles) bits(c uint64) Op {
	data, ok := doubleData[c]
	if !ok {
		data = GLOBL(name("lanesDouble%016x", c), RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(c))
		}
		doubleData[c] = data
	}
	return data
}

func (m *doubles) k(c float64) Op { return m.bits(math.Float64bits(c)) }

func (m *doubles) add(a vec, b Op) vec { v := m.reg(); VADDPD(b, a, v); return v }
func (m *doubles) sub(a vec, b Op) vec { v := m.reg(); VSUBPD(b, a, v); return v }
func (m *doubles) mul(a vec, b Op) vec { v := m.reg(); VMULPD(b, a, v); return v }
func (m *doubles) div(a vec, b Op) vec { v := m.reg(); VDIVPD(b, a, v); return v }
func (m *doubles) max(a vec, b Op) vec { v := m.reg(); VMAXPD(b, a, v); return v }
func (m *doubles) min(a vec, b Op) vec { v := m.reg(); VMINPD(b, a, v); return v }
func (m *doubles) and(a vec, b Op) vec { v := m.reg(); VANDPD(b, a, v); return v }
func (m *doubles) or(a vec, b Op) vec  { v := m.reg(); VORPD(b, a, v); return v }

// plus is the sum of integers.
func (m *doubles) plus(a vec, b Op) vec { v := m.reg(); VPADDQ(b, a, v); return v }

// Predicates of VCMPPD: the first is false for NaN, the second is true.
const (
	lessThan         = 0x11
	equalOrUnordered = 0x08
)

func (m *doubles) compare(predicate uint8, a vec, b Op) reg.Register {
	k := m.newMask()
	VCMPPD(Imm(uint64(predicate)), b, a, k)
	return k
}

func (m *doubles) choose(k reg.Register, yes Op, no vec) vec {
	v := m.reg()
	if m.target == avx512 {
		VBLENDMPD(yes, no, k, v)
	} else {
		VBLENDVPD(k, yes, no, v)
	}
	return v
}

func (m *doubles) keep(k reg.Register, x Op) vec {
	v := m.reg()
	if m.target == avx512 {
		VMOVUPD_Z(x, k, v)
	} else {
		VANDPD(x, k, v)
	}
	return v
}

func (m *doubles) floor(x vec) vec {
	const down = 0x09 // towards −Inf
	v := m.reg()
	if m.target == avx512 {
		VRNDSCALEPD(Imm(down), x, v)
	} else {
		VROUNDPD(Imm(down), x, v)
	}
	return v
}

// load widens a half of a vector's float32, or a quarter with AVX2.
func (m *doubles) load(from Mem) vec {
	v := m.reg()
	VCVTPS2PD(from, v)
	return v
}

// store rounds to float32.
func (m *doubles) store(x vec, to Mem) {
	if m.target == avx512 {
		v := YMM()
		VCVTPD2PS(x, v)
		VMOVUPS(v, to)
		return
	}
	v := XMM()
	VCVTPD2PSY(x, v)
	VMOVUPS(v, to)
}

// The constants of Exp and Log of ../float64.go, polynomials from the last coefficient to the first.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10

	one      = 0x3ff << 52
	rootHalf = 0x3fe6a09e667f3bcd
	mantissa = 1<<52 - 1
)

var (
	expDoubles = []float64{4.13813679705723846039e-08, -1.65339022054652515390e-06, 6.61375632143793436117e-05,
		-2.77777777770155933842e-03, 1.66666666666666657415e-01}
	oddDoubles = []float64{1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01}
	logOdd     = 6.666666666666735130e-01
	logEven    = []float64{1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01}
)

// power is x·(… x·(c[1] + x·c[0])), every product rounded.
func (m *doubles) power(x vec, c []float64) vec {
	p := m.mul(x, m.k(c[0]))
	for _, c := range c[1:] {
		p = m.mul(m.add(p, m.k(c)), x)
	}
	return p
}

// exp is Exp for arguments whose powers of 2 are normal numbers.
func (m *doubles) exp(x vec) vec {
	const magic = 0x1.8p52 // plus an integer, it has the integer in its last bits
	k := m.floor(m.add(m.mul(x, m.k(log2E)), m.k(0.5)))
	hi := m.sub(x, m.mul(k, m.k(ln2High)))
	lo := m.mul(k, m.k(ln2Low))
	r := m.sub(hi, lo)
	c := m.sub(r, m.power(m.mul(r, r), expDoubles))
	q := m.div(m.mul(r, c), m.sub(m.in(m.k(2)), c))
	y := m.sub(m.in(m.k(1)), m.sub(m.sub(lo, q), hi))
	scale := m.add(k, m.k(magic))
	VPSLLQ(Imm(52), scale, scale)
	y = m.mul(y, m.plus(scale, m.bits(one)))
	near := m.compare(lessThan, m.and(x, m.bits(1<<63-1)), m.k(0x1p-28))
	return m.choose(near, m.add(x, m.k(1)), y)
}

// log is Log for normal numbers above 0; it is undefined for others.
func (m *doubles) log(x vec) vec {
	const whole = 0x1p52 // its last bits are an integer's place
	bits := m.plus(x, m.bits(one-rootHalf))
	k := m.reg()
	VPSRLQ(Imm(52), bits, k)
	k = m.sub(m.or(k, m.k(whole)), m.k(whole+0x3ff))
	f := m.sub(m.plus(m.and(bits, m.bits(mantissa)), m.bits(rootHalf)), m.k(1))
	s := m.div(f, m.add(f, m.k(2)))
	z := m.mul(s, s)
	w := m.mul(z, z)
	odd := m.mul(m.add(m.power(w, oddDoubles), m.k(logOdd)), z)
	even := m.power(w, logEven)
	half := m.mul(m.mul(f, m.k(0.5)), f)
	sum := m.add(m.mul(m.add(m.add(half, odd), even), s), m.mul(k, m.k(ln2Low)))
	return m.sub(m.mul(k, m.k(ln2High)), m.sub(m.sub(half, sum), f))
}

// predictedNormal takes the lanes of one register at a time through all outputs. floor² is nil without a floor.
func predictedNormal(m *doubles, square vec) {
	const logSDReach, halfLog2Pi = 13.815510557964274104107948728106, 0.91893853320467274178032973640562
	z, y, ll, dz, parts, at := load("z"), load("y"), load("ll"), load("dz"), GP64(), GP64()
	scales, dScales := GP64(), GP64() // the outputs s and their gradients
	MOVQ(param("outputs"), at)
	SHLQ(Imm(6), at)
	LEAQ(Mem{Base: z, Index: at, Scale: 1}, scales)
	LEAQ(Mem{Base: dz, Index: at, Scale: 1}, dScales)
	MOVQ(U32(uint32(128/m.bytes)), parts)
	loop("part", parts, func() {
		sum, n := m.copy(m.k(0)), load("outputs")
		XORQ(at, at)
		loop("output", n, func() {
			of := func(r reg.Register) Mem { return Mem{Base: r, Index: at, Scale: 1} }
			s := m.load(of(scales))
			bounded := m.max(m.in(m.k(-logSDReach)), m.min(m.in(m.k(logSDReach)), s)) // NaN stays
			var logSD, prec, own, all vec
			if square == nil {
				logSD, prec = bounded, m.exp(m.mul(bounded, m.k(-2)))
			} else {
				own = m.exp(m.mul(bounded, m.k(2)))
				all = m.add(own, square)
				logSD = m.mul(m.log(all), m.k(0.5))
				prec = m.div(m.in(m.k(1)), all)
			}
			r := m.sub(m.load(of(y)), m.load(of(z)))
			q := m.mul(m.mul(r, r), prec)
			VADDPD(m.sub(m.sub(m.mul(q, m.k(-0.5)), logSD), m.k(halfLog2Pi)), sum, sum)
			unless0(dz, "value", func() {
				m.store(m.mul(r, prec), of(dz))
				d := m.sub(q, m.k(1))
				if square != nil {
					d = m.mul(d, m.div(own, all))
				}
				m.store(m.keep(m.compare(equalOrUnordered, s, bounded), d), of(dScales))
			})
			ADDQ(Imm(64), at)
		})
		m.store(sum, Mem{Base: ll})
		advance(m.bytes/2, z, y, ll, scales, dScales)
		unless0(dz, "next", func() { advance(m.bytes/2, dz) })
	})
}
