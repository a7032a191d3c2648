package lanes

import "fmt"

// maxCallVectors bounds the vectors of one call of assembly (some 0.1 ms), which Go cannot preempt.
const maxCallVectors = 1 << 12

// sameVectors panics unless all lengths equal the first, which must be a whole number of vectors.
func sameVectors(name string, n int, others ...int) {
	if n%Lanes != 0 {
		panic(fmt.Sprintf("lanes: %s: %d elements are not whole vectors", name, n))
	}
	for _, m := range others {
		if m != n {
			panic(fmt.Sprintf("lanes: %s: lengths %d and %d differ", name, n, m))
		}
	}
}

// ReLU is the rectifier. It keeps NaN and −0:
//
//	y[i] = 0 > x[i] ? 0 : x[i]
//
// y may be x.
func ReLU(x, y []float32) {
	sameVectors("ReLU", len(x), len(y))
	for i := reluAssembly(x, y); i < len(x); i++ {
		y[i] = max32(0, x[i])
	}
}

// ReLUBackward is the derivative of ReLU, from its value:
//
//	dx[i] = y[i] > 0 ? dy[i] : 0
//
// dx may be dy.
func ReLUBackward(y, dy, dx []float32) {
	sameVectors("ReLUBackward", len(y), len(dy), len(dx))
	for i := reluBackwardAssembly(y, dy, dx); i < len(y); i++ {
		if y[i] > 0 {
			dx[i] = dy[i]
		} else {
			dx[i] = 0
		}
	}
}

// Scale multiplies by a number:
//
//	y[i] = c * x[i]
//
// y may be x.
func Scale(x []float32, c float32, y []float32) {
	sameVectors("Scale", len(x), len(y))
	for i := scaleAssembly(x, c, y); i < len(x); i++ {
		y[i] = c * x[i]
	}
}

// Tanh is the hyperbolic tangent, within 3 ulp:
//
//	y[i] = tanh(x[i])
//
// y may be x.
func Tanh(x, y []float32) {
	sameVectors("Tanh", len(x), len(y))
	for i := tanhAssembly(x, y); i < len(x); i++ {
		y[i] = tanh32(x[i])
	}
}

// TanhBackward is the derivative of Tanh, from its value:
//
//	dx[i] = dy[i] * (1 - y[i]*y[i])
//
// dx may be dy.
func TanhBackward(y, dy, dx []float32) {
	sameVectors("TanhBackward", len(y), len(dy), len(dx))
	for i := tanhBackwardAssembly(y, dy, dx); i < len(y); i++ {
		dx[i] = float32(dy[i] * fma32(-y[i], y[i], 1))
	}
}

// GELU is the Gaussian error linear unit (Hendrycks and Gimpel 2016), exact form, Φ within 2e-7:
//
//	y[i] = x[i] * Φ(x[i]),  Φ(x) = (1 + erf(x/√2)) / 2
//
// GELU(−Inf) is −0. y may be x.
func GELU(x, y []float32) {
	sameVectors("GELU", len(x), len(y))
	for i := geluAssembly(x, y); i < len(x); i++ {
		v := max32(-geluReach, x[i])
		cdf, _ := normal(min32(geluReach, v))
		y[i] = float32(v * cdf)
	}
}

// GELUBackward is the derivative of GELU, where φ is the density of the standard normal:
//
//	dx[i] = dy[i] * (Φ(x[i]) + x[i]*φ(x[i]))
//
// dx may be dy.
func GELUBackward(x, dy, dx []float32) {
	sameVectors("GELUBackward", len(x), len(dy), len(dx))
	for i := geluBackwardAssembly(x, dy, dx); i < len(x); i++ {
		v := min32(geluReach, max32(-geluReach, x[i]))
		cdf, e := normal(v)
		dx[i] = float32(dy[i] * fma32(float32(v*rsqrt2Pi), e, cdf))
	}
}

// Swish is Swish or SiLU (Ramachandran, Zoph and Le 2017), σ within 3 ulp:
//
//	y[i] = x[i] * σ(x[i]),  σ(x) = 1 / (1 + e^-x)
//
// Swish(−Inf) is −0. y may be x.
func Swish(x, y []float32) {
	sameVectors("Swish", len(x), len(y))
	for i := swishAssembly(x, y); i < len(x); i++ {
		v := max32(-swishReach, x[i])
		s, _, _ := sigmoid(v)
		y[i] = float32(v * s)
	}
}

// SwishBackward is the derivative of Swish:
//
//	dx[i] = dy[i] * (σ(x[i]) + x[i]*σ(x[i])*σ(-x[i]))
//
// dx may be dy.
func SwishBackward(x, dy, dx []float32) {
	sameVectors("SwishBackward", len(x), len(dy), len(dx))
	for i := swishBackwardAssembly(x, dy, dx); i < len(x); i++ {
		v := min32(swishReach, max32(-swishReach, x[i]))
		s, r, q := sigmoid(v)
		dx[i] = float32(dy[i] * fma32(float32(v*q), r, s))
	}
}
