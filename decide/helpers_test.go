package decide

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

func random(i int) *rng.Stream {
	return rng.Key{Seed: 39, Purpose: rng.Synthetic, Iteration: i}.Stream()
}

// sample draws n rows of probabilities over classes, and labels from them: the probabilities are right. Some rows are easy, some hard.
func sample(s *rng.Stream, n, classes int) (probs []float64, labels []int32) {
	for range n {
		p := make([]float64, classes)
		sum, scale := 0.0, 8*s.Float64()
		for c := range p {
			p[c] = rng.Exp(float64(scale * s.Float64()))
			sum += p[c]
		}
		u, y := s.Float64(), -1
		for c := range p {
			p[c] /= sum
			if u -= p[c]; u < 0 && y < 0 {
				y = c
			}
		}
		probs, labels = append(probs, p...), append(labels, int32(max(y, 0)))
	}
	return probs, labels
}

func uniforms(part, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = Uniform(7, part, i)
	}
	return u
}

func within(t *testing.T, what string, got, want, bound float64) {
	t.Helper()
	if !(math.Abs(got-want) <= bound) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, bound)
	}
}

// network is the prediction of one network.
func network(probs []float64, classes int) *uq.Predictive {
	m := uq.NewMixture(len(probs)/classes, classes)
	m.WatchTops()
	m.Add(1, uq.Probabilities(probs, classes))
	return m.Predictive()
}
