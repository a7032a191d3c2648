package smc_test

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/bayes"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// decay is a user's own model: a substance whose amount a follows the differential equation da/dt = −k a, a(0) = A, was
// measured at some times with normal errors of sd .1. The parameters are A and k; the equation is solved by the classical
// Runge–Kutta method together with its derivatives by A and k.
func decay(t, measured []float64) (*bayes.Model, error) {
	const sd, steps = 0.1, 10
	return bayes.New([]bayes.Parameter{
		{Name: "amount", Prior: bayes.LogNormal{SD: 1}},
		{Name: "rate", Prior: bayes.LogNormal{SD: 1}},
	}, len(t), func(i int, p, grad []float64) float64 {
		slope := func(y [3]float64) [3]float64 { return [3]float64{-p[1] * y[0], -p[1] * y[1], -p[1]*y[2] - y[0]} }
		along := func(y, d [3]float64, h float64) [3]float64 {
			return [3]float64{y[0] + h*d[0], y[1] + h*d[1], y[2] + h*d[2]}
		}
		y, h := [3]float64{p[0], 1, 0}, t[i]/steps // the amount, and its derivatives by A and k
		for range steps {
			d1 := slope(y)
			d2 := slope(along(y, d1, h/2))
			d3 := slope(along(y, d2, h/2))
			d4 := slope(along(y, d3, h))
			for i := range y {
				y[i] += h / 6 * (d1[i] + 2*d2[i] + 2*d3[i] + d4[i])
			}
		}
		z := (measured[i] - y[0]) / sd
		grad[0] += z / sd * y[1]
		grad[1] += z / sd * y[2]
		return -0.5*z*z - math.Log(sd*math.Sqrt(2*math.Pi))
	})
}

// Four islands of 300 particles find the posterior of a model that only this example knows, by adaptive tempering with
// Hamiltonian moves.
func Example() {
	model, err := decay([]float64{0.5, 1, 1.5, 2, 3, 4}, []float64{1.62, 1.19, 0.99, 0.78, 0.36, 0.32})
	if err != nil {
		fmt.Println(err)
		return
	}
	workers := mcmc.NewPool(0)
	islands := make([]*smc.Sampler, 4)
	for i := range islands {
		islands[i] = &smc.Sampler{
			Model: model, Prior: model.Prior(), Particles: 300, Seed: 1, Island: i, Pool: workers,
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
	var amount, rate float64
	for p, st := range states {
		kept := st.Ensemble()
		moments := model.Moments(kept.Theta, kept.LogW)
		amount += combined.Omega[p] * moments[0].Mean
		rate += combined.Omega[p] * moments[1].Mean
	}
	fmt.Printf("amount at the start %.1f, rate %.2f, log evidence %.0f\n", amount, rate, combined.LogZ)
	// Quadrature gives 2.069, 0.516 and 1.717.

	// Output: amount at the start 2.1, rate 0.52, log evidence 2
}
