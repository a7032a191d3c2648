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
