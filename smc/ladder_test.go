package smc

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// The targets of a ladder are its temperatures, one an iteration, and its progress is the share of them.
func TestLadderHasItsTemperatures(t *testing.T) {
	want, m := []float64{0.02, 0.1, 0.4, 1}, newLocation(2)
	_, infos := run(t, &Sampler{Model: m, Prior: m.problem().prior, Path: Ladder{want}, Move: mcmc.HMC{Steps: 2, Step: 0.1}, Particles: 20, Seed: 5})
	var got, progress []float64
	for _, info := range infos {
		got, progress = append(got, info.Lambda), append(progress, info.Progress)
		done, all := (Ladder{want}).Work(info, 0.02, 41)
		if all != 4 || done != float64(info.K) {
			t.Errorf("iteration %d has done %v of %v", info.K, done, all)
		}
	}
	if !slices.Equal(got, want) || !slices.Equal(progress, []float64{0.25, 0.5, 0.75, 1}) {
		t.Errorf("the temperatures are %v, with progress %v, and not %v", got, progress, want)
	}
}
