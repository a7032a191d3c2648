package mcmc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// walk evaluates steps of a random walk in w.Proposal and sets their energy errors.
func (w *Work) walk(ctx context.Context, t *Target, p *Population, sd float64, key rng.Key) error {
	w.Fit(p)
	q := &w.Proposal
	key.Purpose = rng.Proposal
	p.each(t.Pool, func(j int) {
		k := key
		k.Particle = j
		to := q.row(q.Theta, j)
		k.Stream().Normals(to)
		for i, x := range p.row(p.Theta, j) {
			to[i] = x + float64(sd*to[i])
		}
	})
	if err := t.Evaluate(ctx, q); err != nil {
		return err
	}
	for j := range p.J {
		w.outcome.Energy[j] = t.LogDensity(p, j) - t.LogDensity(q, j)
	}
	return nil
}

func checkWalk(f *config.Faults, sd float64) {
	f.If(sd == 0, "sd", "needs a standard deviation, as in {sd: 0.1}")
	f.If(!(sd >= 0) || math.IsInf(sd, 0), "sd", "want a number above 0, have %.12g", sd)
}
