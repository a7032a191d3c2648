package mcmc

import (
	"context"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// density is a log density and its gradient.
type density func(theta, grad []float64) float64

// gaussian is −½ (θ−m)'P(θ−m).
func gaussian(precision [][]float64, centre []float64) density {
	return func(theta, grad []float64) (l float64) {
		for i := range theta {
			g := 0.0
			for k := range theta {
				g -= precision[i][k] * (theta[k] - centre[k])
			}
			l += 0.5 * g * (theta[i] - centre[i])
			grad[i] = g
		}
		return l
	}
}

// model is factor times a density as a likelihood of one example. calls counts evaluations of a particle.
type model struct {
	d      int
	log    density
	factor float64
	calls  int
	values int // calls without gradient
}

func (m *model) Dim() int      { return m.d }
func (m *model) Examples() int { return 1 }
func (m *model) LogLik(_ context.Context, _ []int32, theta, ll, grad []float64) error {
	g := make([]float64, m.d)
	for j := range ll {
		ll[j] = m.factor * m.log(theta[j*m.d:(j+1)*m.d], g)
		m.calls++
		if grad == nil {
			m.values++
			continue
		}
		for i, v := range g {
			grad[j*m.d+i] = m.factor * v
		}
	}
	return nil
}

// factorPrior is a factor times a density in the prior's place.
type factorPrior struct {
	d      int
	log    density
	factor float64
}

func (p factorPrior) Dim() int                      { return p.d }
func (p factorPrior) Sample(*rng.Stream, []float64) { panic("not used") }
func (p factorPrior) LogDensity(theta, grad []float64) float64 {
	g := make([]float64, p.d)
	l := p.factor * p.log(theta, g)
	for i := range grad {
		grad[i] = p.factor * g[i]
	}
	return l
}

// normal is N(mean, sd²), component by component.
type normal struct{ mean, sd []float64 }

func (p normal) Dim() int           { return len(p.mean) }
func (p normal) Mean(i int) float64 { return p.mean[i] }
func (p normal) SD(i int) float64   { return p.sd[i] }
func (p normal) Sample(s *rng.Stream, theta []float64) {
	s.Normals(theta)
	for i := range theta {
		theta[i] = p.mean[i] + p.sd[i]*theta[i]
	}
}
func (p normal) LogDensity(theta, grad []float64) (l float64) {
	for i, x := range theta {
		z := (x - p.mean[i]) / p.sd[i]
		l -= 0.5*z*z + math.Log(p.sd[i]) + 0.5*math.Log(2*math.Pi)
		if grad != nil {
			grad[i] = -z / p.sd[i]
		}
	}
	return l
}

func at(seed uint64, iteration int) StepContext {
	return StepContext{Key: rng.Key{Seed: seed, Iteration: iteration}}
}

// all says whether x holds nothing but want, and that for some particles.
func all(x []int, want int) bool {
	return len(x) > 0 && !slices.ContainsFunc(x, func(v int) bool { return v != want })
}
