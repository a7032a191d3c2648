package main

import (
	"errors"
	"math"
	"slices"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/dense"
)

// rule is a logistic regression on max p̄, total and epistemic entropy, standardised.
type rule struct{ mean, sd, weights [4]float64 }

func inputs(x []float64, i int) [4]float64 {
	row := x[i*decide.Features:]
	return [4]float64{1, row[0], row[1], row[4]}
}

// logistic fits the rule by Newton's method with a ridge of one.
func logistic(x []float64, z []bool) (*rule, error) {
	r := &rule{}
	n := float64(len(z))
	for i := range z {
		for k, v := range inputs(x, i) {
			r.mean[k] += float64(v / n)
		}
	}
	for i := range z {
		for k, v := range inputs(x, i) {
			r.sd[k] += float64((v-r.mean[k])*(v-r.mean[k])) / n
		}
	}
	for k := range r.sd {
		if r.sd[k] = math.Sqrt(r.sd[k]); r.sd[k] == 0 {
			r.sd[k] = 1
		}
	}
	for range 50 {
		var g [4]float64
		var h [4][4]float64
		for i, wrong := range z {
			u := r.standard(inputs(x, i))
			p := 1 / (1 + math.Exp(-dot(r.weights, u)))
			y := 0.
			if wrong {
				y = 1
			}
			for a := range u {
				g[a] += float64((y - p) * u[a])
				for b := range u {
					h[a][b] += float64(p * (1 - p) * u[a] * u[b])
				}
			}
		}
		for a := range g {
			g[a] -= r.weights[a]
			h[a][a]++
		}
		l := slices.Concat(h[0][:], h[1][:], h[2][:], h[3][:])
		if !dense.Cholesky(l, 4) {
			return nil, errors.New("the curvature of the logistic rule is not positive definite")
		}
		dense.Solve(l, g[:])
		for a, step := range g {
			r.weights[a] += step
		}
	}
	return r, nil
}

func (r *rule) standard(x [4]float64) (u [4]float64) {
	u[0] = 1
	for k := 1; k < 4; k++ {
		u[k] = (x[k] - r.mean[k]) / r.sd[k]
	}
	return u
}

func (r *rule) score(x []float64) (s []float64) {
	for i := range len(x) / decide.Features {
		s = append(s, dot(r.weights, r.standard(inputs(x, i))))
	}
	return s
}

func dot(a, b [4]float64) (sum float64) {
	for k, v := range a {
		sum += float64(v * b[k])
	}
	return sum
}
