package smc

import (
	"context"
	"math"
)

var log2Pi = math.Log(2 * math.Pi)

// regression is N(y; Xθ, σ² I) to the power λ, through the sufficient statistics.
func regression(x [][]float64, y []float64, sigma2, lambda float64) density {
	d := len(x[0])
	p, b := make([][]float64, d), make([]float64, d)
	c := -0.5 * lambda * float64(len(y)) * (log2Pi + math.Log(sigma2))
	for i := range d {
		p[i] = make([]float64, d)
		for n := range x {
			b[i] += lambda * x[n][i] * y[n] / sigma2
			for k := range d {
				p[i][k] += lambda * x[n][i] * x[n][k] / sigma2
			}
		}
	}
	for _, v := range y {
		c -= 0.5 * lambda * v * v / sigma2
	}
	return quadratic(p, b, c)
}

// linear is regression example by example: y_i ~ N(x_i'θ, σ²).
type linear struct {
	x      [][]float64
	y      []float64
	sigma2 float64
}

func (m linear) Dim() int      { return len(m.x[0]) }
func (m linear) Examples() int { return len(m.y) }
func (m linear) LogLik(_ context.Context, rows []int32, theta, ll, grad []float64) error {
	if rows == nil {
		for i := range m.y {
			rows = append(rows, int32(i))
		}
	}
	d, constant := m.Dim(), -0.5*float64(len(rows))*(log2Pi+math.Log(m.sigma2))
	clear(grad)
	for j := range ll {
		ll[j] = constant
		for _, i := range rows {
			r := m.y[i]
			for k, x := range m.x[i] {
				r -= x * theta[j*d+k]
			}
			ll[j] -= 0.5 * r * r / m.sigma2
			if grad == nil {
				continue
			}
			for k, x := range m.x[i] {
				grad[j*d+k] += x * r / m.sigma2
			}
		}
	}
	return nil
}

// logistic is Σ y z − log(1+e^z), z = Xθ.
func logistic(x [][]float64, y []float64) density {
	return density{len(x[0]), func(theta, grad []float64) (l float64) {
		clear(grad)
		for n, row := range x {
			var z float64
			for i, v := range row {
				z += v * theta[i]
			}
			e := math.Exp(-math.Abs(z))
			l += y[n]*z - max(z, 0) - math.Log(1+e)
			p := 1 / (1 + e)
			if z < 0 {
				p *= e
			}
			for i := range grad {
				grad[i] += (y[n] - p) * row[i]
			}
		}
		return l
	}}
}

// mixture is the mean of N((a, b), v I) over all a, b of the grid.
func mixture(grid []float64, v float64) density {
	one := func(x float64) (l, g float64) { // log of the mean of the components on one axis, and its derivative
		var sum, top float64
		top = math.Inf(-1)
		for _, a := range grid {
			top = max(top, -(x-a)*(x-a)/(2*v))
		}
		for _, a := range grid {
			e := math.Exp(-(x-a)*(x-a)/(2*v) - top)
			sum += e
			g -= e * (x - a) / v
		}
		return top + math.Log(sum/float64(len(grid))) - 0.5*(log2Pi+math.Log(v)), g / sum
	}
	return density{2, func(theta, grad []float64) float64 {
		l0, g0 := one(theta[0])
		l1, g1 := one(theta[1])
		if grad != nil {
			grad[0], grad[1] = g0, g1
		}
		return l0 + l1
	}}
}

// banana is x₀ ~ N(0, s²), x₁ ~ N(b (x₀² − s²), 1).
func banana(s2, b float64) density {
	return density{2, func(x, grad []float64) float64 {
		r := x[1] - b*(x[0]*x[0]-s2)
		if grad != nil {
			grad[0], grad[1] = -x[0]/s2+2*b*x[0]*r, -r
		}
		return -x[0]*x[0]/(2*s2) - r*r/2 - log2Pi - 0.5*math.Log(s2)
	}}
}

// funnel is v ~ N(0, s²), x_i ~ N(0, e^v), i = 1…d.
func funnel(s float64, d int) density {
	return density{d + 1, func(x, grad []float64) float64 {
		v, e := x[0], math.Exp(-x[0])
		l := -v*v/(2*s*s) - 0.5*log2Pi - math.Log(s) - 0.5*float64(d)*(log2Pi+v)
		g := -v/(s*s) - 0.5*float64(d)
		for i, y := range x[1:] {
			l -= y * y * e / 2
			g += y * y * e / 2
			if grad != nil {
				grad[1+i] = -y * e
			}
		}
		if grad != nil {
			grad[0] = g
		}
		return l
	}}
}

// over is the likelihood that makes a density the posterior of the given prior, with evidence 1.
func over(target density, prior normal) density {
	return density{target.d, func(theta, grad []float64) float64 {
		var g []float64
		if grad != nil {
			g = make([]float64, target.d)
		}
		l := target.log(theta, grad) - prior.LogDensity(theta, g)
		for i := range grad {
			grad[i] -= g[i]
		}
		return l
	}}
}
