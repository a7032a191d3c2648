package method

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Where each island has an anchor, island p is around restart p: with a narrow prior every draw of it is nearer to that restart than to any
// other. There is no log evidence, although the islands are drawn from priors.
func TestAnIslandIsAtItsRestart(t *testing.T) {
	for name, m := range map[string]Method{
		"smc":             SMC{Particles: 6, Islands: 3, Move: mcmc.HMC{Steps: 2, Mutations: mcmc.Mutations{Count: 2}}},
		"batches":         SMC{Particles: 6, Islands: 3, Path: smc.Schedule[smc.Full]{Iterations: 3}, Start: FromPrior{}, Move: mcmc.HMC{Steps: 2}},
		"chains":          MCMC{Chains: 3, Start: "prior", Epochs: 100, Keep: 9, Move: mcmc.HMC{Steps: 2}},
		"chains together": MCMC{Chains: 6, Together: 2, Start: "prior", Epochs: 100, Keep: 12, Move: mcmc.HMC{Steps: 2}},
		"cold":            MCMC{Chains: 6, Together: 2, Start: "prior", Epochs: 100, Keep: 12, Move: mcmc.HMC{Steps: 2}, Temperature: 0.5},
	} {
		m = m.Settle(around(m), unheard())
		job := newJob(t, 2)
		job.About = bnn.PriorSettings{Family: bnn.NormalPrior{Variance: 0.5}, Anchor: &bnn.Anchor{S: 1e-4, Per: bnn.PerIsland}}
		job.Search = &Search{}
		job.Search.Complete(4, true, nil)
		job.Search.Epochs = 3
		way := Way(m, job.About, job.Search)
		out := do(t, job, way)
		d := job.Net.Dim()
		for j, island := range out.Posterior.Island {
			nearest, least := 0, math.Inf(1)
			for r := range slices.Collect(slices.Chunk(job.Points.Theta, d)) {
				far := 0.0
				for i, x := range job.Points.Theta[r*d : (r+1)*d] {
					far = max(far, math.Abs(x-float64(out.Posterior.Theta[j*d+i])))
				}
				if far < least {
					nearest, least = r, far
				}
			}
			if nearest != int(island) || !(least < 0.1) {
				t.Fatalf("%s: particle %d of island %d is %v from its nearest restart, %d", name, j, island, least, nearest)
			}
		}
		if s := way.Sampling(); s.Comparable || s.estimates() || m.Sampling().apart {
			t.Errorf("%s: evidences of priors that differ are compared: %+v", name, s)
		}
		for _, z := range out.Posterior.LogEvidence {
			if z != 0 {
				t.Errorf("%s: a log evidence of %v", name, z)
			}
		}
		if w := words(out.Findings); strings.Contains(w, "evidence") {
			t.Errorf("%s: %s", name, w)
		}
		var all int64
		if all = way.Sampling().priorBytes(3, int64(d)); all != int64(3*3*8*d) || m.Sampling().priorBytes(3, int64(d)) != 0 {
			t.Errorf("%s: priors of %d bytes", name, all)
		}
	}
}

// Islands with priors of their own have no common evidence, by which they could be weighted or to which a pilot would lead.
func TestBadApart(t *testing.T) {
	apart := around(SMC{})
	apart.Prior.Anchor = &bnn.Anchor{S: 0.1, Per: bnn.PerIsland}
	for _, c := range []struct {
		m    Method
		want string
	}{
		{SMC{Islands: 2, Combine: bnn.Evidence{}}, "each has a prior of its own: want combine: equal"},
		{SMC{Islands: 2, Pilot: true}, "islands with priors of their own have none in common: leave pilot out"},
	} {
		m := c.m.Settle(apart, unheard())
		if said := strings.Join(faults(func(f *config.Faults) { m.Settle(apart, f) }), "\n"); !strings.Contains(said, c.want) {
			t.Errorf("%+v: %q, want %s", c.m, said, c.want)
		}
	}
}
