package nn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
)

// BenchmarkLogLik times log-likelihood and gradient, θ in to float64 gradient out. gflops counts 2 × the multiply-adds
// of the forward pass, of the weight gradients and of the input gradients without the first layer's.
func BenchmarkLogLik(b *testing.B) {
	pima := mustNet(b, []int{9}, []Layer{Dense{Units: 1, NoBias: true}}, Bernoulli{})
	for _, c := range []struct {
		name      string
		net       *Net
		particles int
		examples  int // of the set
		batch     int // 0: all
		pixels    bool
	}{
		{"lenet5/full6000", mustNet(b, []int{1, 28, 28}, lenet5, Categorical{}), 1, 6000, 0, true},
		{"lenet5/batch500", mustNet(b, []int{1, 28, 28}, lenet5, Categorical{}), 10, 6000, 500, true},
		{"lenet5mean/full6000", mustNet(b, []int{1, 28, 28}, averaged(lenet5), Categorical{}), 1, 6000, 0, true},
		{"mnist7/1200", mustNet(b, []int{1, 28, 28}, mnist7, Categorical{}), 10, 1200, 0, true},
		{"mnist7/batch64", mustNet(b, []int{1, 28, 28}, mnist7, Categorical{}), 1, 1200, 64, true},
		{"resnet20/batch500", mustNet(b, []int{3, 32, 32}, ResNet20(10), Categorical{}), 1, 500, 0, true},
		{"resnet20projected/batch256", mustNet(b, []int{3, 32, 32}, projected(ResNet20(10)), Categorical{}), 1, 256, 0, false},
		{"odd/1003", odd(b), 10, 1003, 0, false},
		{"pima/768", pima, 1000, 768, 0, false},
	} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				m, err := NewModel(c.net, testSet(c.net, c.examples, c.pixels, r), pool.New(threads))
				if err != nil {
					b.Fatal(err)
				}
				theta := testTheta(c.net, c.particles, r)
				ll, grad := make([]float64, c.particles), make([]float64, len(theta))
				n := c.examples
				var rows []int32
				if c.batch > 0 {
					n = c.batch
					for range n {
						rows = append(rows, int32(r.IntN(c.examples)))
					}
				}
				var peakTime time.Duration
				peak := 0.0
				b.ResetTimer()
				for range b.N {
					// The clock of the machine drifts: the peak is measured between the calls, one thread, 5 % of the time.
					b.StopTimer()
					for float64(peakTime) <= .05*float64(b.Elapsed()) {
						start := time.Now()
						peak += lanes.PeakFMA(1 << 14)
						peakTime += time.Since(start)
					}
					b.StartTimer()
					if err := m.LogLik(context.Background(), rows, theta, ll, grad); err != nil {
						b.Fatal(err)
					}
				}
				work := float64(n * c.particles * b.N)
				b.ReportMetric(work*c.net.Flops()/b.Elapsed().Seconds()/1e9, "gflops")
				b.ReportMetric(100*work*c.net.Flops()/b.Elapsed().Seconds()/(peak/peakTime.Seconds())/float64(threads), "%peak")
				b.ReportMetric(work/b.Elapsed().Seconds(), "image-particles/s")
			})
		}
	}
}

// projected has a 1×1 convolution in the place of each pad, as the peers of bench/compare.py do.
func projected(layers []Layer) []Layer {
	layers, filters := slices.Clone(layers), 16
	for i, l := range layers {
		r, ok := l.(Residual)
		if ok && slices.Equal(r.Shortcut, []Layer{Pad{}}) {
			filters *= 2
			r.Shortcut = []Layer{Conv{Filters: filters, Kernel: [2]int{1, 1}, Stride: [2]int{2, 2}, NoBias: true}}
			layers[i] = r
		}
	}
	return layers
}

// averaged has mean pools where layers has maxima.
func averaged(layers []Layer) []Layer {
	layers = slices.Clone(layers)
	for i, l := range layers {
		if pool, ok := l.(MaxPool); ok {
			layers[i] = AvgPool(pool)
		}
	}
	return layers
}

// BenchmarkEpoch times an epoch of a descent of the mnist7 network: 1,200 examples in batches of 64, on one thread, without dropout
// and with dropout before its dense layer.
func BenchmarkEpoch(b *testing.B) {
	for _, rate := range []Dropout{0, 0.3, 0.5} {
		b.Run(fmt.Sprintf("dropout=%v", float64(rate)), func(b *testing.B) {
			net := mustNet(b, []int{1, 28, 28}, slices.Insert(slices.Clone(mnist7), 3, Layer(rate)), Categorical{})
			r := rand.New(rand.NewPCG(1, 2))
			m, err := NewModel(net, testSet(net, 1200, true, r), pool.New(1))
			if err != nil {
				b.Fatal(err)
			}
			theta, ll, grad := testTheta(net, 1, r), make([]float64, 1), make([]float64, net.dim)
			order := make([]int32, 1200)
			for i, p := range r.Perm(len(order)) {
				order[i] = int32(p)
			}
			best := time.Hour // of many: others use the machine too
			for epoch := 1; b.Loop(); epoch++ {
				start := time.Now()
				for batch := range data.Batches(order, 64) {
					if err := m.LogLikSeen(context.Background(), View{Epoch: epoch}, batch, theta, ll, grad); err != nil {
						b.Fatal(err)
					}
				}
				best = min(best, time.Since(start))
			}
			b.ReportMetric(best.Seconds()*1e3, "ms-at-best")
		})
	}
}
