package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func affine() {
	each("affineSums", "func(x, dy, scale, shift *float32, rows, cols, xPitch, yPitch int, a, b float32)", affineSums)
}

// everyRow runs body for each column of each row, with the places in the rows of two planes, step bytes a column.
func everyRow(x, y reg.Register, step int, body func(x, y reg.Register)) {
	rows := load("rows")
	loop("row", rows, func() {
		u, v, cols := GP64(), GP64(), load("cols")
		MOVQ(x, u)
		MOVQ(y, v)
		loop("col", cols, func() {
			body(u, v)
			advance(step, u, v)
		})
		ADDQ(param("xPitch"), x)
		ADDQ(param("yPitch"), y)
	})
}

// affineSums takes the first register of each vector, and of the sums.
func affineSums(m *machine) {
	x, dy, scale, shift := load("x"), load("dy"), load("scale"), load("shift")
	a, b := m.reg(), m.reg()
	VBROADCASTSS(param("a"), a)
	VBROADCASTSS(param("b"), b)
	products, plain := m.copy(Mem{Base: scale}), m.copy(Mem{Base: shift})
	everyRow(x, dy, 64, func(u, v reg.Register) {
		d := m.copy(Mem{Base: v})
		VFMADD231PS(m.fma(a, Mem{Base: u}, b), d, products)
		VADDPS(d, plain, plain)
	})
	VMOVUPS(products, Mem{Base: scale})
	VMOVUPS(plain, Mem{Base: shift})
}
