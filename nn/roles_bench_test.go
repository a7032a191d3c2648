package nn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

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
