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

func (o overheard) Mutate(ctx context.Context, w *mcmc.Work, target *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.Moment) (mcmc.Outcome, error) {
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
		if sd := math.Sqrt(square); len(energies) != 3*150 || !near(info.EnergySpread, sd, 1e-9, 0) {
			t.Errorf("iteration %d: standard deviation of %d energies %v, want %v", info.K, len(energies), info.EnergySpread, sd)
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
