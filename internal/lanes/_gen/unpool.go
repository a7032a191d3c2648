package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// unpool moves: AVX2 serves for AVX-512 too. A vector is two halves, each with its byte of the mask.
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
