package uq

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// TestTops: means and variances are those of float64 sums over the particles; of particles that agree the variance is 0; NaN stays NaN.
func TestTops(t *testing.T) {
	const n, classes, particles = 40, 5, 30
	r := rng.Key{Seed: 41, Purpose: rng.Synthetic}.Stream()
	m := NewMixture(n, classes)
	m.WatchTops()
	var all [][]float64
	var weights []float64
	total := 0.0
	for range particles {
		probs := make([]float64, n*classes)
		for i := range n {
			sum := 0.0
			for c := range classes {
				probs[i*classes+c] = rng.Exp(2 * r.Normal())
				sum += probs[i*classes+c]
			}
			for c := range classes {
				probs[i*classes+c] /= sum
			}
		}
		w := r.Float64()
		m.Add(w, Probabilities(probs, classes))
		all, weights, total = append(all, probs), append(weights, w), total+w
	}
	got := m.Predictive().Tops
	for i := range n {
		var mean, square [2]float64
		value := func(j int) [2]float64 {
			p := slices.Sorted(slices.Values(all[j][i*classes : (i+1)*classes]))
			return [2]float64{p[classes-1], p[classes-1] - p[classes-2]}
		}
		for j, w := range weights {
			for k, v := range value(j) {
				mean[k] += w / total * v
			}
		}
		for j, w := range weights {
			for k, v := range value(j) {
				square[k] += w / total * (v - mean[k]) * (v - mean[k])
			}
		}
		for k, v := range [][2]float64{{got.MeanTop[i], mean[0]}, {got.MeanGap[i], mean[1]}, {got.VarTop[i], square[0]}, {got.VarGap[i], square[1]}} {
			if !(math.Abs(v[0]-v[1]) <= 1e-13) {
				t.Errorf("row %d, moment %d: %v, want %v", i, k, v[0], v[1])
			}
		}
	}

	same := NewMixture(2, 2)
	same.WatchTops()
	for _, w := range []float64{0.3, 0, 1.7, 0.123} {
		same.Add(w, Probabilities([]float64{0.1, 0.9, math.NaN(), 0.5}, 2))
	}
	p := same.Predictive()
	if x := p.Tops; x.MeanTop[0] != 0.9 || x.MeanGap[0] != 0.9-0.1 || x.VarTop[0] != 0 || x.VarGap[0] != 0 || !math.IsNaN(x.MeanTop[1]) || !math.IsNaN(x.VarGap[1]) {
		t.Errorf("of equal particles: %+v", x)
	}
	if x := p.Rows([]int{1, 0}).Tops; x.MeanTop[1] != 0.9 {
		t.Errorf("of some rows: %+v", x)
	}
	if NewMixture(2, 2).tops != nil {
		t.Error("moments are kept without being asked for")
	}
}

// TestStretch: the mean and the weights of a mixture stay, its standard deviation and its quantiles about the mean grow by the factor.
func TestStretch(t *testing.T) {
	n := &Normals{Weights: []float64{0.3, 0.7}, Mean: []float64{-1, 2}, SD: []float64{0.5, 1}}
	wide := &Normals{Weights: n.Weights, Mean: slices.Clone(n.Mean), SD: slices.Clone(n.SD)}
	wide.Stretch(1.7)
	m, a, e := n.Moments()
	m2, a2, e2 := wide.Moments()
	for _, v := range [][2]float64{{m2, m}, {a2, 1.7 * a}, {e2, 1.7 * e}} {
		if !(math.Abs(v[0]-v[1]) <= 1e-14) {
			t.Errorf("moment %v, want %v", v[0], v[1])
		}
	}
	for _, q := range []float64{0.05, 0.5, 0.9} {
		if got, want := wide.Quantile(q), m+1.7*(n.Quantile(q)-m); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}
