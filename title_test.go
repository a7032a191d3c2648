package starling

import (
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/smc"
)

// A title describes the method and, where anything is sampled, the anchor.
func TestTitle(t *testing.T) {
	islands := func(islands int, path smc.Path, move mcmc.Move) method.Method {
		return method.SMC{Islands: islands, Particles: 9, Path: path, Move: move}
	}
	chains := method.MCMC{Chains: 8, Epochs: 1600, Move: mcmc.HMC{Steps: 80}}
	anchored := func(s float64) bnn.PriorSettings { return bnn.PriorSettings{Anchor: &bnn.Anchor{S: s}} }
	search := &method.Search{}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Method: islands(1, smc.Tempering{}, mcmc.PCN{})}, "1 island of 9 particles by tempered SMC with pCN"},
		{Spec{Method: islands(2, smc.SDA{}, mcmc.Unadjusted{Steps: 3})},
			"2 islands of 9 particles by smooth data annealing with unadjusted HMC (3 leapfrogs)"},
		{Spec{Method: islands(2, smc.Schedule[smc.Full]{}, mcmc.Unadjusted{Steps: 1, Gradient: &mcmc.MiniBatch{Batch: 500}})},
			"2 islands of 9 particles by SMC on full batches with unadjusted Langevin dynamics by gradients of 500 examples"},
		{Spec{Method: method.SMC{Islands: 1, Particles: 9, Path: smc.SDA{}, Move: mcmc.HMC{}, Start: method.FromUntrained{By: bnn.JAX{}}}},
			"1 island of 9 particles by smooth data annealing with HMC, begun by jax"},
		{Spec{Method: method.SMC{Islands: 2, Particles: 9, Path: smc.SDA{}, Move: mcmc.HMC{}, Start: method.FromUntrained{By: bnn.Torch{}, Shared: true}}},
			"2 islands of 9 particles by smooth data annealing with HMC, begun by torch at one draw"},
		{Spec{Method: chains}, "8 chains of HMC (80 leapfrogs), 1,600 epochs each"},
		{Spec{Method: chains, MAP: search, Prior: anchored(0.1)},
			"8 chains of HMC (80 leapfrogs), 1,600 epochs each, anchored at the best MAP (s = 0.1)"},
		{Spec{Method: chains, Prior: anchored(0.1)},
			"8 chains of HMC (80 leapfrogs), 1,600 epochs each, anchored at the network of model.init (s = 0.1)"},
		{Spec{Method: chains, MAP: search, Prior: anchored(0.5)}, "8 chains of HMC (80 leapfrogs), 1,600 epochs each"},
		{Spec{Method: chains, MAP: search, Prior: anchored(0)}, "the best MAP alone (s = 0)"},
		{Spec{Method: chains, Prior: anchored(0)}, "the network of model.init alone (s = 0)"},
		{Spec{Method: method.AsIs{}}, "a trained network as it is"},
		{Spec{Method: method.MAP{}, MAP: search, Prior: anchored(0.1)}, "the best MAP alone"},
	} {
		if got := c.spec.Title(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
