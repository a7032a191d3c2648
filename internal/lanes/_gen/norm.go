package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// norm writes the kernels of ../norm.go. They take the first register of each vector, which with AVX2 is one half. Strides are in bytes.
func norm() {
	each("normSquares", "func(x *float32, xStride, rows, cols int, sums *float32)", normSquares)
	each("normApply", "func(x, y *float32, xStride, yStride, rows, cols int, scale *float32, shift, low float32)", normApply)
	each("normSums", "func(x, dy *float32, xStride, yStride, rows, cols int, scale *float32, shift, low float32, sums *float32)", normSums)
	each("normBackward", "func(x, dy, dx *float32, xStride, yStride, rows, cols int, scale *float32, shift, low float32, pull *float32)", normBackward)
}

// plane runs body for each vector of a plane, with the addresses of the vector in each buffer and the parity of its column.
func plane(buffers, strides []string, body func(at []Mem, parity int)) {
	base, rows := make([]reg.Register, len(buffers)), load("rows")
	for i, b := range buffers {
		base[i] = load(b)
	}
	loop("row", rows, func() {
		at, pairs := make([]reg.Register, len(base)), load("cols")
		for i := range at {
			at[i] = GP64()
			MOVQ(base[i], at[i])
		}
		vector := func(parity int) {
			m := make([]Mem, len(at))
			for i := range m {
				m[i] = Mem{Base: at[i], Disp: 64 * parity}
			}
			body(m, parity)
		}
		SHRQ(Imm(1), pairs)
		loop("pair", pairs, func() {
			vector(0)
			vector(1)
			for _, r := range at {
				ADDQ(U32(128), r)
			}
		})
		last := load("cols")
		ANDQ(Imm(1), last)
		JZ(LabelRef("even"))
		vector(0)
		Label("even")
		for i, s := range strides {
			ADDQ(param(s), base[i])
		}
	})
}

// sums are accumulators of both parities for n sums, from memory; store puts them back.
func (m *machine) sums(n int) (s []vec, store func()) {
	s, at := m.regs(2*n), load("sums")
	for i := range s {
		VMOVUPS(Mem{Base: at, Disp: 64 * i}, s[i])
	}
	return s, func() {
		for i := range s {
			VMOVUPS(s[i], Mem{Base: at, Disp: 64 * i})
		}
	}
}

func normSquares(m *machine) {
	s, store := m.sums(1)
	plane([]string{"x"}, []string{"xStride"}, func(at []Mem, parity int) {
		x := m.copy(at[0])
		VFMADD231PS(x, x, s[parity])
	})
	store()
}

// affine returns the function z of x, and low.
func (m *machine) affine() (z func(x vec) vec, scale, low vec) {
	scale, shift, low := m.copy(Mem{Base: load("scale")}), m.reg(), m.reg()
	VBROADCASTSS(param("shift"), shift)
	VBROADCASTSS(param("low"), low)
	return func(x vec) vec { return m.fma(x, scale, shift) }, scale, low
}

func normApply(m *machine) {
	z, _, low := m.affine()
	plane([]string{"x", "y"}, []string{"xStride", "yStride"}, func(at []Mem, _ int) {
		VMOVUPS(m.max(low, z(m.copy(at[0]))), at[1])
	})
}

// passes is where not z <= low, and where z <= low.
func (m *machine) passes(z, low vec) (pass, stop func(x Op) vec) {
	k := m.compare(notLessOrEqual, z, low)
	if m.target == avx2 {
		return func(x Op) vec { return m.keep(k, x) }, func(x Op) vec { return m.without(k.(vec), x) }
	}
	return func(x Op) vec { return m.keep(k, x) }, func(x Op) vec {
		not := K()
		KNOTW(k, not)
		return m.keep(not, x)
	}
}

func normSums(m *machine) {
	z, _, low := m.affine()
	s, store := m.sums(3)
	plane([]string{"x", "dy"}, []string{"xStride", "yStride"}, func(at []Mem, parity int) {
		x := m.copy(at[0])
		pass, stop := m.passes(z(x), low)
		p := pass(at[1])
		VADDPS(p, s[parity], s[parity])
		VFMADD231PS(x, p, s[2+parity])
		VADDPS(stop(at[1]), s[4+parity], s[4+parity])
	})
	store()
}

func normBackward(m *machine) {
	z, scale, low := m.affine()
	pull := m.copy(Mem{Base: load("pull")})
	plane([]string{"x", "dy", "dx"}, []string{"xStride", "yStride", "xStride"}, func(at []Mem, _ int) {
		x := m.copy(at[0])
		pass, _ := m.passes(z(x), low)
		d := m.mul(pass(at[1]), scale)
		VFNMADD231PS(x, pull, d)
		VMOVUPS(d, at[2])
	})
}
