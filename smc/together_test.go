package smc

import (
	"context"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/mcmc"
)

// What an Info says of each of several chains is counted here again, over steps of several iterations: the share that it accepted, how far it went
// in units of its length, and where it is. Chains are never stuck as a population is, and have no folds.
func TestChainsOfAnInfo(t *testing.T) {
	const chains, every = 4, 3
	var accepted [][]float64
	s := &Sampler{
		Model: density{2, func(theta, grad []float64) float64 {
			for i, x := range theta {
				if grad != nil {
					grad[i] = -x / 0.01
				}
			}
			return -(theta[0]*theta[0] + theta[1]*theta[1]) / 0.02
		}},
		Prior: normal{d: 2, sd: 1}, Path: Fixed{Epochs: 40}, Particles: chains, Seed: 3, Island: 5,
		Move: overheard{mcmc.HMC{Steps: 1}.ForChains(), func(out mcmc.Outcome) { accepted = append(accepted, append([]float64(nil), out.Probability...)) }},
	}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for !s.Done(st) {
		before := append([]float64(nil), st.Theta...)
		accepted = nil
		info, err := s.Steps(context.Background(), st, every)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Chains) != chains || info.Stuck || info.ESS != chains {
			t.Fatalf("%d chains, ESS %v: %+v", len(info.Chains), info.ESS, info)
		}
		mean, level := 0.0, 0.0
		for j, c := range info.Chains {
			share, moved, length := 0.0, 0.0, 0.0
			for _, a := range accepted {
				share += a[j] / float64(len(accepted))
			}
			for i := range 2 {
				x := st.Theta[2*j+i]
				moved, length = moved+(x-before[2*j+i])*(x-before[2*j+i]), length+x*x
			}
			for what, two := range map[string][2]float64{
				"acceptance": {float64(c.Acceptance), share}, "displacement": {float64(c.Displacement), math.Sqrt(moved / length)}, "log-likelihood": {float64(c.LogLikelihood), st.LL[j]},
			} {
				if !golden.Near(two[0], two[1], 1e-12, 1e-15) {
					t.Errorf("iteration %d, chain %d: %s %v, want %v", st.K, j, what, two[0], two[1])
				}
			}
			mean, level = mean+share/chains, level+st.LL[j]/chains
			one := info.Of(j)
			if one.Island != 5*chains+j || one.Acceptance != c.Acceptance || one.LogLikelihood != c.LogLikelihood || one.Displacement != c.Displacement ||
				one.Chains != nil || one.Gradients != info.Gradients/chains || one.Epochs != info.Epochs {
				t.Errorf("chain %d alone: %+v of %+v", j, one, info)
			}
		}
		if !golden.Near(float64(info.Acceptance), mean, 1e-12, 0) || !golden.Near(float64(info.LogLikelihood), level, 1e-12, 0) {
			t.Errorf("iteration %d: means %v and %v, want %v and %v", st.K, info.Acceptance, info.LogLikelihood, mean, level)
		}
	}
	for _, f := range st.Fold {
		if f != 0 {
			t.Errorf("folds %v of chains", st.Fold)
		}
	}
	alone := *s
	fresh := &Sampler{Model: alone.Model, Prior: alone.Prior, Path: alone.Path, Move: mcmc.HMC{Steps: 1}.ForChains(), Particles: 1}
	if st, err = fresh.Init(context.Background()); err != nil {
		t.Fatal(err)
	}
	if info, err := fresh.Step(context.Background(), st); err != nil || info.Chains != nil {
		t.Errorf("one chain has %v, %v", info.Chains, err)
	}
}

// A path to a cold posterior ends at 1/T, as a share of which its progress is counted, and has no evidence. Other paths lead to none.
func TestCooled(t *testing.T) {
	for _, path := range []Path{Tempering{ESS: 0.6}, Fixed{Epochs: 10}} {
		same, ok := Cooled(path, 1)
		if !ok || same != path {
			t.Errorf("%v at T = 1 is %v", path, same)
		}
		cold, ok := Cooled(path, 0.25)
		if !ok || !cold.Traits().Evidence.Cold || cold.Traits().Evidence.Sure() || path.Traits().Evidence.Cold {
			t.Errorf("%v at T = .25: %+v", path, cold.Traits())
		}
	}
	cold, _ := Cooled(Tempering{}, 0.25)
	for lambda, want := range map[float64]float64{0: 0, 1: 0.25, 3.9: 0.975, 4: 1} {
		st := &State{Stage: Stage{Lambda: lambda}}
		if got := cold.Progress(st); got != want || cold.Done(st) != (want == 1) {
			t.Errorf("at λ = %v the progress is %v, done %v", lambda, got, cold.Done(st))
		}
	}
	if stage, _ := (Fixed{Epochs: 1, Power: 4}).Start(1); stage.Lambda != 4 {
		t.Errorf("chains of a cold posterior begin at λ = %v", stage.Lambda)
	}
	if _, ok := Cooled(Ladder{Temperatures: []float64{1}}, 0.5); ok {
		t.Error("a ladder leads to a cold posterior")
	}
	for _, power := range []float64{-1, 0.5, math.NaN(), math.Inf(1)} {
		s := &Sampler{Model: density{1, nil}, Prior: normal{d: 1, sd: 1}, Path: Tempering{Power: power}, Move: mcmc.PCN{}, Particles: 4}
		if _, err := s.Init(context.Background()); err == nil {
			t.Errorf("a power of %v was taken", power)
		}
	}
}
