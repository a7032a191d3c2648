package mcmc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

// The search brackets the value of a falling acceptance and comes near its aim, wherever it starts, within its trials.
func TestSearch(t *testing.T) {
	never := func(float64) bool { return false }
	for _, aim := range []float64{0.25, 0.574, 0.75, 0.9} {
		for _, start := range []float64{-9, -2, 0, 3, 9} {
			calls := 0
			accepted := func(at float64) float64 { return 1 / (1 + math.Exp(3*at)) }
			best, err := search(start, aim, mostTrials, never, func(at float64) (float64, error) {
				calls++
				return accepted(at), nil
			})
			if err != nil || !(math.Abs(accepted(best)-aim) <= nearEnough) && math.Abs(start) < 5 {
				t.Errorf("aim %v from %v: %v with acceptance %v, %v", aim, start, best, accepted(best), err)
			}
			if calls > mostTrials {
				t.Errorf("%d trials", calls)
			}
		}
	}
	best, _ := search(0, 0.75, mostTrials, never, func(float64) (float64, error) { return 0, nil })
	if !(best < -10) {
		t.Errorf("where nothing is accepted the search ends at %v, not at its smallest value", best)
	}
	if best, _ = search(0.3, 0.75, 0, never, nil); best != 0.3 {
		t.Errorf("without trials the value is %v", best)
	}
}

// A step so small that trajectories end before their length is left for a larger one, however near the aim its acceptance is.
func TestSearchLeavesSmallSteps(t *testing.T) {
	accepted := func(at float64) float64 { return 1 / (1 + math.Exp(3*at)) }
	for _, least := range []float64{math.Inf(-1), -0.8} {
		best, err := search(-1, 0.9, mostTrials, func(at float64) bool { return at < least }, func(at float64) (float64, error) { return accepted(at), nil })
		if err != nil || best < least || !(math.Abs(accepted(best)-0.9) <= nearEnough) || math.IsInf(least, -1) && best != -1 {
			t.Errorf("small below %v: %v with acceptance %v, %v", least, best, accepted(best), err)
		}
	}
	m, now := HMC{Length: AutoLength}, at(1, 0)
	if m.cut(stageLength/mostInStage*1.01, now) || !m.cut(stageLength/mostInStage*0.99, now) || (HMC{Steps: 3}).cut(1e-9, now) {
		t.Error("the trajectories of a population have at most 64 leapfrogs")
	}
}

// Most cuts the trajectories that a rule makes long, of chains and of populations, and no other.
func TestMostCutsLongTrajectories(t *testing.T) {
	for _, now := range []StepContext{{Left: 5000, Progress: 0.6}, at(1, 0)} {
		m := HMC{Length: AutoLength, Most: 12}
		length, _ := m.trajectory(now)
		if s := m.leapfrogs(length/1e4, now); s != 12 || m.Traits().Evaluations() != 12 || !m.cut(length/13, now) || m.cut(length/11.5, now) {
			t.Errorf("%+v: %d leapfrogs, want 12", now, s)
		}
		if s := m.leapfrogs(length/6.5, now); s != 7 {
			t.Errorf("%+v: %d leapfrogs where the length has 7", now, s)
		}
	}
	for _, m := range []HMC{{Most: -1}, {Most: 12, Steps: 3}, {Most: 12, Length: 2}} {
		if err := config.Check(m); err == nil || !strings.Contains(err.Error(), "most: ") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// Begin finds a step whose first move is accepted near its aim, at targets whose widths are far from where the search starts,
// and leaves the particles as they are. The mean acceptance of 200 particles has a standard error below .03, of the 32 copies below .08, and
// the search ends within .1 of the aim: .25 is that and two of both.
func TestStepsArrive(t *testing.T) {
	for _, move := range []Move{
		HMC{Steps: 1}.ForPopulation(Mutations{}, false), HMC{Steps: 5, Scale: None}.ForPopulation(Mutations{}, false), HMC{}.ForPopulation(Mutations{}, false),
		PCN{}.ForPopulation(Mutations{}, false),
	} {
		for _, width := range []float64{1e-3, 0.03, 0.3} {
			m := pairs{slices.Repeat([]float64{width}, 6), 0.3}
			target := nearlyFlat(m)
			target.Prior = normal{make([]float64, 6), slices.Repeat([]float64{1}, 6)}
			p := NewPopulation(200, 6, move.Traits().Needs)
			m.draws(t, target, &p, 5)
			before := slices.Clone(p.Theta)
			tuning, err := move.Tuning(target, p.J)
			if err != nil {
				t.Fatal(err)
			}
			var w Work
			weights := slices.Repeat([]float64{1. / 200}, 200)
			trials, err := move.(Beginner).Begin(context.Background(), &w, target, &p, weights, tuning, at(3, 0))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before, p.Theta) || trials.Gradients+trials.Values == 0 {
				t.Errorf("%v: the particles have changed, or %+v", move, trials)
			}
			out, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(3, 0))
			if err != nil {
				t.Fatal(err)
			}
			aim := move.Traits().Aim
			if a := averageOf(out.Probability); !(a > aim-0.25 && a < min(1, aim+0.25)) {
				t.Errorf("%v, width %v: the first move has acceptance %v, aim %v", move, width, a, aim)
			}
		}
	}
}
