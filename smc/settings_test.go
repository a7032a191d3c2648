package smc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

func TestSettingsAreRefusedWithReasons(t *testing.T) {
	nan := math.NaN()
	for want, change := range map[string]func(s *Sampler){
		"must be set":        func(s *Sampler) { s.Model = nil },
		"0 particles":        func(s *Sampler) { s.Particles = 0 },
		"prior of 2":         func(s *Sampler) { s.Prior = normal{d: 2, sd: 1} },
		"start of 5 numbers": func(s *Sampler) { s.Start = make([]float64, 5) },
		"epochs":             func(s *Sampler) { s.Path = Fixed{} },
		"temperatures.1: temperatures must increase: want a number above 0.5": func(s *Sampler) { s.Path = Ladder{[]float64{0.5, 0.5, 1}} },
		"temperatures.0: temperatures must increase: want a number above 0,":  func(s *Sampler) { s.Path = Ladder{[]float64{0, 1}} },
		"temperatures.2: temperatures must increase: want a number above 1":   func(s *Sampler) { s.Path = Ladder{[]float64{0.5, 1, nan}} },
		"temperatures: want 1 at the end":                                     func(s *Sampler) { s.Path = Ladder{[]float64{0.5}} },
		"want 1 at the end, as":                                               func(s *Sampler) { s.Path = Ladder{} },
		"at the end, as in":                                                   func(s *Sampler) { s.Path = Ladder{[]float64{0.5, 1.5}} },
		"path: ess: want":                                                     func(s *Sampler) { s.Path = Tempering{ESS: 1} },
		"of epochs, or with a number":                                         func(s *Sampler) { s.Keep = Spread{150} },
		"not a multiple":                                                      func(s *Sampler) { s.Path, s.Keep = Fixed{Epochs: 100}, Spread{151} },
		"has moves for":                                                       func(s *Sampler) { s.Path, s.Keep = Fixed{Epochs: 100}, Spread{1500} },
		"move: mutations: a fixed number of 3":                                func(s *Sampler) { s.Move = mcmc.HMC{Mutations: mcmc.Mutations{Count: 3, Eta: 0.1}} },
		"move: mutations: want below 4097, have 5000":                         func(s *Sampler) { s.Move = mcmc.PCN{Mutations: mcmc.Mutations{Count: 5000}} },
		"mutations.max: want at least 2, have 1":                              func(s *Sampler) { s.Move = mcmc.HMC{Mutations: mcmc.Mutations{Eta: 1, Max: 1}} },
		"island 16777216":                                                     func(s *Sampler) { s.Island = 1 << 24 },
		"resampling: when: want a number":                                     func(s *Sampler) { s.Resample.When = BelowRatio(nan) },
		"when: want a number above 0":                                         func(s *Sampler) { s.Resample.When = BelowRatio(0) },
		"move: steps: want at least 1, have -1":                               func(s *Sampler) { s.Move = mcmc.HMC{Steps: -1} },
		"set one of them":                                                     func(s *Sampler) { s.Move = mcmc.HMC{Step: 1, Start: 1} },
		"want one of them":                                                    func(s *Sampler) { s.Move = mcmc.HMC{Steps: 1, Length: 1} },
		"step: want a number above 0, at most 1":                              func(s *Sampler) { s.Move = mcmc.PCN{Step: 2} },
		"needs a Gaussian prior":                                              func(s *Sampler) { s.Move, s.Prior = mcmc.PCN{}, struct{ mcmc.Prior }{s.Prior} },
		"path: iterations: want at least 1, have 0":                           func(s *Sampler) { s.Path = Schedule[Constant]{} },
		"path: batch: want at least 1, have -2":                               func(s *Sampler) { s.Path = Schedule[Constant]{Iterations: 1, Rule: Constant{-2}} },
		"path: grow: want at least 1, have -3":                                func(s *Sampler) { s.Path = SDA{Iterations: 1, Grow: -3} },
		"grow: want at least 1, have -4":                                      func(s *Sampler) { s.Path = Schedule[Linear]{Iterations: 1, Rule: Linear{Grow: -4}} },
		"grow: want at least 1, have -5":                                      func(s *Sampler) { s.Path = Schedule[Automated]{Iterations: 1, Rule: Automated{Grow: -5}} },
		"batch: want at least 1, have -6":                                     func(s *Sampler) { s.Path = Schedule[ConstantToRefine]{Iterations: 1, Rule: ConstantToRefine{-6}} },
		"path: iterations: want at least 1, have -1":                          func(s *Sampler) { s.Path = SDA{Iterations: -1} },
		"path: first: want a number above 0, at most 1, have NaN":             func(s *Sampler) { s.Path = SDA{Iterations: 1, First: nan} },
		"entropy: want a number above 0, have -4":                             func(s *Sampler) { s.Path = TemperedStart{Then: SDA{Iterations: 1, Entropy: -4}} },
		"batch: want at least 1, have -7":                                     func(s *Sampler) { s.Path = TemperedStart{Then: Schedule[Constant]{Iterations: 1, Rule: Constant{-7}}} },
		"needs a path to lead to":                                             func(s *Sampler) { s.Path = TemperedStart{} },
		"no budget, which tempering would spend":                              func(s *Sampler) { s.Path = TemperedStart{Then: Fixed{Epochs: 9}} },
		"starts with a batch":                                                 func(s *Sampler) { s.Path = TemperedStart{Then: Tempering{}} },
		"0.5 of 2 particles":                                                  func(s *Sampler) { s.Particles = 2 },
		"0.25 of 4 particles":                                                 func(s *Sampler) { s.Path, s.Particles = &Tempering{ESS: 0.25}, 4 },
		"0.1 of 10 particles": func(s *Sampler) {
			s.Path, s.Particles = TemperedStart{ESS: 0.1, Then: Schedule[Full]{Iterations: 1}}, 10
		},
		"likelihood would never enter the weights": func(s *Sampler) {
			s.Path, s.Move, s.Weighting = TemperedStart{Then: Schedule[Full]{Iterations: 1}}, mcmc.Unadjusted{Step: 0.1}, Momentum{Literal: true}
		},
		"steps: want at least 1, have -2": func(s *Sampler) { s.Move = mcmc.Unadjusted{Step: 1, Steps: -2} },
		"move: needs a step":              func(s *Sampler) { s.Move = mcmc.Unadjusted{} },
		"auto and literal are for layers": func(s *Sampler) { s.Move = mcmc.Unadjusted{Step: mcmc.AutoStep} },
		"gradient.batch: want at least 1": func(s *Sampler) { s.Move = mcmc.Unadjusted{Step: 1, Gradient: &mcmc.MiniBatch{Batch: -2}} },
		"gradient: needs a batch":         func(s *Sampler) { s.Move = mcmc.Unadjusted{Step: 1, Gradient: &mcmc.MiniBatch{}} },
		"gradients of 8": func(s *Sampler) {
			s.Path, s.Move = SDA{Iterations: 5}, mcmc.Unadjusted{Step: 0.1, Gradient: &mcmc.MiniBatch{Batch: 8}}
		},
		"that anneals no examples in": func(s *Sampler) {
			s.Path, s.Move = TemperedStart{Then: SDA{Iterations: 5}}, mcmc.Unadjusted{Step: 0.1, Gradient: &mcmc.MiniBatch{Batch: 8}}
		},
		"leaves out the energy error":              func(s *Sampler) { s.Move, s.Weighting = mcmc.Unadjusted{Step: 0.1}, Reversal{} },
		"of rejected proposals":                    func(s *Sampler) { s.Weighting = Momentum{} },
		"weighting: momentum would also count the": func(s *Sampler) { s.Move, s.Weighting = &mcmc.PCN{}, &Momentum{} },
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
		"does not belong":      func(st *State) { st.Examples++ },
		"log-weights":          func(st *State) { st.LogW = st.LogW[1:] },
		"distinct for at most": func(st *State) { st.K = rng.MaxIterations },
		"the move needs":       func(st *State) { st.GradLL = nil },
		"annealed in":          func(st *State) { st.CarryAnnealed() },
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

// Without a weighting a sampler has the one that belongs to its move.
func TestWeightingFollowsTheMove(t *testing.T) {
	for name, kind := range kinds() {
		want, _ := run(t, kind(0))
		s := kind(0)
		if s.Weighting != nil && s.Weighting != Weigher(DefaultWeighting(s.Move)) {
			continue // nobody's default
		}
		s.Weighting = nil
		if got, _ := run(t, s); !slices.Equal(got.LogW, want.LogW) || got.LogZ != want.LogZ || !slices.Equal(got.Theta, want.Theta) {
			t.Errorf("%s: without a weighting log Z is %v, want %v", name, got.LogZ, want.LogZ)
		}
	}
}

// All faults of a path are told at once.
func TestEveryFaultOfAPathIsTold(t *testing.T) {
	for path, faults := range map[Targets]int{Schedule[Linear]{Rule: Linear{-1, -1}}: 3, SDA{Batch: -1, Grow: -1, First: 2, Entropy: -1}: 5} {
		s := kinds()["sda"](0)
		s.Path = path
		if _, err := s.Init(context.Background()); err == nil || strings.Count(err.Error(), "\n") != faults-1 {
			t.Errorf("%+v has %d faults: %v", path, faults, err)
		}
	}
}

// A start that no weight can mend stops the run and says where; a dead particle is counted.
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
			Prior: normal{d: 1, sd: 1}, Path: Ladder{[]float64{0.5, 1}}, Move: mcmc.HMC{Steps: 1, Step: 0.01}, Resample: Resampler{When: Never{}},
			Particles: 4, Start: []float64{0, 0, 9, 0},
		}
	}
	s := sick(math.Inf(1))
	if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), "particle 2 starts with log-likelihood +Inf") {
		t.Errorf("+Inf at the start gives %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
		s = sick(0)
		s.Prior = oddPrior{normal{d: 1, sd: 1}, bad}
		if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), "particle 2 starts with log-likelihood 0 and log-prior") {
			t.Errorf("a log-prior of %v at the start gives %v", bad, err)
		}
	}
	for _, bad := range []float64{math.Inf(-1), math.NaN()} {
		s = sick(bad)
		st, infos := run(t, &s)
		if infos[0].Dead != 1 || !golden.Near(st.LogZ, math.Log(0.75), 1e-12, 0) || !golden.Near(infos[1].ESS, 3, 1e-12, 0) {
			t.Errorf("one of four dead: %+v, log Z %v", infos[0], st.LogZ)
		}
		s = sick(bad)
		s.Start = []float64{9, 8, 7, 6}
		if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), "of all 4 particles is 0 or undefined (−Inf or NaN), first at θ = [9]") {
			t.Errorf("all dead gives %v", err)
		}
	}
	m := newLocation(1)
	s = Sampler{Model: m, Prior: m.problem().prior, Path: growing{len(m.y)}, Move: mcmc.HMC{}, Particles: 3, Island: 2}
	m.y[s.permutation(0)[17]] = math.NaN() // reached by the fourth stage of a path of data
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), st, nil); err == nil || !strings.Contains(err.Error(), "island 2, iteration 4: all 3 particles are dead") {
		t.Errorf("NaN on the way gives %v", err)
	}
}

// oddPrior is a normal prior that is bad above 5.
type oddPrior struct {
	normal
	bad float64
}

func (p oddPrior) LogDensity(theta, grad []float64) float64 {
	if l := p.normal.LogDensity(theta, grad); !(theta[0] > 5) {
		return l
	}
	return p.bad
}
