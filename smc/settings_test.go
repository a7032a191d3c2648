package smc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

func TestSettingsAreRefusedWithReasons(t *testing.T) {
	nan := math.NaN()
	for want, change := range map[string]func(s *Sampler){
		"must be set":              func(s *Sampler) { s.Model = nil },
		"0 particles":              func(s *Sampler) { s.Particles = 0 },
		"prior of 2":               func(s *Sampler) { s.Prior = normal{d: 2, sd: 1} },
		"start of 5 numbers":       func(s *Sampler) { s.Start = make([]float64, 5) },
		"epochs":                   func(s *Sampler) { s.Path = Fixed{} },
		"not above":                func(s *Sampler) { s.Path = Ladder{0.5, 0.5, 1} },
		"not 1":                    func(s *Sampler) { s.Path = Ladder{0.5} },
		"tempering at ESS":         func(s *Sampler) { s.Path = Tempering{ESS: 1} },
		"only a Fixed path":        func(s *Sampler) { s.Keep = 150 },
		"not a multiple":           func(s *Sampler) { s.Path, s.Keep = Fixed{100}, 151 },
		"has moves for":            func(s *Sampler) { s.Path, s.Keep = Fixed{100}, 1500 },
		"exclude each other":       func(s *Sampler) { s.Mutations = Mutations{Count: 3, Eta: 0.1} },
		"streams can tell":         func(s *Sampler) { s.Mutations.Count = 5000 },
		"island 16777216":          func(s *Sampler) { s.Island = 1 << 24 },
		"unknown scheme":           func(s *Sampler) { s.Resample.Scheme = 9 },
		"ratio":                    func(s *Sampler) { s.Resample.Ratio = nan },
		"leapfrogs":                func(s *Sampler) { s.Move = mcmc.HMC{Steps: -1} },
		"set one of them":          func(s *Sampler) { s.Move = mcmc.HMC{Step: 1, Start: 1} },
		"phases end at":            func(s *Sampler) { s.Move = mcmc.HMC{Phases: mcmc.ChainPhases(3)[:2]} },
		"must lie between 0 and 1": func(s *Sampler) { s.Move = mcmc.PCN{Step: 2} },
		"not Gaussian":             func(s *Sampler) { s.Prior = struct{ mcmc.Prior }{s.Prior} },
		"needs a Gaussian prior":   func(s *Sampler) { s.Move, s.Prior = mcmc.PCN{}, struct{ mcmc.Prior }{s.Prior} },
		"unknown rule 5":           func(s *Sampler) { s.Path = Schedule{Rule: 5, Iterations: 1} },
		"1 iteration, have 0":      func(s *Sampler) { s.Path = Schedule{} },
		"first batch of at least 1 example, or 0 for the default, have -2": func(s *Sampler) { s.Path = Schedule{Iterations: 1, Batch: -2} },
		"by at least 1 example, or 0 for the default, have -3":             func(s *Sampler) { s.Path = SDA{Iterations: 1, Grow: -3} },
		"1 iteration, have -1":              func(s *Sampler) { s.Path = SDA{Iterations: -1} },
		"1, have NaN":                       func(s *Sampler) { s.Path = SDA{Iterations: 1, First: nan} },
		"nats an iteration, have -4":        func(s *Sampler) { s.Path = Warm{Then: SDA{Iterations: 1, Entropy: -4}} },
		"to no path":                        func(s *Sampler) { s.Path = Warm{} },
		"budget that tempering would spend": func(s *Sampler) { s.Path = Warm{Then: Fixed{Epochs: 9}} },
		"begins at the prior":               func(s *Sampler) { s.Path = Warm{Then: Ladder{1}} },
		"0.5 of 2 particles":                func(s *Sampler) { s.Particles = 2 },
		"0.25 of 4 particles":               func(s *Sampler) { s.Path, s.Particles = &Tempering{ESS: 0.25}, 4 },
		"0.1 of 10 particles": func(s *Sampler) {
			s.Path, s.Particles = Warm{ESS: 0.1, Then: Schedule{Iterations: 1}}, 10
		},
		"no likelihood would ever be weighed": func(s *Sampler) {
			s.Path, s.Move, s.Weighting = Warm{Then: Schedule{Iterations: 1}}, mcmc.Unadjusted{Step: 0.1}, Momentum{Literal: true}
		},
		"leapfrog a move, or 0 for 1, have -1": func(s *Sampler) { s.Move = mcmc.Unadjusted{Step: 1, Steps: -1} },
		"step size above 0, have 0":            func(s *Sampler) { s.Move = mcmc.Unadjusted{} },
		"those of the target, have -2":         func(s *Sampler) { s.Move = mcmc.Unadjusted{Step: 1, Batch: -2} },
		"gradients of 8": func(s *Sampler) {
			s.Path, s.Move = SDA{Iterations: 5}, mcmc.Unadjusted{Step: 0.1, Batch: 8}
		},
		"on which none settle": func(s *Sampler) {
			s.Path, s.Move = Warm{Then: SDA{Iterations: 5}}, mcmc.Unadjusted{Step: 0.1, Batch: 8}
		},
		"forgets the energy error": func(s *Sampler) { s.Move, s.Weighting = mcmc.Unadjusted{Step: 0.1}, Reversal{} },
		"that were rejected":       func(s *Sampler) { s.Weighting = Momentum{} },
		"with moves of accept":     func(s *Sampler) { s.Move, s.Weighting = &mcmc.PCN{}, &Momentum{} },
		"starts with": func(s *Sampler) {
			s.Start = make([]float64, 450)
			s.Start[7] = nan
		},
	} {
		s := kinds()["tempering hmc"](0)
		change(s)
		if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	s := kinds()["tempering hmc"](0)
	st, _ := run(t, s)
	if _, err := s.Step(context.Background(), st); err == nil || !strings.Contains(err.Error(), "end") {
		t.Errorf("a step beyond the end: %v", err)
	}
	for want, change := range map[string]func(st *State){
		"does not belong": func(st *State) { st.Examples++ },
		"log-weights":     func(st *State) { st.LogW = st.LogW[1:] },
		"need gradients":  func(st *State) { st.GradLL = nil },
		"examples settle": func(st *State) { st.LetSettle() },
	} {
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		change(st)
		if _, err := s.Step(context.Background(), st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// Who says nothing gets the weight that belongs to the move.
func TestWeightingFollowsTheMove(t *testing.T) {
	for name, kind := range kinds() {
		want, _ := run(t, kind(0))
		s := kind(0)
		s.Weighting = nil
		if got, _ := run(t, s); !slices.Equal(got.LogW, want.LogW) || got.LogZ != want.LogZ || !slices.Equal(got.Theta, want.Theta) {
			t.Errorf("%s: without a weighting log Z is %v, want %v", name, got.LogZ, want.LogZ)
		}
	}
}

// All faults of a path are told at once.
func TestEveryFaultOfAPathIsTold(t *testing.T) {
	for path, faults := range map[Path]int{Schedule{Rule: -1, Batch: -1, Grow: -1}: 4, SDA{Batch: -1, Grow: -1, First: 2, Entropy: -1}: 5} {
		s := kinds()["sda"](0)
		s.Path = path
		if _, err := s.Init(context.Background()); err == nil || strings.Count(err.Error(), "\n") != faults-1 {
			t.Errorf("%+v has %d faults: %v", path, faults, err)
		}
	}
}

// A NaN log-weight stops the run and names island, iteration and particle; a dead particle is counted.
func TestBadLikelihoods(t *testing.T) {
	sick := func(at float64) Sampler {
		return Sampler{
			Model: density{1, func(theta, grad []float64) float64 {
				if grad != nil {
					grad[0] = 0
				}
				if theta[0] > 5 {
					return at
				}
				return 0
			}},
			Prior: normal{d: 1, sd: 1}, Path: Ladder{0.5, 1}, Move: mcmc.HMC{Step: 0.01}, Resample: Resampler{When: Never},
			Particles: 4, Start: []float64{0, 0, 9, 0},
		}
	}
	s := sick(math.NaN())
	if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), "particle 2") {
		t.Errorf("NaN at the start gives %v", err)
	}
	s = sick(math.Inf(-1))
	st, infos := run(t, &s)
	if infos[1].Dead != 1 || !near(st.LogZ, math.Log(0.75), 1e-12, 0) || !near(infos[1].ESS, 3, 1e-12, 0) {
		t.Errorf("one of four dead: %+v, log Z %v", infos[1], st.LogZ)
	}
	s = sick(math.Inf(-1))
	s.Start = []float64{9, 9, 9, 9}
	if st, err := s.Init(context.Background()); err != nil {
		t.Error(err)
	} else if _, err := s.Step(context.Background(), st); err == nil || !strings.Contains(err.Error(), "all 4 particles are dead") {
		t.Errorf("all dead gives %v", err)
	}
	m := newLocation(1)
	s = Sampler{Model: m, Prior: m.problem().prior, Path: growing{len(m.y)}, Move: mcmc.HMC{}, Particles: 3, Island: 2}
	m.y[s.permutation(0)[17]] = math.NaN() // reached by the fourth stage of a path of data
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), st, nil); err == nil || !strings.Contains(err.Error(), "island 2, iteration 3: particle 0 has log-weight NaN") {
		t.Errorf("NaN on the way gives %v", err)
	}
}
