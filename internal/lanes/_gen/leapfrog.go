package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// leapfrog writes the kernels of ../leapfrog.go. They wait for memory or for additions, not for arithmetic, so AVX-512 uses those of
// AVX2, too. They take blocks of eight numbers.
func leapfrog() {
	sign := GLOBL("lanesSign64", RODATA|NOPTR)
	for i := range 4 {
		DATA(8*i, U64(1<<63))
	}
	kernel := func(name, signature string, write func()) {
		TEXT(name+"AVX2", NOSPLIT, signature)
		Pragma("noescape")
		write()
		VZEROUPPER()
		RET()
	}
	at := func(p reg.Register, i int) Mem { return Mem{Base: p, Disp: 32 * i} }
	kernel("addScaled", "func(dst, x, y *float64, blocks int, a float64)", func() {
		dst, x, y, blocks, a := load("dst"), load("x"), load("y"), load("blocks"), YMM()
		VBROADCASTSD(param("a"), a)
		loop("block", blocks, func() {
			for i := range 2 {
				v := YMM()
				VMULPD(at(y, i), a, v)
				VADDPD(at(x, i), v, v)
				VMOVUPD(v, at(dst, i))
			}
			advance(64, dst, x, y)
		})
	})
	kernel("kick", "func(momentum, slope, prior *float64, blocks int, h, lambda float64)", func() {
		momentum, slope, prior, blocks, h, lambda := load("momentum"), load("slope"), load("prior"), load("blocks"), YMM(), YMM()
		VBROADCASTSD(param("h"), h)
		VBROADCASTSD(param("lambda"), lambda)
		loop("block", blocks, func() {
			for i := range 2 {
				v := YMM()
				VMULPD(at(slope, i), lambda, v)
				VADDPD(at(prior, i), v, v)
				VMULPD(v, h, v)
				VADDPD(at(momentum, i), v, v)
				VMOVUPD(v, at(momentum, i))
			}
			advance(64, momentum, slope, prior)
		})
	})
	kernel("squares", "func(x *float64, blocks int, sums *float64)", func() {
		x, blocks, sums, acc := load("x"), load("blocks"), load("sums"), YMM()
		VMOVUPD(at(sums, 0), acc)
		loop("block", blocks, func() {
			for i := range 2 {
				v := YMM()
				VMOVUPD(at(x, i), v)
				VMULPD(v, v, v)
				VADDPD(v, acc, acc)
			}
			advance(64, x)
		})
		VMOVUPD(acc, at(sums, 0))
	})
	scaled := func(theta, mean, precision reg.Register, i int) (d, u vec) {
		d, u = YMM(), YMM()
		VMOVUPD(at(theta, i), d)
		VSUBPD(at(mean, i), d, d)
		VMULPD(at(precision, i), d, u)
		return d, u
	}
	kernel("normalSquares", "func(theta, mean, precision *float64, blocks int, sums *float64)", func() {
		theta, mean, precision, blocks, sums := load("theta"), load("mean"), load("precision"), load("blocks"), load("sums")
		acc := XMM()
		VMOVUPD(at(sums, 0), acc)
		loop("block", blocks, func() {
			for i := range 2 {
				d, u := scaled(theta, mean, precision, i)
				VMULPD(u, d, d)
				VADDPD(d.AsX(), acc, acc)
				VEXTRACTF128(Imm(1), d, u.AsX())
				VADDPD(u.AsX(), acc, acc)
			}
			advance(64, theta, mean, precision)
		})
		VMOVUPD(acc, at(sums, 0))
	})
	kernel("normalGradient", "func(theta, mean, precision, grad *float64, blocks int)", func() {
		theta, mean, precision, grad, blocks := load("theta"), load("mean"), load("precision"), load("grad"), load("blocks")
		minus := YMM()
		VMOVUPD(sign, minus)
		loop("block", blocks, func() {
			for i := range 2 {
				_, u := scaled(theta, mean, precision, i)
				VXORPD(minus, u, u)
				VMOVUPD(u, at(grad, i))
			}
			advance(64, theta, mean, precision, grad)
		})
	})
}
