package rng

import "testing"

func BenchmarkNormals(b *testing.B) {
	x := make([]float64, 1000)
	s := Key{Purpose: Synthetic}.Stream()
	for b.Loop() {
		s.Normals(x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/normal")
}

func BenchmarkBernoulli(b *testing.B) {
	s := Key{Purpose: Synthetic}.Stream()
	for b.Loop() {
		for range 1000 {
			s.Bernoulli(0.3)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64*1000), "ns/bit")
}
