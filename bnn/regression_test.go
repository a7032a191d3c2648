package bnn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// TestLogDensity against the sum written out: two particles that disagree, with noise of their own, and two outputs. A
// target far from both shows that nothing underflows.
func TestLogDensity(t *testing.T) {
	net := denseNet(t, 1, 2, nn.Gaussian{SD: nn.Learned})
	if net.Dim() != 3 {
		t.Fatalf("%d parameters", net.Dim())
	}
	theta := []float32{1, -1, 0 /* σ 1 */, 3, 2, -1 /* σ 1/e */}
	w := []float64{0.25, 0.75}
	e := &Ensemble{Net: net, Theta: theta, LogWeights: []float64{math.Log(w[0]), math.Log(w[1])}, Island: []int32{0, 0}, LogEvidence: []float64{0}}
	set := &data.Set{Name: "two", Shape: []int{1}, F32: []float32{1, 1, 1}, Values: []float32{1, -1, 2, 0.5, 500, 2}, Outputs: 2}
	got, err := e.LogDensity(t.Context(), set, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		terms := make([]float64, 2)
		for j, mu := range [][]float64{{1, -1}, {3, 2}} {
			sd := math.Exp(float64(-j))
			terms[j] = math.Log(w[j])
			for c := range 2 {
				z := (float64(set.Values[2*i+c]) - mu[c]) / sd
				terms[j] -= 0.5*z*z + math.Log(sd) + 0.5*math.Log(2*math.Pi)
			}
		}
		top := max(terms[0], terms[1])
		want := top + math.Log(math.Exp(terms[0]-top)+math.Exp(terms[1]-top))
		if !golden.Near(got[i], want, 1e-9, 1e-9) {
			t.Errorf("example %d: %v, want %v", i, got[i], want)
		}
	}
	set.Values = nil
	if _, err := e.LogDensity(t.Context(), set, pool.New(1)); err == nil || !strings.Contains(err.Error(), "0 target values") {
		t.Errorf("without targets: %v", err)
	}
}

// regression is an ensemble of a small network for two target values with learned or predicted noise, one of its particles
// dead, and a set of n examples with targets.
func regression(t *testing.T, sd float64, particles, n int) (*Ensemble, *data.Set) {
	t.Helper()
	units := 2
	if sd == nn.Predicted {
		units = 4
	}
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 5}, nn.Tanh, nn.Dense{Units: units}}, nn.Gaussian{SD: sd})
	if err != nil {
		t.Fatal(err)
	}
	s := rng.Key{Seed: 4, Purpose: rng.Synthetic}.Stream()
	islands := make([]Island, 2)
	for p := range islands {
		islands[p] = Island{Theta: make([]float64, particles/2*net.Dim()), LogWeights: make([]float64, particles/2), LogEvidence: float64(p)}
		s.Normals(islands[p].Theta)
		s.Normals(islands[p].LogWeights)
	}
	islands[0].LogWeights[1] = math.Inf(-1)
	set := &data.Set{Name: "random", Shape: []int{3}, F32: make([]float32, 3*n), Values: make([]float32, 2*n), Outputs: 2}
	for i := range set.F32 {
		set.F32[i] = float32(s.Normal())
	}
	for i := range set.Values {
		set.Values[i] = float32(s.Normal())
	}
	return combine(t, net, islands, Evidence{}), set
}

// The same bits for any number of threads, and for examples that are alone as for those among others, so that a file may
// be predicted block by block; 3,000 particles make several blocks of 1,000 examples.
func TestPredictRegressionSameBits(t *testing.T) {
	const particles, n = 3000, 1000
	for _, sd := range []float64{nn.Learned, nn.Predicted} {
		predictSameBits(t, sd, particles, n)
	}
}

func predictSameBits(t *testing.T, sd float64, particles, n int) {
	e, set := regression(t, sd, particles, n)
	if n*particles*2 <= held {
		t.Fatal("all examples are one block")
	}
	want, err := e.PredictRegression(t.Context(), set, nil, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 7} {
		got, err := e.PredictRegression(t.Context(), set, nil, pool.New(threads))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(*got) != fmt.Sprint(*want) {
			t.Errorf("%d threads: another prediction than with 1", threads)
		}
	}
	part := set.Slice("part", 137, 938)
	part.Values = nil // targets are not looked at
	got, err := e.PredictRegression(t.Context(), part, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string][2][]float64{
		"means": {got.Mean, want.Mean}, "noise": {got.Aleatoric, want.Aleatoric}, "spread": {got.Epistemic, want.Epistemic},
	} {
		if !slices.Equal(v[0], v[1][2*137:2*938]) {
			t.Errorf("%s of examples 137 to 937 differ when they are alone", name)
		}
	}
}

// EvaluateRegression against mixtures put together from the particles, each predicted on its own: under both ways to weigh
// islands, and with one particle alone.
func TestEvaluateRegressionBruteForce(t *testing.T) {
	for _, sd := range []float64{nn.Learned, nn.Predicted} {
		evaluateBruteForce(t, sd)
	}
}

func evaluateBruteForce(t *testing.T, sd float64) {
	e, set := regression(t, sd, 20, 30)
	equal, err := e.Weigh(Equal{})
	if err != nil {
		t.Fatal(err)
	}
	last := slices.Repeat([]float64{math.Inf(-1)}, e.Size())
	last[e.Size()-1] = 0
	weightings := [][]float64{e.LogWeights, equal, last}
	quantiles := []float64{0.05, 0.95}
	evaluated, err := e.EvaluateRegression(t.Context(), set, []data.Group{{Name: "same", Set: set}}, quantiles, weightings, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	for w, logWeights := range weightings {
		mixtures := make([]uq.Normals, 30*2)
		for j, l := range logWeights {
			one := &Ensemble{Net: e.Net, Theta: e.Theta[j*e.Net.Dim() : (j+1)*e.Net.Dim()], LogWeights: []float64{0}, Island: []int32{0}, LogEvidence: []float64{0}}
			v, err := one.PredictRegression(t.Context(), set, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range mixtures {
				m := &mixtures[i]
				m.Weights, m.Mean, m.SD = append(m.Weights, math.Exp(l)), append(m.Mean, v.Mean[i]), append(m.SD, v.Aleatoric[i])
			}
		}
		got := evaluated[w]
		if g := got.Groups[0]; !slices.Equal(g.Mean, got.Mean) || !slices.Equal(g.Epistemic, got.Epistemic) {
			t.Errorf("weighting %d: a group of the same examples is predicted otherwise", w)
		}
		for i := range 30 {
			y := []float64{float64(set.Values[2*i]), float64(set.Values[2*i+1])}
			wantNear(t, "log density", got.LogDensity[i:i+1], []float64{uq.LogDensities(mixtures[2*i:2*i+2], y)}, 1e-12, 1e-12)
			for c := range y {
				at := 2*i + c
				mean, aleatoric, epistemic := mixtures[at].Moments()
				wantNear(t, "scores",
					[]float64{got.Mean[at], got.Aleatoric[at], got.Epistemic[at], got.CRPS[at], got.PIT[at], got.Quantiles[2*at], got.Quantiles[2*at+1]},
					[]float64{mean, aleatoric, epistemic, mixtures[at].CRPS(y[c]), mixtures[at].CDF(y[c]), mixtures[at].Quantile(0.05), mixtures[at].Quantile(0.95)},
					1e-12, 1e-12)
			}
		}
	}
}
