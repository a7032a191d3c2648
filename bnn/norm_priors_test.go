package bnn

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// normed are tensors of a convolution, of a normalisation with a threshold behind it, a learned log σ, and a learned ε: 18 + 3 + 3·3 + 1 + 1 values.
var normed = []nn.Tensor{
	{Name: "0.weight", Shape: []int{3, 6}, Size: 18, FanIn: 6, Kind: nn.Weights}, {Name: "0.bias", Shape: []int{3}, Offset: 18, Size: 3, FanIn: 6, Kind: nn.Biases},
	{Name: "1.weight", Shape: []int{3}, Offset: 21, Size: 3, Kind: nn.Scales}, {Name: "1.bias", Shape: []int{3}, Offset: 24, Size: 3, Kind: nn.Shifts},
	{Name: "1.tau", Shape: []int{3}, Offset: 27, Size: 3, Kind: nn.Shifts}, {Name: "log_sd", Shape: []int{1}, Offset: 30, Size: 1, Kind: nn.Own},
	{Name: "1.eps", Shape: []int{1}, Offset: 31, Size: 1, Kind: nn.Epsilons},
}

// In every family γ, β and τ have the prior that docs/parts.md says, and the likelihood's own parameter N(0, 1). The log-density at a point is the
// sum over components of that normal law, or the integral over each tensor's precision.
func TestPriorsOfNorms(t *testing.T) {
	theta := make([]float64, 32)
	rng.Key{Seed: 8, Purpose: rng.Synthetic}.Stream().Normals(theta)
	for name, c := range map[string]struct {
		family       NormalPrior
		weight, norm float64 // variances; 0: learned
	}{
		"variance": {NormalPrior{Variance: 0.2}, 0.2, 0.2},
		"decay":    {NormalPrior{Decay: 0.01}, 1 / (0.01 * 40), 1 / (0.01 * 40)},
		"fan_in":   {NormalPrior{FanIn: 2}, 2. / 6, 1},
		"learned":  {NormalPrior{Variance: LearnedVariance}, 0, 0},
	} {
		p, err := c.family.Prior(normed, 40)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for _, x := range normed {
			values, v := theta[x.Offset:][:x.Size], c.weight
			switch x.Kind {
			case nn.Scales, nn.Shifts, nn.Epsilons:
				v = c.norm
			case nn.Own:
				v = 1
			}
			if v == 0 {
				want += integrated(values, 1, 1)
				continue
			}
			for _, y := range values {
				want -= 0.5*y*y/v + 0.5*math.Log(2*math.Pi*v)
			}
		}
		if got := p.LogDensity(theta, nil); !golden.Near(got, want, 1e-10, 1e-10) {
			t.Errorf("%s: log-density %v, want %v", name, got, want)
		}
		normal, ok := p.(mcmc.GaussianPrior)
		if !ok {
			continue
		}
		// An anchored prior is s times as wide, in all of them, and around the estimate.
		at, err := (&Anchor{S: 0.1}).Apply(p, theta)
		if err != nil {
			t.Fatal(err)
		}
		for i := range theta {
			if q := at.(mcmc.GaussianPrior); q.Mean(i) != theta[i] || !golden.Near(q.SD(i), math.Sqrt(0.1)*normal.SD(i), 1e-14, 0) {
				t.Errorf("%s: anchored component %d is N(%v, %v²), want N(%v, .1·%v²)", name, i, q.Mean(i), q.SD(i), theta[i], normal.SD(i))
			}
		}
	}
}

// γ, β, τ and ε learn widths of their own, which are told, and log σ does not.
func TestWidthsOfNorms(t *testing.T) {
	p := mixture(t, normed, 1, 1)
	one := &Ensemble{Net: ofSize(t, 32), LogWeights: []float64{0}, Theta: make([]float32, 32)}
	for i := range one.Theta {
		one.Theta[i] = 0.01
	}
	widths, err := p.widths(one)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range widths {
		if names = append(names, w.Tensor); !(w.Posterior.At50 < w.Prior.At50) {
			t.Errorf("%s: small components leave the width at %v, the prior has %v", w.Tensor, w.Posterior.At50, w.Prior.At50)
		}
	}
	if len(names) != 6 || names[2] != "1.weight" || names[4] != "1.tau" {
		t.Errorf("widths of %v", names)
	}
	sd := make([]float64, 32)
	p.SDs(make([]float64, 32), sd)
	if want := 1 / math.Sqrt(1+1.5); !golden.Near(sd[21], want, 1e-14, 0) || !golden.Near(sd[29], want, 1e-14, 0) || sd[30] != 1 {
		t.Errorf("at 0 γ has the sd %v, τ %v, log σ %v: want %v, %[4]v and 1", sd[21], sd[29], sd[30], want)
	}
}

// ofSize is a network of so many parameters.
func ofSize(t *testing.T, d int) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{d}, []nn.Layer{nn.Dense{Units: 1, NoBias: true}}, nn.Bernoulli{})
	if err != nil {
		t.Fatal(err)
	}
	return net
}
