package nn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// BenchmarkFirstLayer is a network for tables whose first layer is random, with one thread: what an iteration of guided SMC asks for,
// the log-likelihoods and gradients of θ for all particles and, in a call of its own as the weights come between, the sum of
// their gradients of ψ. bench/partly.py sets it beside PyTorch and JAX.
func BenchmarkFirstLayer(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, hidden := range []int{20, 450} {
		layers := []Layer{Dense{Units: 450}, GELU, Dense{Units: hidden}, GELU, Dense{Units: 1}}
		net, err := Random{FirstLayer}.Network([]int{8}, layers, Gaussian{SD: 1})
		if err != nil {
			b.Fatal(err)
		}
		m, err := NewModel(net, testSet(net, 1000, false, r), pool.New(1))
		if err != nil {
			b.Fatal(err)
		}
		shared := make([]float64, net.Learned())
		for i := range shared {
			shared[i] = 0.05 * r.NormFloat64()
		}
		m = m.At(shared)
		for _, particles := range []int{10, 100} {
			theta, ll := testTheta(net, particles, r), make([]float64, particles)
			grad, psi, weights := make([]float64, len(theta)), make([]float64, net.Learned()), slices.Repeat([]float64{1}, particles)
			for _, batch := range []int{100, 128} {
				rows := make([]int32, batch)
				for i := range rows {
					rows[i] = int32(r.IntN(1000))
				}
				name := fmt.Sprintf("hidden=%d/J=%d/batch=%d", hidden, particles, batch)
				b.Run(name+"/theta", func(b *testing.B) {
					for b.Loop() {
						if err := m.LogLik(context.Background(), rows, theta, ll, grad); err != nil {
							b.Fatal(err)
						}
					}
				})
				b.Run(name+"/psi", func(b *testing.B) {
					for b.Loop() {
						if err := m.LearnedGradient(context.Background(), rows, theta, weights, psi); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkLastLayer is LeNet-5 with a random last layer on 512 images, with one thread: the gradients of θ and of ψ for many
// particles, beside the gradient of one network of which all is random. The backbone runs once a tile for all particles.
func BenchmarkLastLayer(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	whole := mustNet(b, []int{1, 28, 28}, lenet5, Categorical{})
	last, err := Random{LastLayer}.Network([]int{1, 28, 28}, lenet5, Categorical{})
	if err != nil {
		b.Fatal(err)
	}
	set := testSet(whole, 512, true, r)
	for _, c := range []struct {
		name      string
		net       *Net
		particles int
	}{{"whole", whole, 1}, {"last", last, 1}, {"last", last, 100}, {"last", last, 1000}} {
		m, err := NewModel(c.net, set, pool.New(1))
		if err != nil {
			b.Fatal(err)
		}
		theta, ll := testTheta(c.net, c.particles, r), make([]float64, c.particles)
		grad, psi := make([]float64, len(theta)), make([]float64, c.net.Learned())
		weights := slices.Repeat([]float64{1 / float64(c.particles)}, c.particles)
		b.Run(fmt.Sprintf("%s/J=%d", c.name, c.particles), func(b *testing.B) {
			for b.Loop() {
				if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
		if c.net == last {
			b.Run(fmt.Sprintf("%s/J=%d/learned", c.name, c.particles), func(b *testing.B) {
				for b.Loop() {
					if err := m.LearnedGradient(context.Background(), nil, theta, weights, psi); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
