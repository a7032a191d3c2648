package bnn

import (
	"math"
	"sort"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// spread is an ensemble of J networks whose weights have a standard deviation of 3, and whose particles count differently.
func spread(t *testing.T, j int) *Ensemble {
	t.Helper()
	net, err := nn.New([]int{4}, []nn.Layer{nn.Dense{Units: 3}, nn.Tanh, nn.Dense{Units: 1}}, nn.Gaussian{SD: nn.Learned})
	if err != nil {
		t.Fatal(err)
	}
	s := rng.Key{Seed: 8, Purpose: rng.Synthetic}.Stream()
	theta, logw := make([]float64, j*net.Dim()), make([]float64, j)
	s.Normals(theta)
	for i := range theta {
		theta[i] *= 3
	}
	s.Normals(logw)
	logw[j/2] = math.Inf(-1)
	e, err := Combine(net, []Island{{Theta: theta, LogWeights: logw}}, Equal{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Each tensor that learns its width has quantiles of 1/√τ: those of the prior are √(b/−ln p) where τ is exponential. Of draws of τ given
// the weighted particles the share below a quantile is its level: it is off by more than 5.6 standard deviations for one of the 3 × 4
// × 2 with probability 1e-6.
func TestWidths(t *testing.T) {
	const b, draws = 1.7, 100000
	for _, particles := range []int{7, 900} { // beyond 200, parts are joined
		e := spread(t, particles)
		got, err := LearnedPrior{Shape: 1, Rate: b}.Widths(e)
		if err != nil {
			t.Fatal(err)
		}
		tensors, upTo, total := e.Net.Tensors(), make([]float64, particles), 0.0
		for j, w := range e.LogWeights {
			total += math.Exp(w)
			upTo[j] = total
		}
		if len(got) != 4 {
			t.Fatalf("widths of %d tensors, want all but log_sd", len(got))
		}
		for k, w := range got {
			if w.Tensor != tensors[k].Name {
				t.Errorf("tensor %s, want %s", w.Tensor, tensors[k].Name)
			}
			levels := []float64{0.05, 0.5, 0.95}
			for i, q := range []uq.Number{w.Prior.At5, w.Prior.At50, w.Prior.At95} {
				if want := math.Sqrt(b / -math.Log(levels[i])); !golden.Near(float64(q), want, 2e-6, 0) {
					t.Errorf("the prior's quantile of %v is %v, want %v", levels[i], q, want)
				}
			}
			s := rng.Key{Seed: 2, Purpose: rng.Synthetic, Iteration: k}.Stream()
			var below [3]float64
			for range draws {
				j := sort.SearchFloat64s(upTo, total*(1-s.Float64()))
				square := 0.0
				for _, x := range e.Theta[j*e.Net.Dim()+tensors[k].Offset:][:tensors[k].Size] {
					square += float64(x) * float64(x)
				}
				sd := math.Sqrt((b + square/2) / math.Exp(s.LogOfGamma(1+float64(tensors[k].Size)/2)))
				for i, q := range []uq.Number{w.Posterior.At5, w.Posterior.At50, w.Posterior.At95} {
					if sd < float64(q) {
						below[i] += 1. / draws
					}
				}
			}
			for i, p := range levels {
				if !(math.Abs(below[i]-p) <= 5.6*math.Sqrt(p*(1-p)/draws)) {
					t.Errorf("%d particles, %s: %v of the draws are below the quantile of %v", particles, w.Tensor, below[i], p)
				}
			}
		}
		if short, err := (NormalPrior{Variance: LearnedVariance}).Widths(e); err != nil || len(short) != 4 {
			t.Errorf("variance: learned has %d widths (%v)", len(short), err)
		}
		if none, err := (NormalPrior{FanIn: 2}).Widths(e); err != nil || none != nil {
			t.Errorf("a normal prior has widths %v (%v)", none, err)
		}
	}
}

// A shape so small that most draws of 1/√τ are beyond any number has infinite quantiles, and no endless search.
func TestWidthsWithoutEnd(t *testing.T) {
	q := precisions{1e-4, []precision{{1, 1}}}.widths()
	if !math.IsInf(float64(q.At95), 1) {
		t.Errorf("quantiles %v", q)
	}
}
