package smc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// overheard is a move whose outcomes are listened to.
type overheard struct {
	mcmc.Move
	hear func(mcmc.Outcome)
}

func (o overheard) Mutate(ctx context.Context, w *mcmc.Work, target *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	out, err := o.Move.Mutate(ctx, w, target, p, tuning, now)
	o.hear(out)
	return out, err
}

// What an iteration reports of its moves and of its resampling is counted here again.
func TestInfoCountsWhatHappened(t *testing.T) {
	var energies, probabilities []float64
	s := kinds()["tempering hmc"](0)
	s.Move = overheard{s.Move, func(out mcmc.Outcome) {
		energies = append(energies, out.Energy...)
		probabilities = append(probabilities, out.Probability...)
	}}
	mean := func(x []float64) (sum float64) {
		for _, v := range x {
			sum += v / float64(len(x))
		}
		return sum
	}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for ; !s.Done(st); steps++ {
		energies, probabilities = nil, nil
		info, err := s.Step(context.Background(), st)
		if err != nil {
			t.Fatal(err)
		}
		var square float64
		for _, e := range energies {
			square += (e - mean(energies)) * (e - mean(energies)) / float64(len(energies))
		}
		if sd := math.Sqrt(square); len(energies) != 3*150 || !near(info.EnergySD, sd, 1e-9, 0) {
			t.Errorf("iteration %d: standard deviation of %d energies %v, want %v", info.K, len(energies), info.EnergySD, sd)
		}
		if a := mean(probabilities); info.Mutations != 3 || !near(info.Acceptance, a, 1e-12, 0) {
			t.Errorf("iteration %d: acceptance %v over %d mutations, want %v over 3", info.K, info.Acceptance, info.Mutations, a)
		}
		parents := len(slices.Compact(slices.Sorted(slices.Values(s.ancestors))))
		roots := len(slices.Compact(slices.Sorted(slices.Values(st.Roots))))
		if info.Parents != parents || info.Ancestors != roots || parents == roots && info.K > 1 {
			t.Errorf("iteration %d: %d parents and %d first ancestors, counted %d and %d", info.K, info.Parents, info.Ancestors, parents, roots)
		}
	}
	if steps < 3 {
		t.Errorf("%d iterations show too little", steps)
	}
}

// The variance of the log-weights in closed form: particles at 1, 2, 3 and 4 whose log-likelihood is where they stand have
// λ² times the variance of these numbers, whatever resampling then does; one that dies does not count, and one alone has 0.
func TestLogWeightVariance(t *testing.T) {
	for _, c := range []struct {
		start        []float64
		until, want  float64
		dead, parent int
	}{
		{[]float64{1, 2, 3, 4}, 9, 0.3 * 0.3 * 5 / 4, 0, 0},
		{[]float64{1, 2, 4, 3}, 3.5, 0.3 * 0.3 * 2 / 3, 1, 0},
		{[]float64{8, 8, 2, 8}, 3.5, 0, 3, 1},
		{[]float64{1e5, 0, -1e5, 0}, 1e6, 0.3 * 0.3 * 1e10 / 2, 0, 0},
	} {
		model := density{1, func(theta, grad []float64) float64 {
			if grad != nil {
				grad[0] = 1
			}
			if theta[0] > c.until {
				return math.Inf(-1)
			}
			return theta[0]
		}}
		s := &Sampler{
			Model: model, Prior: normal{d: 1, sd: 1e6}, Path: Ladder{0.3, 1}, Move: mcmc.HMC{Step: 0.01}, Resample: Resampler{When: Always{}},
			Particles: len(c.start), Start: c.start, Seed: 1,
		}
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Step(context.Background(), st)
		if err != nil {
			t.Fatal(err)
		}
		if !near(float64(info.LogWeightVar), c.want, 1e-12, 1e-300) || info.Dead != c.dead || c.parent > 0 && info.Parents != c.parent {
			t.Errorf("%v: variance %v, %d dead, %d parents, want %v, %d, %d", c.start, info.LogWeightVar, info.Dead, info.Parents, c.want, c.dead, c.parent)
		}
	}
}
