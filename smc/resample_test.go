package smc

import (
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// Where nobody says when to resample, the path does: adaptive tempering always, also where ESS is not below J/2 to the last
// bit. A program's own path without an opinion resamples below half the particles.
func TestThePathSaysWhenToResample(t *testing.T) {
	for _, c := range []struct {
		path Targets
		want Occasion
	}{
		{Tempering{ESS: 0.9}, Always{}}, {&Tempering{}, Always{}}, {Fixed{Epochs: 1}, Never{}}, {SDA{}, BelowHalf},
		{TemperedStart{Then: Schedule[Full]{}}, BelowHalf}, {back{1}, BelowHalf}, {Ladder{[]float64{1}}, BelowHalf},
	} {
		if got := (Resampler{}).when(c.path, Reversal{}); got != c.want {
			t.Errorf("%T: %v, want %v", c.path, got, c.want)
		}
		if got := (Resampler{When: BelowRatio(0.3)}).when(c.path, Reversal{}); got != BelowRatio(0.3) {
			t.Errorf("%T: %v instead of what was set", c.path, got)
		}
	}
	s := &Sampler{Model: newTruncated(0), Prior: normal{d: 1, sd: 1}, Path: Tempering{ESS: 0.7}, Move: mcmc.HMC{Steps: 1, Step: 0.1}, Particles: 50}
	_, infos := run(t, s)
	for _, info := range infos {
		if !info.Resampled {
			t.Errorf("stage %d of tempering, ESS %v of 50: not resampled", info.K, info.ESS)
		}
	}
}
