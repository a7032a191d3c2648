package starling_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// BenchmarkAnnealing is one iteration of data annealing: LeNet-5 on all of MNIST and on fresh batches of 500, 10 particles,
// 3 leapfrogs; beside it the gradients alone that such an iteration needs.
func BenchmarkAnnealing(b *testing.B) {
	ctx, p := context.Background(), pool.New(0)
	model, prior := lenet5(b, p)
	for _, c := range []struct {
		name string
		path smc.Path
	}{{"full", smc.Schedule[smc.Full]{Iterations: 1 << 20}}, {"500", smc.Schedule[smc.Constant]{Iterations: 1 << 20, Rule: smc.Constant{Batch: 500}}}} {
		sampler := &smc.Sampler{
			Model: model, Prior: prior, Path: c.path, Pool: p,
			Move: mcmc.Unadjusted{Steps: 3, Step: 0.002}, Weighting: smc.Momentum{}, Particles: 10,
		}
		b.Run(c.name, func(b *testing.B) {
			st, err := sampler.Init(ctx)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := sampler.Step(ctx, st); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/gradients", func(b *testing.B) {
			st, err := sampler.Init(ctx)
			if err != nil {
				b.Fatal(err)
			}
			rows, evaluations := []int32(nil), 3
			if c.name == "500" {
				rows, evaluations = make([]int32, 500), 4
				for i := range rows {
					rows[i] = int32(i * 117)
				}
			}
			for b.Loop() {
				for range evaluations {
					if err := model.LogLik(ctx, rows, st.Theta, st.LL, st.GradLL); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// lenet5 is LeNet-5 on all training images of MNIST.
func lenet5(b *testing.B, p *mcmc.Pool) (*nn.Model, mcmc.Prior) {
	b.Helper()
	problem, err := data.Load("mnist", os.Getenv("STARLING_DATA"))
	if err != nil {
		b.Skip(err)
	}
	net, err := nn.New([]int{1, 28, 28}, []nn.Layer{
		nn.Conv{Filters: 6, Kernel: [2]int{5, 5}, Stride: [2]int{1, 1}, Pad: [2]int{2, 2}}, nn.ReLU, nn.AvgPool{Size: [2]int{2, 2}, Stride: [2]int{2, 2}},
		nn.Conv{Filters: 16, Kernel: [2]int{5, 5}, Stride: [2]int{1, 1}}, nn.ReLU, nn.AvgPool{Size: [2]int{2, 2}, Stride: [2]int{2, 2}},
		nn.Dense{Units: 120}, nn.ReLU, nn.Dense{Units: 84}, nn.ReLU, nn.Dense{Units: 10},
	}, nn.Categorical{})
	if err != nil {
		b.Fatal(err)
	}
	model, err := nn.NewModel(net, problem.Train, p)
	if err != nil {
		b.Fatal(err)
	}
	prior, err := bnn.FanIn(net.Tensors(), 2)
	if err != nil {
		b.Fatal(err)
	}
	return model, prior
}

// BenchmarkEpoch is one iteration of SMC with SGHMC moves on the same: 10 particles, an epoch of batches of 500, and the weights by all
// images. The peak of one thread is measured between the iterations.
func BenchmarkEpoch(b *testing.B) {
	const particles, batch = 10, 500
	const forward = 2 * (6*25*28*28 + 16*150*10*10 + 400*120 + 120*84 + 84*10) // operations of an image without gradient
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			ctx, p := context.Background(), pool.New(threads)
			model, prior := lenet5(b, p)
			n := float64(model.Examples())
			sampler := &smc.Sampler{
				Model: model, Prior: prior, Path: smc.Schedule[smc.Full]{Iterations: 1 << 20}, Pool: p, Particles: particles,
				Move: mcmc.Epoch{Batch: batch, Step: 2e-5}, Weighting: smc.Bootstrap{Temperature: smc.Temperature{Both: n}},
			}
			st, err := sampler.Init(ctx)
			if err != nil {
				b.Fatal(err)
			}
			peak, spent := 0.0, time.Duration(0)
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				for float64(spent) <= .05*float64(b.Elapsed()) {
					start := time.Now()
					peak += lanes.PeakFMA(1 << 14)
					spent += time.Since(start)
				}
				b.StartTimer()
				if _, err := sampler.Step(ctx, st); err != nil {
					b.Fatal(err)
				}
			}
			rate := particles * float64(b.N) * ((n+batch)*model.Net().Flops() + n*forward) / b.Elapsed().Seconds()
			b.ReportMetric(rate/1e9, "gflops")
			b.ReportMetric(100*rate/(peak/spent.Seconds())/float64(threads), "%peak")
		})
	}
}
