package main

import (
	"context"

	"github.com/starling-smc/starling/bayes"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// method is a way to sample with its default settings.
type method struct {
	name, title string
	sampler     func(m *bayes.Model, gradients int) *smc.Sampler // gradients: of a chain
}

var methods = []method{
	{"smc", "tempered SMC", func(m *bayes.Model, _ int) *smc.Sampler {
		return &smc.Sampler{
			Model: m, Prior: m.Prior(), Particles: 2400, Path: smc.Tempering{}, Move: mcmc.HMC{},
		}
	}},
	{"nuts", "NUTS", func(m *bayes.Model, gradients int) *smc.Sampler {
		return &smc.Sampler{
			Model: m, Prior: m.Prior(), Particles: 1, Path: smc.Fixed{Epochs: gradients}, Keep: smc.Spread{States: 1000}, Move: mcmc.NUTS{},
		}
	}},
	{"chains", "chains", func(m *bayes.Model, gradients int) *smc.Sampler {
		return &smc.Sampler{
			Model: m, Prior: m.Prior(), Particles: 1, Path: smc.Fixed{Epochs: gradients}, Keep: smc.Spread{States: 1000},
			Move: mcmc.HMC{}.ForChains(),
		}
	}},
}

// sample runs a sampler to its end, and counts proposals that diverged, of chains after their warm-up. Chains begin at a draw of the
// prior at which the likelihood is not 0.
func sample(ctx context.Context, s *smc.Sampler) (st *smc.State, diverged int, err error) {
	st, err = s.Init(ctx)
	for try := 1; err != nil && s.Particles == 1 && try < 100; try++ {
		s.Seed += 1 << 32
		st, err = s.Init(ctx)
	}
	if err == nil {
		err = s.Run(ctx, st, func(_ *smc.State, info smc.Info) error {
			if s.Particles > 1 || info.Progress > mcmc.WarmUp {
				diverged += info.Divergent
			}
			return nil
		})
	}
	return st, diverged, err
}
