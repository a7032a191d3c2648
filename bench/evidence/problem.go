package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
)

// problem is a Bayesian linear regression with noise of variance 1 and the prior N(0, I), whose evidence is known. The
// likelihood is a quadratic function of the parameters, c + b'θ − ½ θ'Pθ, and the posterior at the power λ has the precision I + λP.
type problem struct {
	d         int
	precision []float64 // P, D×D
	b         []float64
	c         float64
	logZ      float64
}

// regression draws a problem of so many rows, and its data from the model itself.
func regression(d, rows int, seed uint64) problem {
	stream := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	truth := make([]float64, d)
	stream.Normals(truth)
	p := problem{d: d, precision: make([]float64, d*d), b: make([]float64, d), c: -0.5 * float64(rows) * math.Log(2*math.Pi)}
	x := make([]float64, d)
	for range rows {
		stream.Normals(x)
		y := stream.Normal()
		for i := range x {
			y += float64(x[i] * truth[i])
		}
		for i := range x {
			p.b[i] += float64(x[i] * y)
			for k := range x {
				p.precision[i*d+k] += float64(x[i] * x[k])
			}
		}
		p.c -= float64(y * y / 2)
	}
	// log Z = c − ½ log det(I + P) + ½ b'(I + P)⁻¹b
	factor, z := p.factor(1), slices.Clone(p.b)
	dense.Forward(factor, z)
	p.logZ = p.c - float64(dense.LogDet(factor, d)/2)
	for _, v := range z {
		p.logZ += float64(v * v / 2)
	}
	return p
}

// posterior solves (I + P) mean = b.
func (p problem) posterior() posterior {
	out := posterior{model: p, prior: unit(p.d), logZ: p.logZ, mean: append([]float64(nil), p.b...), variance: make([]float64, p.d)}
	dense.Solve(p.factor(1), out.mean)
	for i, x := range p.scale(1) {
		out.variance[i/p.d] += float64(x * x)
	}
	return out
}

// writeProblems writes the problem of each size to a file of JSON. Its likelihood is exp(C + B'θ − ½ θ'Pθ).
func writeProblems(path string) error {
	type written struct {
		D, Rows      int
		Precision, B []float64 // Precision: P, D×D
		C, LogZ      float64
	}
	var all []written
	for _, s := range sizes {
		if len(all) == 0 || all[len(all)-1].D != s.d {
			p := regression(s.d, s.rows, 1)
			all = append(all, written{s.d, s.rows, p.precision, p.b, p.c, p.logZ})
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}

// factor is the Cholesky factor of the precision of the posterior at the power λ.
func (p problem) factor(lambda float64) []float64 {
	a := make([]float64, p.d*p.d)
	for i := range p.d {
		for k := range p.d {
			a[i*p.d+k] = lambda * p.precision[i*p.d+k]
		}
		a[i*p.d+i]++
	}
	if !dense.Cholesky(a, p.d) {
		panic("a precision of no positive definite matrix")
	}
	return a
}

// scale is the Cholesky factor of the covariance of the posterior at the power λ.
func (p problem) scale(lambda float64) []float64 {
	d, l := p.d, p.factor(lambda)
	covariance := make([]float64, d*d)
	for i := range d { // row i is (L Lᵀ)⁻¹ e_i
		row := covariance[i*d : (i+1)*d]
		row[i] = 1
		dense.Solve(l, row)
	}
	dense.Symmetrise(covariance, d)
	if !dense.Cholesky(covariance, d) {
		panic("a covariance of no positive definite matrix")
	}
	return covariance
}

// Dim is the number of parameters.
func (p problem) Dim() int { return p.d }

// Examples is 1: the rows are summed beforehand.
func (p problem) Examples() int { return 1 }

// LogLik is the quadratic function.
func (p problem) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	d := p.d
	for j := range ll {
		l, at := p.c, theta[j*d:(j+1)*d]
		for i, x := range at {
			row := p.precision[i*d : (i+1)*d]
			var s0, s1, s2, s3 float64
			k := 0
			for ; k+4 <= d; k += 4 {
				s0 += float64(row[k] * at[k])
				s1 += float64(row[k+1] * at[k+1])
				s2 += float64(row[k+2] * at[k+2])
				s3 += float64(row[k+3] * at[k+3])
			}
			for ; k < d; k++ {
				s0 += float64(row[k] * at[k])
			}
			px := s0 + s1 + s2 + s3
			l += float64(x * (p.b[i] - float64(px/2)))
			if grad != nil {
				grad[j*d+i] = p.b[i] - px
			}
		}
		ll[j] = l
	}
	return nil
}

// unit is the prior N(0, I).
type unit int

// Dim is D.
func (u unit) Dim() int { return int(u) }

// Mean is 0.
func (unit) Mean(int) float64 { return 0 }

// SD is 1.
func (unit) SD(int) float64 { return 1 }

// Sample draws.
func (unit) Sample(s *rng.Stream, theta []float64) { s.Normals(theta) }

// LogDensity is the normal one.
func (unit) LogDensity(theta, grad []float64) float64 {
	var sum float64
	for i, x := range theta {
		sum += float64(x * x)
		if grad != nil {
			grad[i] = -x
		}
	}
	return float64(-sum/2) - float64(0.5*float64(len(theta))*math.Log(2*math.Pi))
}
