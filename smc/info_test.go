package smc

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
)

// overheard is a move whose outcomes are listened to.
type overheard struct {
	mcmc.Kernel
	hear func(mcmc.Outcome)
}

func (o overheard) Mutate(ctx context.Context, w *mcmc.Work, target *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	out, err := o.Kernel.Mutate(ctx, w, target, p, tuning, now)
	o.hear(out)
	return out, err
}

// What an iteration reports of its moves and of its resampling is counted here again.
func TestInfoCountsWhatHappened(t *testing.T) {
	var energies, probabilities []float64
	s := kinds()["tempering hmc"](0)
	s.Move = repeated{overheard{s.Move, func(out mcmc.Outcome) {
		energies = append(energies, out.Energy...)
		probabilities = append(probabilities, out.Probability...)
	}}, mcmc.Mutations{Count: 3}}
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
		if sd := math.Sqrt(square); len(energies) != 3*150 || !golden.Near(info.EnergySD, sd, 1e-9, 0) {
			t.Errorf("iteration %d: standard deviation of %d energies %v, want %v", info.K, len(energies), info.EnergySD, sd)
		}
		if a := mean(probabilities); info.Mutations != 3 || !golden.Near(float64(info.Acceptance), a, 1e-12, 0) {
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
			Model: model, Prior: normal{d: 1, sd: 1e6}, Path: Ladder{[]float64{0.3, 1}}, Move: mcmc.HMC{Steps: 1, Step: 0.01}, Resample: Resampler{When: Always{}},
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
		if !golden.Near(float64(info.LogWeightVar), c.want, 1e-12, 1e-300) || info.Dead != c.dead || c.parent > 0 && info.Parents != c.parent {
			t.Errorf("%v: variance %v, %d dead, %d parents, want %v, %d, %d", c.start, info.LogWeightVar, info.Dead, info.Parents, c.want, c.dead, c.parent)
		}
	}
}

// The mean log-likelihood is that of the particles alive: a dead one stands where it may be undefined.
func TestLogLikelihoodIsOfTheLiving(t *testing.T) {
	st := &State{Population: mcmc.NewPopulation(3, 1, mcmc.Needs{}), LogW: []float64{-1, math.Inf(-1), -2}}
	copy(st.LL, []float64{-4, math.NaN(), -7})
	if got := st.logLikelihood(); got != -5.5 {
		t.Errorf("mean log-likelihood %v, want -5.5", got)
	}
}

// An Info is a part of a trace line: its keys are those of the trace, numbers that are not finite are strings, and what the
// run writes itself is left out.
func TestInfoIsAPartOfATraceLine(t *testing.T) {
	raw, err := json.Marshal(Info{
		Island: 3, K: 9, Progress: 0.5, Epochs: 1.5, Examples: 12, Annealed: 5, Lambda: 0.25, ESS: 2.5, LogWeightVar: numeral.Number(math.Inf(1)),
		Dead: 1, Resampled: true, Ancestors: 4, Parents: 6, Mutations: 7, Acceptance: 0.75, Displacement: 1.25, Stuck: true, ScaleKept: true,
		Step: 0.125, Leapfrogs: 8, EnergySD: 3, Divergent: 2,
		LogZ: numeral.Number(math.Inf(-1)), LogLikelihood: numeral.Number(math.NaN()), Gradients: 10, Values: 11,
		LogZSD: known(0.75), LadderBias: known(-0.5),
	})
	want := `{"epochs":1.5,"examples":12,"annealed":5,"temperature":0.25,"ess":2.5,"log_weight_var":"Infinity","dead":1,"resampled":true,` +
		`"ancestors":4,"parents":6,"mutations":7,"acceptance":0.75,"displacement":1.25,"stuck":true,"scale_kept":true,"step":0.125,"leapfrogs":8,"energy_sd":3,"divergent":2,"log_evidence":"-Infinity",` +
		`"log_likelihood":"NaN","gradients":10,"values":11,"log_evidence_error":0.75,"ladder_bias":-0.5}`
	if err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
}
