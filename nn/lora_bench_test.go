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

// BenchmarkLowRankHead times the gradient of a head of 2,048 → 10 for many particles on one thread: its rank-8 update, and beside it the dense
// head. The arithmetic counts W x once for all particles. Times are the best of the calls, and so is the peak of the runs between them: others
// use the machine too.
func BenchmarkLowRankHead(b *testing.B) {
	const in, units, rank, examples = 2048, 10, 8, 256
	for _, layer := range []Layer{Dense{Units: units}, LoRA{Units: units, Rank: rank, Alpha: rank}} {
		for _, particles := range []int{10, 80} {
			b.Run(fmt.Sprintf("%s/J=%d", kind(layer), particles), func(b *testing.B) {
				net := mustNet(b, []int{in}, []Layer{layer}, Categorical{})
				r := rand.New(rand.NewPCG(1, 2))
				m, err := NewModel(net, testSet(net, examples, false, r), pool.New(1))
				if err != nil {
					b.Fatal(err)
				}
				theta := testTheta(net, particles, r)
				ll, grad := make([]float64, particles), make([]float64, len(theta))
				work := float64(particles) * net.Flops()
				if _, low := layer.(LoRA); low {
					work -= float64(particles-1) * 2 * in * units
				}
				best, peak := time.Hour, 0.
				for b.Loop() {
					start := time.Now()
					most := lanes.PeakFMA(1 << 12)
					peak = max(peak, most/time.Since(start).Seconds())
					start = time.Now()
					if err := m.LogLik(context.Background(), nil, theta, ll, grad); err != nil {
						b.Fatal(err)
					}
					best = min(best, time.Since(start))
				}
				flops := examples * work / best.Seconds()
				b.ReportMetric(best.Seconds()*1e3, "ms-at-best")
				b.ReportMetric(flops/1e9, "gflops")
				b.ReportMetric(100*flops/peak, "%peak")
			})
		}
	}
}
