package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// drop takes each vector as two halves, each with its byte of the mask.
func drop() {
	bit := GLOBL("dropBits", RODATA|NOPTR)
	for l := range 8 {
		DATA(4*l, U32(1<<l))
	}
	TEXT("dropAVX2", NOSPLIT, "func(x *float32, masks *uint16, y *float32, count int, c float32)")
	Pragma("noescape")
	x, masks, y, count := load("x"), load("masks"), load("y"), load("count")
	bits, factor := YMM(), YMM()
	VMOVDQU(bit, bits)
	VBROADCASTSS(param("c"), factor)
	loop("vector", count, func() {
		for h := range 2 {
			v, k := YMM(), YMM()
			VMULPS(Mem{Base: x, Disp: 32 * h}, factor, v)
			VPBROADCASTB(Mem{Base: masks, Disp: h}, k)
			VPAND(bits, k, k)
			VPCMPEQD(bits, k, k)
			VANDPS(v, k, k)
			VMOVUPS(k, Mem{Base: y, Disp: 32 * h})
		}
		advance(64, x, y)
		advance(2, masks)
	})
	VZEROUPPER()
	RET()
}
