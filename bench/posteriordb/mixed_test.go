package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bayes"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Ten chains of HMC in diagonal coordinates, whose budget is far too small, keep fewer states than an R-hat needs: the comparison says
// so. It says nothing against NUTS, which agrees with itself after some more moves.
func TestChainsThatDoNotMix(t *testing.T) {
	for _, c := range []struct {
		name string
		move mcmc.Move
		path smc.Fixed
		want string
	}{
		{"kidiq-kidscore_momiq", mcmc.HMC{Scale: mcmc.Diagonal}.ForChains(), smc.Trajectories(12, 80), "R-hat needs 8"},
		{"sblri-blr", mcmc.HMC{Scale: mcmc.Diagonal}.ForChains(), smc.Trajectories(12, 80), "R-hat needs 8"},
		{"sblri-blr", mcmc.NUTS{}, smc.Trajectories(150, 80), ""},
	} {
		p := posteriors[slices.IndexFunc(posteriors, func(p posterior) bool { return p.name == c.name })]
		got, err := p.compare(t.Context(), method{"chains", "chains", func(m *bayes.Model, _ int) *smc.Sampler {
			return &smc.Sampler{Model: m, Prior: m.Prior(), Particles: 1, Path: c.path, Keep: smc.Spread{States: 400}, Move: c.move}
		}}, options{seed: 1}, mcmc.NewPool(0))
		if err != nil {
			t.Fatal(err)
		}
		if (got.mixed == nil) != (c.want == "") || got.mixed != nil && !strings.Contains(got.mixed.Error(), c.want) {
			t.Errorf("%s by %v: %v, want %q", c.name, c.move, got.mixed, c.want)
		}
	}
}
