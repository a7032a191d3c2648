package mcmc

import (
	"context"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// leapfrog follows Hamilton's equations for S steps of size h, all particles together (data-annealing-smc, eqs. 7–9):
//
//	p ← p + h/2 ∇log π(θ)
//	θ ← θ + h p
//	p ← p + h/2 ∇log π(θ)
//
// with the two half kicks between steps taken as one. The map is reversible up to the sign of p and preserves volume,
// whatever gradient field is used, as long as it stays the same during the trajectory; so acceptance and weights need exact
// densities at both ends only. S = 1 is a Langevin step.
//
// Particles start at from, whose cached gradients give the first kick, and end in to, which is evaluated. from is not
// changed, unless it is to. Their momenta, w.momentum, are advanced in place. in has the scale of the coordinates for each fold
// of particles, or one for all. It costs S gradients a particle.
func (w *Work) leapfrog(ctx context.Context, t *Target, from, to *Population, in scales, step float64, steps int) error {
	at := from
	for s := range steps {
		part := 1.0
		if s == 0 {
			part = 0.5
		}
		to.each(t.Pool, func(j int) {
			own := in.of(from, j)
			w.kick(t, at, j, own, part*step)
			own.drift(at.row(at.Theta, j), to.row(to.Theta, j), to.row(w.momentum, j), step)
		})
		if err := t.logLik(ctx, to); err != nil {
			return err
		}
		at = to
	}
	to.each(t.Pool, func(j int) { to.LP[j] = w.kick(t, to, j, in.of(from, j), 0.5*step) })
	return nil
}

// kick adds h Lᵀ∇log π at particle j of p to its momentum, and returns the log-prior there. The gradient of the prior is not
// cached: that would take J×D numbers and save a thousandth of the work.
func (w *Work) kick(t *Target, p *Population, j int, in scale, h float64) (lp float64) {
	spare := w.spare.Get().(*[]float64)
	defer w.spare.Put(spare)
	momentum := p.row(w.momentum, j)
	gradient := (*spare)[:len(momentum)]
	lp = t.Prior.LogDensity(p.row(p.Theta, j), gradient)
	if p.AnnealedGrad != nil {
		in.kick(momentum, p.row(p.AnnealedGrad, j), float64(h*t.Mu))
	}
	in.kickSum(momentum, t.Lambda, p.row(p.GradLL, j), gradient, h)
	return lp
}

// Kinetic returns p·p/2, the kinetic energy of a momentum, for unit mass.
func Kinetic(momentum []float64) float64 { return float64(0.5 * lanes.Squares(momentum)) }

// drawMomentum draws a new momentum for particle j of p from N(0, I), and records its kinetic energy. Moves have the purpose
// rng.Momentum, trials rng.Search, so that trials leave the momenta of moves as they are.
func (w *Work) drawMomentum(p *Population, j int, key rng.Key, purpose rng.Purpose) {
	key.Purpose, key.Particle = purpose, j
	momentum := p.row(w.momentum, j)
	key.Stream().Normals(momentum)
	w.kinetic[j] = Kinetic(momentum)
}
