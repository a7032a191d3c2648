package starling

import (
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// Here the names in a Spec become the parts of the sampler.

// samplers are the chains: islands of one particle on a fixed target, whose step is learnt in the first half and then
// stands.
func (m *MCMC) samplers() []*smc.Sampler {
	var move mcmc.Move
	if h := m.Move.HMC; h != nil {
		hmc := mcmc.HMC{Steps: h.Steps, Step: float64(h.Step), Accept: h.Accept, Jitter: *h.Jitter}
		switch {
		case hmc.Step == 0 && h.Steps > 1:
			hmc.Phases = mcmc.ChainPhases(h.Steps)
		case hmc.Step == 0:
			hmc.Phases = mcmc.HalfPhases(h.Steps)
		}
		move = hmc
	} else {
		p := m.Move.PCN
		move = mcmc.PCN{Step: float64(p.Step), Accept: p.Accept, Freeze: 0.5}
	}
	keep := 0
	if m.Keep != KeepLast {
		keep = int(m.Keep) / m.Chains
	}
	samplers := make([]*smc.Sampler, m.Chains)
	for c := range samplers {
		samplers[c] = &smc.Sampler{
			Path: smc.Fixed{Epochs: m.Epochs}, Move: move, Keep: keep,
			Resample: smc.Resampler{When: smc.Never}, Particles: 1,
		}
	}
	return samplers
}

// samplers are the islands.
func (m *SMC) samplers() []*smc.Sampler {
	var (
		move      mcmc.Move
		mutations Mutations
	)
	var weighting smc.Weighting = smc.Reversal{}
	switch {
	case m.Move.HMC != nil:
		h := m.Move.HMC
		move = mcmc.HMC{Steps: h.Steps, Step: float64(h.Step), Accept: h.Accept, Jitter: *h.Jitter}
		mutations = h.Mutations
	case m.Move.PCN != nil:
		p := m.Move.PCN
		move = mcmc.PCN{Step: float64(p.Step), Accept: p.Accept}
		mutations = p.Mutations
	default:
		l := m.Move.Leapfrog
		unadjusted := mcmc.Unadjusted{Steps: l.Steps, Step: l.Step}
		if l.Gradient != nil {
			unadjusted.Batch = l.Gradient.Batch
		}
		move, weighting = unadjusted, smc.Momentum{Literal: m.Weight == "literal"}
	}
	samplers := make([]*smc.Sampler, m.Islands)
	for i := range samplers {
		samplers[i] = &smc.Sampler{
			Path: m.path(), Move: move, Weighting: weighting,
			Mutations: smc.Mutations{Count: mutations.N, Eta: mutations.Eta, Max: mutations.Max},
			Resample:  m.Resample.resampler(), Particles: m.Particles,
		}
	}
	return samplers
}

func (m *SMC) path() (p smc.Path) {
	name, s := m.Path.schedule()
	switch name {
	case "":
		return smc.Tempering{ESS: m.Path.Tempering.ESS}
	case "sda":
		p = smc.SDA{Iterations: s.Iterations, Batch: s.Batch, Grow: s.Grow, Exact: s.Exact, Scale: s.Scale}
	default:
		rule, _ := smc.ParseRule(name) // the names of a Path; the sampler would refuse another
		p = smc.Schedule{Rule: rule, Iterations: s.Iterations, Batch: s.Batch, Grow: s.Grow}
	}
	if m.Start == "tempered" {
		return smc.Warm{Then: p}
	}
	return p
}

func (r Resample) resampler() smc.Resampler {
	schemes := map[string]smc.Scheme{}
	for _, s := range []smc.Scheme{smc.Multinomial, smc.Systematic, smc.Stratified, smc.Residual} {
		schemes[s.String()] = s
	}
	out := smc.Resampler{Scheme: schemes[r.Scheme], Ratio: r.When.ESS}
	switch r.When.Rule {
	case "always":
		out.When = smc.Always
	case "never":
		out.When = smc.Never
	}
	return out
}
