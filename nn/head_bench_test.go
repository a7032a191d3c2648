package nn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
)

// BenchmarkHead is the log-likelihoods and gradients of the head of bench/peers/head.py, 768 → 2 on 25,000 rows. BenchmarkFeatures has the larger one.
func BenchmarkHead(b *testing.B) {
	for _, c := range []struct{ features, classes, rows, particles int }{{768, 2, 25000, 10}, {768, 2, 25000, 100}} {
		net, err := New([]int{c.features}, []Layer{Dense{Units: c.classes}}, Categorical{})
		if err != nil {
			b.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		m, err := NewModel(net, testSet(net, c.rows, false, r), pool.New(1))
		if err != nil {
			b.Fatal(err)
		}
		theta := testTheta(net, c.particles, r)
		ll, grad := make([]float64, c.particles), make([]float64, len(theta))
		b.Run(fmt.Sprintf("%d→%d,rows=%d,particles=%d", c.features, c.classes, c.rows, c.particles), func(b *testing.B) {
			for b.Loop() {
				if err := m.LogLik(b.Context(), nil, theta, ll, grad); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(net.Flops()*float64(c.rows*c.particles)*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
		})
	}
}
