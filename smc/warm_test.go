package smc

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// Tempering leads to the first target in steps that keep the share of the particles that it says, and the schedule
// then begins at its first batch.
func TestWarmGoesStepByStep(t *testing.T) {
	m := newLocation(2)
	path := Schedule{Rule: Constant, Iterations: 4, Batch: 7}
	first, _ := path.Start(len(m.y))
	s := &Sampler{
		Model: m, Prior: m.problem().prior, Path: Warm{Then: path}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.02},
		Weighting: Momentum{}, Particles: 400, Seed: 8,
	}
	st, infos := run(t, s)
	warmed, last := 0, 0.0
	for _, info := range infos {
		if !info.Warm {
			break
		}
		warmed++
		if !(info.Lambda > last && info.Lambda <= first.Lambda) || info.Examples != 7 {
			t.Fatalf("step %d: power %v after %v, of at most %v, on %d examples", warmed, info.Lambda, last, first.Lambda, info.Examples)
		}
		last = info.Lambda
	}
	if warmed < 3 || last != first.Lambda || len(infos) != warmed+4 || st.Warmed != warmed {
		t.Errorf("%d steps to power %v of %v, %d iterations in all", warmed, last, first.Lambda, len(infos))
	}
}

// One particle with nearly all the weight makes no step of tempering harmless: the living count alike.
func TestWarmLooksAtAllTheLiving(t *testing.T) {
	st := &State{LogW: []float64{-1e-9, -40, -50, math.Inf(-1)}, Examples: 41}
	st.Population = mcmc.NewPopulation(4, 1, false)
	copy(st.LL, []float64{-10, -30, -50, -1000})
	path := Warm{ESS: 0.5, Then: Schedule{Rule: Full, Iterations: 1}}
	stage, err := path.Next(st)
	if err != nil {
		t.Fatal(err)
	}
	third := math.Log(1. / 3)
	want, err := Tempering{ESS: 0.5}.next(0, 1, []float64{third, third, third, math.Inf(-1)}, st.LL)
	if err != nil {
		t.Fatal(err)
	}
	if !near(stage.Lambda, want, 1e-12, 0) || !(stage.Lambda < 0.2) {
		t.Errorf("the first step leads to power %v, want %v", stage.Lambda, want)
	}
}

// Of few that live, one alone is as effective as the share that a step is to leave: the step must leave more than that. The
// last of all is led to the end at once.
func TestWarmOfFew(t *testing.T) {
	for living, want := range map[int]float64{1: 1, 2: 1.5, 3: 1.5} {
		st := &State{LogW: slices.Repeat([]float64{math.Inf(-1)}, 10), Examples: 41}
		st.Population = mcmc.NewPopulation(10, 1, false)
		clear(st.LogW[:living])
		copy(st.LL, []float64{-10, -30, -50})
		stage, err := Warm{Then: Schedule{Rule: Full, Iterations: 1}}.Next(st)
		if err != nil {
			t.Fatal(err)
		}
		effective := make([]float64, living)
		for j := range effective {
			effective[j] = stage.Lambda * st.LL[j]
		}
		_, ess, err := Normalise(effective)
		if err != nil || !near(ess, want, 1e-6, 0) || (stage.Lambda == 1) != (living == 1) {
			t.Errorf("%d of 10 live: power %v leaves %v of them, want %v, error %v", living, stage.Lambda, ess, want, err)
		}
	}
}
