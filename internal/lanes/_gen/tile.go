package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// target is an instruction set: AVX-512 holds a vector of 16 lanes in one register, AVX2 half of it.
type target struct {
	name  string
	bytes int
	reg   func() reg.VecVirtual
}

var (
	avx2   = &target{"AVX2", 32, YMM}
	avx512 = &target{"AVX512", 64, ZMM}
)

// parts is the number of registers that hold n vectors.
func (t *target) parts(n int) int { return n * 64 / t.bytes }

func (t *target) regs(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = t.reg()
	}
	return v
}

// grid returns the accumulators of a tile.
func (t *target) grid(rows, cols int) [][]reg.VecVirtual {
	v := make([][]reg.VecVirtual, rows)
	for i := range v {
		v[i] = t.regs(cols)
	}
	return v
}

func (t *target) zero(v reg.VecVirtual) {
	if t == avx512 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// outer adds the product of row i and column j to acc[i][j]. row and col load into a register; the shorter of the two
// stays in registers.
func (t *target) outer(acc [][]reg.VecVirtual, row, col func(k int, v reg.VecVirtual)) {
	rows, cols := len(acc), len(acc[0])
	kept, passing, keep, pass := rows, cols, row, col
	if cols <= rows {
		kept, passing, keep, pass = cols, rows, col, row
	}
	k := t.regs(kept)
	for i := range k {
		keep(i, k[i])
	}
	for j := range passing {
		v := t.reg()
		pass(j, v)
		for i := range k {
			if cols <= rows {
				VFMADD231PS(v, k[i], acc[j][i])
			} else {
				VFMADD231PS(v, k[i], acc[i][j])
			}
		}
	}
}

// param is an argument's place in memory.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// pointer returns the argument base plus the int32 at m.
func pointer(m Mem, base string) reg.GPVirtual {
	r := GP64()
	MOVLQSX(m, r)
	ADDQ(param(base), r)
	return r
}

// strides holds the multiples of an argument that address rows 0 to rows−1 from one base register.
type strides map[int]reg.GPVirtual

func newStrides(name string, rows int) strides {
	s := strides{}
	if rows > 1 {
		s[1] = GP64()
		MOVQ(param(name), s[1])
	}
	if rows > 3 {
		s[3] = GP64()
		LEAQ(Mem{Base: s[1], Index: s[1], Scale: 2}, s[3])
	}
	for _, k := range []int{5, 7} {
		if rows > k {
			s[k] = GP64()
			LEAQ(Mem{Base: s[k-4], Index: s[1], Scale: 4}, s[k])
		}
	}
	return s
}

// at is the address of row i.
func (s strides) at(base reg.Register, i int) Mem {
	if i == 0 {
		return Mem{Base: base}
	}
	scale := 1
	for i%2 == 0 {
		i, scale = i/2, scale*2
	}
	return Mem{Base: base, Index: s[i], Scale: uint8(scale)}
}

// loop runs body count times, which may be 0. It changes count.
func loop(label string, count reg.Register, body func()) {
	TESTQ(count, count)
	JZ(LabelRef(label + "_end"))
	Label(label)
	body()
	DECQ(count)
	JNZ(LabelRef(label))
	Label(label + "_end")
}

func name(format string, args ...any) string { return fmt.Sprintf(format, args...) }
