package smc_test

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// decay is a user's own model: a substance whose amount a follows the differential equation da/dt = −k a, a(0) = A, was
// measured at some times with normal errors of sd .1. The parameters are θ = (log A, log k); the equation is solved by
// the classical Runge–Kutta method together with its derivative by θ.
type decay struct{ t, measured []float64 }

func (m decay) Dim() int      { return 2 }
func (m decay) Examples() int { return len(m.t) }

func (m decay) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	const sd = 0.1
	if rows == nil {
		for i := range m.t {
			rows = append(rows, int32(i))
		}
	}
	for j := range ll {
		ll[j] = 0
		var g [2]float64
		for _, i := range rows {
			a := solve(theta[2*j:2*j+2], m.t[i])
			z := (m.measured[i] - a[0]) / sd
			ll[j] -= 0.5*z*z + math.Log(sd*math.Sqrt(2*math.Pi))
			g[0] += z / sd * a[1]
			g[1] += z / sd * a[2]
		}
		if grad != nil {
			copy(grad[2*j:], g[:])
		}
	}
	return nil
}

// solve returns the amount at time t and its derivatives by log A and log k.
func solve(theta []float64, t float64) [3]float64 {
	const steps = 10
	k, h := math.Exp(theta[1]), t/steps
	slope := func(y [3]float64) [3]float64 { return [3]float64{-k * y[0], -k * y[1], -k*y[2] - k*y[0]} }
	along := func(y, d [3]float64, h float64) [3]float64 {
		return [3]float64{y[0] + h*d[0], y[1] + h*d[1], y[2] + h*d[2]}
	}
	y := [3]float64{math.Exp(theta[0]), math.Exp(theta[0]), 0}
	for range steps {
		d1 := slope(y)
		d2 := slope(along(y, d1, h/2))
		d3 := slope(along(y, d2, h/2))
		d4 := slope(along(y, d3, h))
		for i := range y {
			y[i] += h / 6 * (d1[i] + 2*d2[i] + 2*d3[i] + d4[i])
		}
	}
	return y
}

// standard is the prior θ ~ N(0, I).
type standard struct{ d int }

func (p standard) Dim() int                              { return p.d }
func (p standard) Mean(int) float64                      { return 0 }
func (p standard) SD(int) float64                        { return 1 }
func (p standard) Sample(s *rng.Stream, theta []float64) { s.Normals(theta) }
func (p standard) LogDensity(theta, grad []float64) (l float64) {
	for i, x := range theta {
		l -= 0.5*x*x + 0.5*math.Log(2*math.Pi)
		if grad != nil {
			grad[i] = -x
		}
	}
	return l
}

// Four islands of 300 particles find the posterior of a model that only this example knows, by adaptive tempering with
// Hamiltonian moves.
func Example() {
	model := decay{
		t:        []float64{0.5, 1, 1.5, 2, 3, 4},
		measured: []float64{1.62, 1.19, 0.99, 0.78, 0.36, 0.32},
	}
	workers := pool.New(0)
	islands := make([]*smc.Sampler, 4)
	for i := range islands {
		islands[i] = &smc.Sampler{
			Model: model, Prior: standard{2}, Particles: 300, Seed: 1, Island: i, Pool: workers,
			Path: smc.Tempering{ESS: 0.5}, Resample: smc.Resampler{When: smc.Always{}},
			Move: mcmc.HMC{Steps: 5, Mutations: mcmc.Mutations{Count: 8}},
		}
	}
	states, err := smc.RunIslands(context.Background(), workers, islands, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var logZ []float64
	for _, st := range states {
		logZ = append(logZ, st.LogZ)
	}
	combined, err := smc.Combine(logZ)
	if err != nil {
		fmt.Println(err)
		return
	}
	var start, rate float64
	for p, st := range states {
		theta, logw := st.Ensemble()
		for j, l := range logw {
			w := combined.Omega[p] * math.Exp(l)
			start += w * math.Exp(theta[2*j])
			rate += w * math.Exp(theta[2*j+1])
		}
	}
	fmt.Printf("amount at the start %.2f, rate %.2f, log evidence %.0f\n", start, rate, combined.LogZ)
	// Quadrature gives 2.069, 0.516 and 1.717.

	// Output: amount at the start 2.07, rate 0.52, log evidence 2
}
