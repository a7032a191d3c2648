package filter

import (
	"fmt"
	"testing"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// BenchmarkExample1 filters 20 scans of the paper's Example 1 on one thread, with 4,000 particles: an operation is a run.
// BENCH in docs/filtering-benchmarks.md says how to run other programs on the same work.
func BenchmarkExample1(b *testing.B) {
	for _, returns := range []int{500, 5000} {
		model := ssm.LinearGaussian{
			Interval: 1, A: [][]float64{{0.9}}, Q: [][]float64{{0.08}}, H: [][]float64{{1}}, R: [][]float64{{2}},
			Initial: &ssm.Initial{Mean: []float64{0}, SD: []float64{0.28284271247461906}}, Returns: returns,
		}
		scene := ssm.Scene{Model: model, Seed: 1}
		var scans []*ssm.Scan
		for range 20 {
			_, scan, err := scene.Next()
			if err != nil {
				b.Fatal(err)
			}
			scans = append(scans, &scan)
		}
		for _, m := range []struct {
			name   string
			method Method
		}{
			{"scan", SMCMC{Particles: 4000, Burn: 1000, Repeat: 1, Index: ExactIndex{Scan}, Refine: PriorRefinement{}}},
			{"rejection", SMCMC{Particles: 4000, Burn: 1000, Repeat: 1, Index: ExactIndex{}, Refine: PriorRefinement{}}},
			{"uniform", SMCMC{Particles: 4000, Burn: 1000, Repeat: 1, Index: UniformIndex{}, Refine: PriorRefinement{}}},
			{"bootstrap", Bootstrap{Particles: 4000}},
		} {
			b.Run(fmt.Sprintf("%d/%s", returns, m.name), func(b *testing.B) {
				for b.Loop() {
					f, err := m.method.On(Job{Model: model, Seed: 1, Pool: mcmc.NewPool(1)})
					if err != nil {
						b.Fatal(err)
					}
					st, err := f.Init(b.Context())
					for _, scan := range scans {
						if err == nil {
							_, err = f.Step(b.Context(), st, scan)
						}
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkClutter3 filters 20 scans of the paper's Example 2 on one thread: an operation is a scan.
func BenchmarkClutter3(b *testing.B) {
	for _, evaluate := range []string{"near", "all"} {
		model := ssm.Clutter{
			Interval: 1, Acceleration: 0.5, Returns: ssm.Returns{Rate: 1500, SD: 1}, Evaluate: evaluate,
			Background: ssm.Background{Rate: 4000, Region: [4]float64{-100, 100, -100, 100}},
		}
		for _, start := range [][]float64{{-60, -40, 3, 2}, {50, -50, -2, 3}, {0, 60, 1, -3}} {
			model.Initial = append(model.Initial, ssm.Initial{Mean: start, SD: []float64{1, 1, 0.5, 0.5}})
		}
		scene := ssm.Scene{Model: model, Seed: 1}
		var scans []*ssm.Scan
		for range 20 {
			_, scan, err := scene.Next()
			if err != nil {
				b.Fatal(err)
			}
			scans = append(scans, &scan)
		}
		b.Run(evaluate, func(b *testing.B) {
			m := SMCMC{Particles: 4000, Burn: 1000, Repeat: 1, Joint: PriorJoint{}, Index: UniformIndex{}, Refine: Walk{SD: 0.1}}
			f, err := m.On(Job{Model: model, Seed: 1, Pool: mcmc.NewPool(1)})
			if err != nil {
				b.Fatal(err)
			}
			var st *State
			for i := 0; b.Loop(); i++ {
				if i%20 == 0 {
					st, err = f.Init(b.Context())
				}
				if err == nil {
					_, err = f.Step(b.Context(), st, scans[i%20])
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
