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

// ReLUWithDerivative is ReLU and its derivative, which is 0 at 0 and for NaN:
//
//	y[i] = 0 > x[i] ? 0 : x[i]
//	d[i] = x[i] > 0 ? 1 : 0
//
// y or d may be x.
func ReLUWithDerivative(x, y, d []float32) {
	sameVectors("ReLUWithDerivative", len(x), len(y), len(d))
	for i := reluWithDerivativeAssembly(x, y, d); i < len(x); i++ {
		v := x[i]
		y[i], d[i] = max32(0, v), 0
		if v > 0 {
			d[i] = 1
		}
	}
}

// ReLUBackward is the way back through ReLU, from its value:
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

// MultiplyDerivative is the way back through an activation, from its derivative. Where that is 0, nothing passes, not even an
// infinite gradient:
//
//	dx[i] = d[i] == 0 ? 0 : d[i] * dy[i]
//
// dx may be d or dy.
func MultiplyDerivative(d, dy, dx []float32) {
	sameVectors("MultiplyDerivative", len(d), len(dy), len(dx))
	for i := multiplyDerivativeAssembly(d, dy, dx); i < len(d); i++ {
		if d[i] == 0 {
			dx[i] = 0
		} else {
			dx[i] = d[i] * dy[i]
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

// TanhWithDerivative is Tanh and its derivative:
//
//	y[i] = tanh(x[i])
//	d[i] = 1 - y[i]*y[i]
//
// y or d may be x.
func TanhWithDerivative(x, y, d []float32) {
	sameVectors("TanhWithDerivative", len(x), len(y), len(d))
	for i := tanhWithDerivativeAssembly(x, y, d); i < len(x); i++ {
		v := tanh32(x[i])
		y[i], d[i] = v, fma32(-v, v, 1)
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
		y[i], _ = gelu32(x[i])
	}
}

// GELUWithDerivative is GELU and its derivative, where φ is the density of the standard normal. One exponential serves Φ and φ:
//
//	y[i] = x[i] * Φ(x[i])
//	d[i] = Φ(x[i]) + x[i]*φ(x[i])
//
// y or d may be x.
func GELUWithDerivative(x, y, d []float32) {
	sameVectors("GELUWithDerivative", len(x), len(y), len(d))
	for i := geluWithDerivativeAssembly(x, y, d); i < len(x); i++ {
		y[i], d[i] = gelu32(x[i])
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
		y[i], _ = swish32(x[i])
	}
}

// SwishWithDerivative is Swish and its derivative:
//
//	y[i] = x[i] * σ(x[i])
//	d[i] = σ(x[i]) + x[i]*σ(x[i])*σ(-x[i])
//
// y or d may be x.
func SwishWithDerivative(x, y, d []float32) {
	sameVectors("SwishWithDerivative", len(x), len(y), len(d))
	for i := swishWithDerivativeAssembly(x, y, d); i < len(x); i++ {
		y[i], d[i] = swish32(x[i])
	}
}
