package ssm

import (
	"fmt"
	"testing"
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
