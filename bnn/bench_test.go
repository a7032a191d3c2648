package bnn

import (
	"testing"
)

// BenchmarkLogDensity is the prior's share of a gradient of the MNIST7 network.
func BenchmarkLogDensity(b *testing.B) {
	p, err := Isotropic(vector(6320), 0.1)
	if err != nil {
		b.Fatal(err)
	}
	theta, grad := make([]float64, p.Dim()), make([]float64, p.Dim())
	for b.Loop() {
		p.LogDensity(theta, grad)
	}
}
