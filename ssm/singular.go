package ssm

import (
	"errors"
	"math"

	"github.com/starling-smc/starling/internal/dense"
)

// singular is the transition x ~ N(A·from, Q) where Q has eigenvalues of 0, as the usual model of a constant acceleration in each step
// has: Q = [T⁴/4 T³/2; T³/2 T²]. The noise moves the state within the range of Q, which has r dimensions. There, with v = x − A·from,
//
//	log p(x | from) = −(r log 2π + log pdet Q + vᵀ Q⁻ v)/2,
//
// a density for the r dimensions; elsewhere p is 0. pdet is the product of the eigenvalues that are not 0.
type singular struct {
	a, q  []float64 // d×d
	noise *dense.Semidefinite
	root  []float64 // B, d×r
	sd    []float64 // roots of Q's diagonal
	most  float64   // log density at the mode
}

// newSingular returns an error if Q has an eigenvalue below 0.
func newSingular(a, q []float64, d int) (*singular, error) {
	noise, ok := dense.NewSemidefinite(q, d)
	if !ok {
		return nil, errors.New("its covariance is not positive semidefinite")
	}
	t := &singular{a: a, q: q, noise: noise, root: noise.Root(), sd: make([]float64, d)}
	t.most = -0.5 * (float64(float64(noise.Rank())*log2Pi) + noise.LogDet())
	if math.IsNaN(t.most) {
		return nil, errors.New("its covariance is singular, and its coordinates have units too different for a density: give coordinates other units")
	}
	for i := range t.sd {
		t.sd[i] = math.Sqrt(q[i*d+i])
	}
	return t, nil
}

// Sample implements Transition.
func (t *singular) Sample(s *Stream, from, x []float64) {
	r := t.noise.Rank()
	dense.MulVec(x, t.a, from)
	if r == 0 {
		return
	}
	var array, more [small]float64
	noise, step := slice(&array, r), slice(&more, len(x))
	s.Normals(noise)
	dense.MulVec(step, t.root, noise)
	for i, v := range step {
		x[i] += v
	}
}

// LogDensity implements Transition.
func (t *singular) LogDensity(from, x []float64) float64 {
	d := len(x)
	var one, two [small]float64
	v, size := slice(&one, d), slice(&two, d)
	for i := range d {
		mean, most := 0.0, t.sd[i]+math.Abs(x[i])
		for j, w := range from {
			term := float64(t.a[i*d+j] * w)
			mean += term
			most += math.Abs(term)
		}
		v[i], size[i] = x[i]-mean, most
	}
	if t.noise.Outside(v, size) {
		return math.Inf(-1)
	}
	copy(size, v)
	t.noise.Solve(size)
	sum := 0.0
	for i, w := range size {
		sum += float64(v[i] * w)
	}
	return t.most - float64(0.5*max(0, sum))
}

// MaxLogDensity implements Bounded.
func (t *singular) MaxLogDensity() float64 { return t.most }

// Gaussian implements Gaussian.
func (t *singular) Gaussian() (a, q []float64) { return t.a, t.q }

// Nearest implements Confined, where Q's own units measure distances.
func (t *singular) Nearest(from, x []float64) {
	var array [small]float64
	mean := slice(&array, len(x))
	dense.MulVec(mean, t.a, from)
	for i, v := range mean {
		x[i] -= v
	}
	t.noise.Project(x)
	for i, v := range mean {
		x[i] += v
	}
}
