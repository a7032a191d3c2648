package smc

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// Tempering leads to the first target in steps that keep the share of the particles that it says, and the schedule
// then begins at its first batch.
func TestTemperedStartGoesStepByStep(t *testing.T) {
	m := newLocation(2)
	path := Schedule[Constant]{Iterations: 4, Rule: Constant{Batch: 7}}
	first, _ := path.Start(len(m.y))
	s := &Sampler{
		Model: m, Prior: m.problem().prior, Path: TemperedStart{Then: path}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.02},
		Weighting: Momentum{}, Particles: 400, Seed: 8,
	}
	st, infos := run(t, s)
	steps, last := 0, 0.0
	for _, info := range infos {
		steps++
		if !(info.Lambda > last && info.Lambda <= first.Lambda) || info.Examples != 7 {
			t.Fatalf("step %d: power %v after %v, of at most %v, on %d examples", steps, info.Lambda, last, first.Lambda, info.Examples)
		}
		if info.Progress != 0 {
			t.Fatalf("step %d: progress %v on the way to the first target", steps, info.Progress)
		}
		if last = info.Lambda; last == first.Lambda {
			break
		}
	}
	if steps < 3 || last != first.Lambda || len(infos) != steps+4 || !slices.Equal(st.Memory, []int{steps}) {
		t.Errorf("%d steps to power %v of %v, %d iterations in all, the path remembers %v", steps, last, first.Lambda, len(infos), st.Memory)
	}
	if info := infos[steps]; info.Progress != 0.25 {
		t.Errorf("after the first iteration on the other path the progress is %v", info.Progress)
	}
}

// One particle with nearly all the weight makes no step of tempering harmless: a step is chosen with equal weights for the particles alive.
func TestTemperedStartLooksAtAllTheLiving(t *testing.T) {
	st := &State{LogW: []float64{-1e-9, -40, -50, math.Inf(-1)}, Examples: 41}
	st.Population = mcmc.NewPopulation(4, 1, mcmc.Needs{})
	copy(st.LL, []float64{-10, -30, -50, -1000})
	path := TemperedStart{ESS: 0.5, Then: Schedule[Full]{Iterations: 1}}
	stage, err := path.Next(st)
	if err != nil {
		t.Fatal(err)
	}
	third := math.Log(1. / 3)
	want, err := Tempering{ESS: 0.5}.next(0, 1, []float64{third, third, third, math.Inf(-1)}, st.LL)
	if err != nil {
		t.Fatal(err)
	}
	if !golden.Near(stage.Lambda, want, 1e-12, 0) || !(stage.Lambda < 0.2) {
		t.Errorf("the first step leads to power %v, want %v", stage.Lambda, want)
	}
}

// Of few that live, one alone is as effective as the share that a step is to leave: the step must leave more than that. The
// last of all is led to the end at once.
func TestTemperedStartOfFew(t *testing.T) {
	for living, want := range map[int]float64{1: 1, 2: 1.5, 3: 1.5} {
		st := &State{LogW: slices.Repeat([]float64{math.Inf(-1)}, 10), Examples: 41}
		st.Population = mcmc.NewPopulation(10, 1, mcmc.Needs{})
		clear(st.LogW[:living])
		copy(st.LL, []float64{-10, -30, -50})
		stage, err := TemperedStart{Then: Schedule[Full]{Iterations: 1}}.Next(st)
		if err != nil {
			t.Fatal(err)
		}
		effective := make([]float64, living)
		for j := range effective {
			effective[j] = stage.Lambda * st.LL[j]
		}
		_, ess, err := weights.Normalise(effective, "particle")
		if err != nil || !golden.Near(ess, want, 1e-6, 0) || (stage.Lambda == 1) != (living == 1) {
			t.Errorf("%d of 10 live: power %v leaves %v of them, want %v, error %v", living, stage.Lambda, ess, want, err)
		}
	}
}

// counting is a path that remembers in which iterations it was asked for a target.
type counting struct{ Schedule[Full] }

func (c counting) Remember(st *State) []int {
	if st.K == 0 {
		return nil
	}
	return append(slices.Clone(st.Memory), st.K)
}

// What the other path remembers is kept behind what the tempered start does, counted in the other path's iterations.
func TestTemperedStartKeepsWhatTheOtherPathRemembers(t *testing.T) {
	m := newLocation(2)
	st, infos := run(t, &Sampler{
		Model: m, Prior: m.problem().prior, Path: TemperedStart{Then: counting{Schedule[Full]{Iterations: 3}}},
		Move: mcmc.Unadjusted{Steps: 3, Step: 0.02}, Particles: 60, Seed: 8,
	})
	if want := []int{len(infos) - 3, 1, 2, 3}; !slices.Equal(st.Memory, want) {
		t.Errorf("after %d iterations the paths remember %v, want %v", len(infos), st.Memory, want)
	}
}

// A tempered start answers as the path behind it, except for the iterations that lead there. No other path has such iterations.
func TestTemperedStartAnswersAsThePathBehindIt(t *testing.T) {
	for name, path := range batches(t, 12) {
		p := TemperedStart{Then: path}
		got, want := p.Traits(), path.Traits()
		if !got.Prepares || want.Prepares {
			t.Errorf("%s: whether iterations prepare", name)
		}
		want.Batches, want.Prepares, want.Share, want.Caption = true, true, 0.5, got.Caption
		if p.String() != path.String() || got != want {
			t.Errorf("%s: %v, %+v", name, p, got)
		}
		if scaled := strings.Contains(got.Captioned(), "once tempering has reached"); scaled != want.Evidence.Scaled || !scaled && got.Captioned() != path.Traits().Captioned() {
			t.Errorf("%s: %s", name, got.Captioned())
		}
	}
}
