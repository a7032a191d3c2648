package main

import (
	"math"

	"github.com/starling-smc/starling/bayes"
)

// gpRegression is a Gaussian process: y ~ N(0, K), K_ij = alpha² exp(−(x_i − x_j)²/(2 rho²)) + sigma δ_ij. By a parameter, the
// derivative of the log density is ½ tr((a a' − K⁻¹) dK), a = K⁻¹ y.
func gpRegression(d dataset) (*bayes.Model, error) {
	x, y := d.column("x"), d.column("y")
	n := len(x)
	return bayes.New([]bayes.Parameter{
		{Name: "rho", Prior: bayes.Gamma{Shape: 25, Rate: 4}},
		{Name: "alpha", Prior: bayes.HalfNormal{SD: 2}},
		{Name: "sigma", Prior: bayes.HalfNormal{SD: 1}},
	}, 1, func(_ int, p, grad []float64) float64 {
		rho, alpha, sigma := p[0], p[1], p[2]
		k, l := make([]float64, n*n), make([]float64, n*n) // K without sigma, and its Cholesky factor with it
		logDet := 0.0
		for i := range n {
			for j := range i + 1 {
				r := (x[i] - x[j]) / rho
				k[i*n+j] = alpha * alpha * math.Exp(-0.5*r*r)
				k[j*n+i] = k[i*n+j]
				sum := k[i*n+j]
				if i == j {
					sum += sigma
				}
				for m := range j {
					sum -= float64(l[i*n+m] * l[j*n+m])
				}
				if i == j {
					l[i*n+i] = math.Sqrt(sum)
					logDet += math.Log(sum)
				} else {
					l[i*n+j] = sum / l[j*n+j]
				}
			}
		}
		inverse := make([]float64, n*n) // column by column
		for c := range n {
			column := inverse[c*n : (c+1)*n]
			column[c] = 1
			solve(l, column)
		}
		a := append([]float64(nil), y...)
		solve(l, a)
		square := 0.0
		for i := range n {
			square += float64(y[i] * a[i])
			for j := range n {
				w := float64(0.5 * (float64(a[i]*a[j]) - inverse[i*n+j]))
				r := (x[i] - x[j]) / rho
				grad[0] += w * k[i*n+j] * r * r / rho
				grad[1] += float64(w*k[i*n+j]) * 2 / alpha
				if i == j {
					grad[2] += w
				}
			}
		}
		return float64(-0.5*square) - float64(0.5*logDet) - float64(float64(n)*halfLog2Pi)
	})
}

// solve sets b to (L L')⁻¹ b.
func solve(l, b []float64) {
	n := len(b)
	for i := range n {
		for j := range i {
			b[i] -= float64(l[i*n+j] * b[j])
		}
		b[i] /= l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			b[i] -= float64(l[j*n+i] * b[j])
		}
		b[i] /= l[i*n+i]
	}
}
