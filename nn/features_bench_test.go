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

// BenchmarkFeatures times an epoch of gradients of a head 2,048 → 10 on 50,000 rows of features, in batches of 500 in a random order, for ten
// particles, at its best of many epochs: features of 32 and of 16 bits, in memory and in a file, as they are and standardised when they are
// loaded. gflops counts as in BenchmarkLogLik; the peak is the best of runs between the epochs, on one thread times the threads. The files are
// in memory by then, as those of a set that fits are.
func BenchmarkFeatures(b *testing.B) {
	const n, p, classes, particles, batch = 50_000, 2048, 10, 10, 500
	net := mustNet(b, []int{p}, []Layer{Dense{Units: classes}}, Categorical{})
	r := rand.New(rand.NewPCG(1, 2))
	single := &data.Set{Name: "features", Shape: []int{p}, F32: make([]float32, n*p), Labels: make([]int32, n), Classes: classes}
	halves := make([]data.Float16, n*p)
	for i := range halves {
		halves[i] = half(float64(r.Int32N(4096)-2048) / 1100)
		single.F32[i] = halves[i].Float32()
	}
	for i := range single.Labels {
		single.Labels[i] = r.Int32N(classes)
	}
	inHalves := *single
	inHalves.F32, inHalves.F16 = nil, halves
	singleFile, _ := written(b, single, nil)
	halfFile, _ := written(b, single, halves)
	standard := &data.Standard{Mean: slices.Repeat([]float64{.1}, p), SD: slices.Repeat([]float64{.7}, p), To: 1}
	theta := testTheta(net, particles, r)
	ll, grad := make([]float64, particles), make([]float64, len(theta))
	order := make([]int32, n)
	for i, row := range r.Perm(n) {
		order[i] = int32(row)
	}
	for _, c := range []struct {
		name     string
		set      *data.Set
		standard *data.Standard
	}{
		{"float32/memory", single, nil}, {"float32/file", singleFile, nil}, {"float32/file/standardised", singleFile, standard},
		{"float16/memory", &inHalves, nil}, {"float16/file", halfFile, nil}, {"float16/file/standardised", halfFile, standard},
	} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				set := *c.set
				if set.Inputs = c.standard; c.standard != nil && set.F32 != nil {
					b.Fatal("where the system maps no files, numbers of 32 bits are standardised before")
				}
				m, err := NewModel(net, &set, pool.New(threads))
				if err != nil {
					b.Fatal(err)
				}
				best, peak := time.Hour, 0.
				for b.Loop() {
					start := time.Now()
					work := lanes.PeakFMA(1 << 12)
					peak = max(peak, work/time.Since(start).Seconds())
					start = time.Now()
					for rows := range slices.Chunk(order, batch) {
						if err := m.LogLik(context.Background(), rows, theta, ll, grad); err != nil {
							b.Fatal(err)
						}
					}
					best = min(best, time.Since(start))
				}
				flops := float64(n*particles) * net.Flops() / best.Seconds()
				b.ReportMetric(best.Seconds()*1e3, "ms-at-best")
				b.ReportMetric(flops/1e9, "gflops")
				b.ReportMetric(100*flops/peak/float64(threads), "%peak")
			})
		}
	}
}
