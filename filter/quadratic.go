package filter

import (
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/ssm"
)

// quadratic is a Gaussian factor exp(q(x)) of a target, up to a constant: a Taylor series of order 2, or the site of a node:
//
//	q(x) = gᵀ(x − o) − (x − o)ᵀ Λ (x − o)/2.
//
// With o = 0, g and Λ are its natural parameters. An origin near x keeps the digits of a state far from 0.
type quadratic struct {
	origin    []float64 // o
	gradient  []float64 // g
	precision []float64 // Λ, Dim × Dim, symmetric
}

// at is q(x); 0 for no factor.
func (q *quadratic) at(x []float64) float64 {
	if q == nil {
		return 0
	}
	d, sum := len(x), 0.0
	for i := range x {
		u, row := q.gradient[i], 0.0
		for j, v := range x {
			row += float64(q.precision[i*d+j] * (v - q.origin[j]))
		}
		sum += float64((x[i] - q.origin[i]) * (u - float64(0.5*row)))
	}
	return sum
}

// tilt is a Gaussian transition times a Gaussian factor (sequential-mcmc-massive-data, section 2.3, eq. 37 and 43; A6). With the mean
// m = A f(a) of a block of coordinates, its covariance Q = B Bᵀ, and the factor q about o, given the other coordinates,
//
//	N(x; m, Q) exp(q(x)) = c(a) N(x; m + S h, S),   δ = m − o,   h = g − Λ δ,
//	S = B (I + Bᵀ Λ B)⁻¹ Bᵀ,   log c(a) = gᵀδ − δᵀΛδ/2 + hᵀ S h/2 − log det(I + Bᵀ Λ B)/2.
//
// g is that of the block given the others: g_b − Λ_b,rest (x − o)_rest. Nothing is divided by Q, which may be singular.
type tilt struct {
	*quadratic
	a      []float64 // A
	blocks []tiltedBlock
}

// tiltedBlock is what a block's law does not owe to the particle.
type tiltedBlock struct {
	ssm.Block
	root   []float64 // B, n × r
	r      int
	l      []float64 // L Lᵀ = I + Bᵀ Λ B
	logDet float64   // −log det(I + Bᵀ Λ B)/2

	m, h, w []float64 // scratch
}

// newTilt returns the tilt of each of some blocks, which are independent of each other given f(a). ok is false if I + Bᵀ Λ B is not positive
// definite for one of them: the factor grows faster than the transition falls.
func newTilt(tr ssm.Gaussian, q *quadratic, blocks []ssm.Block) (t *tilt, ok bool) {
	a, cov := tr.Gaussian()
	t = &tilt{quadratic: q, a: a}
	d := len(q.origin)
	for _, b := range blocks {
		n := b.To - b.From
		noise, ok := dense.NewSemidefinite(block(cov, d, b), n)
		if !ok {
			return nil, false
		}
		p := tiltedBlock{Block: b, root: noise.Root(), r: noise.Rank(), m: make([]float64, n), h: make([]float64, n)}
		p.w = make([]float64, p.r)
		if p.l, ok = tightened(p.root, block(q.precision, d, b), n, p.r); !ok {
			return nil, false
		}
		p.logDet = -0.5 * dense.LogDet(p.l, p.r)
		t.blocks = append(t.blocks, p)
	}
	return t, true
}

// block is the part of a d×d matrix that belongs to a block.
func block(m []float64, d int, b ssm.Block) (part []float64) {
	for i := b.From; i < b.To; i++ {
		part = append(part, m[i*d+b.From:i*d+b.To]...)
	}
	return part
}

// tightened is the Cholesky factor of I + Bᵀ Λ B, with B n×r and Λ n×n.
func tightened(root, precision []float64, n, r int) (l []float64, ok bool) {
	by, l := make([]float64, n*r), make([]float64, r*r)
	if r == 0 {
		return l, true
	}
	dense.Mul(by, precision, root, n)
	for i := range r {
		for j := range r {
			for k := range n {
				l[i*r+j] += float64(root[k*r+i] * by[k*r+j])
			}
		}
	}
	dense.Symmetrise(l, r)
	for i := range r {
		l[i*r+i]++
	}
	return l, dense.Cholesky(l, r)
}

// at prepares the law of block g given f(a) = before and the other coordinates of x, and returns log c(a).
func (t *tilt) at(g int, before, x []float64) (logC float64) {
	p, d := &t.blocks[g], len(x)
	dense.MulVec(p.m, t.a[p.From*d:p.To*d], before)
	base := 0.0
	for i := range p.m {
		row, slope := t.precision[(p.From+i)*d:(p.From+i+1)*d], t.gradient[p.From+i]
		for j, v := range x[:p.From] {
			slope -= float64(row[j] * (v - t.origin[j]))
		}
		for j := p.To; j < d; j++ {
			slope -= float64(row[j] * (x[j] - t.origin[j]))
		}
		p.h[i] = slope
		for j, v := range p.m {
			p.h[i] -= float64(row[p.From+j] * (v - t.origin[p.From+j]))
		}
		base += float64(0.5 * (p.m[i] - t.origin[p.From+i]) * (slope + p.h[i]))
	}
	for k := range p.w {
		p.w[k] = 0
		for i, v := range p.h {
			p.w[k] += float64(p.root[i*p.r+k] * v)
		}
	}
	dense.Forward(p.l, p.w)
	for _, v := range p.w {
		base += float64(0.5 * v * v)
	}
	return base + p.logDet
}

// sample sets the block of y to a draw of the law that at has prepared.
func (t *tilt) sample(s *ssm.Stream, g int, y []float64) {
	p := &t.blocks[g]
	for k := range p.w {
		p.w[k] += s.Normal()
	}
	dense.Backward(p.l, p.w)
	for i, m := range p.m {
		for k, v := range p.w {
			m += float64(p.root[i*p.r+k] * v)
		}
		y[p.From+i] = m
	}
}

// clipped makes the d×d matrix Λ positive semidefinite: eigenvalues below 0 become 0, so that directions without information have none. It
// reports whether there were any.
func clipped(m []float64, d int) (repaired bool) {
	values, u := dense.Eigen(m, d)
	if values[0] >= 0 {
		return false
	}
	for i := range d {
		for j := range i + 1 {
			sum := 0.0
			for k, v := range values {
				sum += float64(float64(u[i*d+k]*max(0, v)) * u[j*d+k])
			}
			m[i*d+j], m[j*d+i] = sum, sum
		}
	}
	return true
}
