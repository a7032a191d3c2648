package mcmc

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// A walk goes by its standard deviation in every coordinate, whatever the target, and tells what the target loses. Of 20,000 steps
// the mean and variance are within 5.3 standard deviations, which chance exceeds twice in 10⁷.
func TestWalk(t *testing.T) {
	const j, sd = 10000, 0.3
	target, p := svgdOf(j, 2)
	if err := target.Evaluate(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	before := p.Blank()
	before.Copy(&p)
	var w Work
	out, err := Walk{SD: sd}.Mutate(t.Context(), &w, target, &p, nil, at(3, 0))
	if err != nil {
		t.Fatal(err)
	}
	mean, square := 0.0, 0.0
	for i, x := range p.Theta {
		z := (x - before.Theta[i]) / sd
		mean, square = mean+z/(2*j), square+z*z/(2*j)
	}
	if !(math.Abs(mean) < 5.3/math.Sqrt(2*j)) || !(math.Abs(square-1) < 5.3*math.Sqrt(2/(2.*j))) {
		t.Errorf("steps of mean %v and variance %v, in units of the setting", mean, square)
	}
	for i, e := range out.Energy {
		want := target.LogDensity(&before, i) - target.LogDensity(&p, i)
		if e != want || !golden.Near(out.Probability[i], min(1, math.Exp(-e)), 1e-14, 0) {
			t.Fatalf("particle %d: energy %v, want %v, probability %v", i, e, want, out.Probability[i])
		}
	}
	if out.Divergent != 0 || out.Step != sd || out.Gradients[0] != 0 || out.Values[0] != 3 {
		t.Errorf("outcome %+v", out)
	}
}

// A walk to where the target is 0 or undefined leaves the particle where it was, with infinite energy.
func TestWalkOffTheTarget(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
		log := func(theta, grad []float64) float64 {
			grad[0] = 0
			if theta[0] > 0 && theta[0] != 1 {
				return bad
			}
			return 0
		}
		target := &Target{Model: &model{d: 1, log: log, factor: 1}, Prior: normal{[]float64{0}, []float64{10}}, Lambda: 1}
		p := NewPopulation(4, 1, Needs{})
		copy(p.Theta, []float64{1, -50, 1, -50})
		if err := target.Evaluate(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
		lp := slices.Clone(p.LP)
		var w Work
		out, err := Walk{SD: 0.01}.Mutate(t.Context(), &w, target, &p, nil, at(1, 0))
		if err != nil || out.Divergent != 2 {
			t.Errorf("%v: %d divergent, error %v", bad, out.Divergent, err)
		}
		for j := 0; j < 4; j += 2 {
			if !math.IsInf(out.Energy[j], 1) || p.Theta[j] != 1 || p.LL[j] != 0 || p.LP[j] != lp[j] || out.Probability[j] != 0 {
				t.Errorf("%v: particle %d is at %v with energy %v", bad, j, p.Theta[j], out.Energy[j])
			}
			if math.IsInf(out.Energy[j+1], 0) || p.Theta[j+1] == -50 {
				t.Errorf("%v: particle %d suffers from its neighbour", bad, j+1)
			}
		}
	}
}

// The momenta of SGHMC are scaled once. They last where targets change.
func TestSGHMCScalesMomentaOnce(t *testing.T) {
	target, p := svgdOf(2, 2)
	p.Momentum = []float64{1, 2, 3, 4}
	for k, want := range [][]float64{{5, 10, 15, 20}, {5, 10, 15, 20}} {
		if _, err := (SGHMC{Batch: 1, Step: 0.04}).Begin(t.Context(), nil, target, &p, nil, nil, at(1, k)); err != nil || !slices.Equal(p.Momentum, want) {
			t.Errorf("iteration %d: momenta %v, want %v, error %v", k, p.Momentum, want, err)
		}
	}
}
