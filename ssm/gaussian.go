package ssm

import (
	"errors"
	"math"

	"github.com/starling-smc/starling/internal/dense"
)

// gaussian is the transition x ~ N(A·from, Q) of any dimension, where Q is positive definite.
type gaussian struct {
	a, q []float64 // d×d
	l    []float64 // L Lᵀ = Q
	most float64   // log density at the mode
}

// newGaussian returns the transition x ~ N(A·from, Q). The error says that Q has an eigenvalue below 0, or that a number is not finite.
func newGaussian(a, q []float64, d int) (Transition, error) {
	for _, v := range a {
		if !isFinite(v) {
			return nil, errors.New("a state would not stay finite")
		}
	}
	l := append([]float64(nil), q...)
	if !dense.Cholesky(l, d) || dense.Singular(l, d) {
		return newSingular(a, q, d)
	}
	return &gaussian{a: a, q: q, l: l, most: -0.5 * (float64(float64(d)*log2Pi) + dense.LogDet(l, d))}, nil
}

// small is the length of a state up to which the transition needs no memory of its own.
const small = 8

// Sample implements Transition.
func (t *gaussian) Sample(s *Stream, from, x []float64) {
	d := len(x)
	dense.MulVec(x, t.a, from)
	var array [small]float64
	noise := slice(&array, d)
	s.Normals(noise)
	addFactor(x, t.l, noise)
}

// LogDensity implements Transition.
func (t *gaussian) LogDensity(from, x []float64) float64 {
	var array [small]float64
	u := slice(&array, len(x))
	dense.MulVec(u, t.a, from)
	for i, v := range x {
		u[i] = v - u[i]
	}
	dense.Forward(t.l, u)
	return t.most - float64(0.5*square(u))
}

// MaxLogDensity implements Bounded.
func (t *gaussian) MaxLogDensity() float64 { return t.most }

// Gaussian implements Gaussian.
func (t *gaussian) Gaussian() (a, q []float64) { return t.a, t.q }

// slice is array's first d numbers or, if it is shorter, a new slice.
func slice(array *[small]float64, d int) []float64 {
	if d <= small {
		return array[:d]
	}
	return make([]float64, d)
}

// addFactor adds L·noise to x; l is lower triangular.
func addFactor(x, l, noise []float64) {
	for i := range x {
		for k, v := range l[i*len(x) : i*len(x)+i+1] {
			x[i] += float64(v * noise[k])
		}
	}
}

// square is |u|².
func square(u []float64) float64 {
	sum := 0.0
	for _, v := range u {
		sum += float64(v * v)
	}
	return sum
}

func isFinite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
