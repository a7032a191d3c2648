package ssm

import (
	"fmt"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// BenchmarkTerms: the time of one term of each model's likelihood.
func BenchmarkTerms(b *testing.B) {
	for _, c := range examples(8500) {
		b.Run(fmt.Sprintf("%T", c), func(b *testing.B) {
			scene := Scene{Model: c}
			x, scan, err := scene.Next()
			if err != nil {
				b.Fatal(err)
			}
			l, err := c.Bind(&scan)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				l.LogLik(x, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(l.Len()), "ns/term")
		})
	}
}

// BenchmarkTransitions: a draw and a density of each model's transition.
func BenchmarkTransitions(b *testing.B) {
	for _, m := range examples(1) {
		tr, err := m.Transition(Interval(m))
		if err != nil {
			b.Fatal(err)
		}
		from, x := make([]float64, m.Dim()), make([]float64, m.Dim())
		s := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream()
		b.Run(fmt.Sprintf("%T/Sample", m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tr.Sample(s, from, x)
			}
		})
		b.Run(fmt.Sprintf("%T/LogDensity", m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tr.LogDensity(from, x)
			}
		})
	}
}

// BenchmarkStudentCurvature is the search for a bound.
func BenchmarkStudentCurvature(b *testing.B) {
	m := examples(10)[2].(Student)
	l, err := m.Bind(&Scan{Width: 1, Values: []float64{1, 2}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l.(Scaled).ScaledCurvature(2, 0.25)
	}
}
