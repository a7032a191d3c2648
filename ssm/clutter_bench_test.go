package ssm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/mcmc"
)

// crowd is clutter3 with the rates times a factor.
func crowd(factor float64) Clutter {
	m := clutter3(0)
	m.Returns.Rate *= factor
	m.Background.Rate *= factor
	return m
}

// BenchmarkClutterDecision is a decision of a random walk, one in four of them kept, by the number of returns. FLOP is the
// time of a term times the speed that lanes.PeakFMA reaches in the same run.
func BenchmarkClutterDecision(b *testing.B) {
	for _, factor := range []float64{0.1, 1, 2, 4, 10, 30, 118} {
		for _, evaluate := range []string{"near", "all"} {
			for _, threads := range []int{1, 2} {
				m := crowd(factor)
				m.Evaluate = evaluate
				x, values := sceneOf(b, m, 7)
				b.Run(fmt.Sprintf("%d/%s/%d", len(values)/2, evaluate, threads), func(b *testing.B) {
					l := bound(b, m, values)
					if threads > 1 {
						l.SetPool(mcmc.NewPool(threads))
					}
					l.Set(x)
					r := rand.New(rand.NewPCG(1, 1))
					const rounds = 64
					var proposals [rounds][]float64
					var blocks [rounds]Block
					for i := range proposals {
						proposals[i], blocks[i] = walk(r, m, x, false)
					}
					before, _ := l.Terms()
					n := 0
					best, peak := time.Hour, 0.0
					for b.Loop() {
						start := time.Now()
						for i, y := range proposals {
							l.Try(y, blocks[i])
							if i%4 == 0 {
								l.Keep()
								l.Try(x, blocks[i])
								l.Keep()
							}
						}
						best = min(best, time.Since(start))
						n += rounds + rounds/4
						start = time.Now()
						flops := lanes.PeakFMA(1 << 10)
						peak = max(peak, flops/time.Since(start).Seconds())
					}
					after, _ := l.Terms()
					terms := float64(after-before) / float64(n)
					decision := best.Seconds() / (rounds + rounds/4)
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(1e6*decision, "µs/decision")
					b.ReportMetric(terms, "terms/decision")
					b.ReportMetric(decision/terms*peak, "FLOP/term")
				})
			}
		}
	}
}

// BenchmarkClutterBind is the time to bind a scan, and the memory that its likelihood keeps, bytes a return.
func BenchmarkClutterBind(b *testing.B) {
	for _, factor := range []float64{1, 118} {
		m := crowd(factor)
		x, values := sceneOf(b, m, 7)
		b.Run(fmt.Sprint(len(values)/2), func(b *testing.B) {
			var l *clutterLikelihood
			for b.Loop() {
				l = bound(b, m, values)
			}
			b.ReportMetric(memoryOf(func() any {
				l := bound(b, m, values)
				l.Set(x)
				y := slices.Clone(x)
				for i := range y {
					y[i]++
				}
				l.Try(y, Block{0, m.Dim()})
				return l
			})/float64(l.Len()), "B/return")
		})
	}
}

// memoryOf is the memory that the result of f holds.
func memoryOf(f func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}
