package nn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// BenchmarkTabular times the gradient of networks for tables, 100 particles on one thread, at its best of many calls: others
// use the machine too. A batch that does not fill its last group of 16 examples pays for the whole group. gflops counts as in
// BenchmarkLogLik; the peak is the best of runs between the calls.
func BenchmarkTabular(b *testing.B) {
	const particles = 100
	for _, c := range []struct{ hidden, batch int }{
		{20, 50}, {20, 64}, {20, 100}, {20, 128}, {450, 50}, {450, 64}, {450, 100}, {450, 128},
	} {
		for _, f := range []Activation{GELU, ReLU} {
			b.Run(fmt.Sprintf("450-%d-1/batch=%d/%T", c.hidden, c.batch, f), func(b *testing.B) {
				net := mustNet(b, []int{8}, []Layer{Dense{Units: 450}, f, Dense{Units: c.hidden}, f, Dense{Units: 1}}, Gaussian{SD: 0.5})
				r := rand.New(rand.NewPCG(1, 2))
				m, err := NewModel(net, testSet(net, 1000, false, r), pool.New(1))
				if err != nil {
					b.Fatal(err)
				}
				theta := testTheta(net, particles, r)
				ll, grad := make([]float64, particles), make([]float64, len(theta))
				var rows []int32
				for range c.batch {
					rows = append(rows, int32(r.IntN(1000)))
				}
				best, peak := time.Hour, 0.
				for b.Loop() {
					start := time.Now()
					work := lanes.PeakFMA(1 << 12)
					peak = max(peak, work/time.Since(start).Seconds())
					start = time.Now()
					if err := m.LogLik(context.Background(), rows, theta, ll, grad); err != nil {
						b.Fatal(err)
					}
					best = min(best, time.Since(start))
				}
				flops := float64(c.batch*particles) * net.Flops() / best.Seconds()
				b.ReportMetric(best.Seconds()*1e3, "ms-at-best")
				b.ReportMetric(flops/1e9, "gflops")
				b.ReportMetric(100*flops/peak, "%peak")
			})
		}
	}
}
