package mcmc

import (
	"context"
	"sync"
)

// Leapfrog follows Hamilton's equations for S steps of size h, all particles together (data-annealing-smc, eqs. 7–9):
//
//	P ← P + h/2 ∇log π(θ)
//	θ ← θ + h M⁻¹ P
//	P ← P + h/2 ∇log π(θ)
//
// with the two half kicks between steps taken as one. The map is reversible up to the sign of P and preserves volume,
// whatever gradient field is used, as long as it stays the same during the trajectory; so exact densities at both ends
// are all that acceptance and weights need. S = 1 is a Langevin step.
//
// Particles start at from, whose cached gradients are the first kick, and end in to, evaluated there; from is only
// read, and may be to. momentum, J×D, is advanced in place. mass is the diagonal of M, nil for the identity. It costs S
// gradients a particle.
func (t *Target) Leapfrog(ctx context.Context, from, to *Population, momentum, mass []float64, step float64, steps int) error {
	spare := sync.Pool{New: func() any { return &row{make([]float64, to.D)} }} // for gradients of the prior, one a thread
	at := from
	for s := range steps {
		part := 1.0
		if s == 0 {
			part = 0.5
		}
		to.each(t.Pool, func(j int) {
			momentum := to.row(momentum, j)
			t.kick(at, j, momentum, part*step, &spare)
			drift(at.row(at.Theta, j), to.row(to.Theta, j), momentum, mass, step)
		})
		if err := t.logLik(ctx, to); err != nil {
			return err
		}
		at = to
	}
	to.each(t.Pool, func(j int) { to.LP[j] = t.kick(to, j, to.row(momentum, j), 0.5*step, &spare) })
	return nil
}

// row is a row of a J×D matrix.
type row struct{ x []float64 }

// kick adds h ∇log π at particle j of p to its momentum, and returns the log-prior there. The gradient of the prior is
// not kept with the particles: it would take J×D numbers to save a thousandth of the work.
func (t *Target) kick(p *Population, j int, momentum []float64, h float64, spare *sync.Pool) (lp float64) {
	free := spare.Get().(*row)
	defer spare.Put(free)
	gradLP := free.x[:len(momentum)]
	lp = t.Prior.LogDensity(p.row(p.Theta, j), gradLP)
	p.kickSettled(j, momentum, h)
	gradLL := p.row(p.GradLL, j)[:len(momentum)]
	for i := range momentum {
		momentum[i] += float64(h * (float64(t.Lambda*gradLL[i]) + gradLP[i]))
	}
	return lp
}

// drift sets place to θ + h M⁻¹ P.
func drift(theta, place, momentum, mass []float64, h float64) {
	theta, place = theta[:len(momentum)], place[:len(momentum)]
	for i, p := range momentum {
		if mass != nil {
			p /= mass[i]
		}
		place[i] = theta[i] + float64(h*p)
	}
}

// kickSettled adds h times the gradient of the settled examples' log-likelihood, where there are any.
func (p *Population) kickSettled(j int, momentum []float64, h float64) {
	if p.SettledGrad == nil {
		return
	}
	for i, g := range p.row(p.SettledGrad, j) {
		momentum[i] += float64(h * g)
	}
}

// Kinetic returns P'M⁻¹P/2, for the diagonal of M, nil for the identity. It sums every fourth term on its own, so that
// additions need not wait for each other.
func Kinetic(momentum, mass []float64) float64 {
	var a [4]float64
	for i, p := range momentum {
		v := p
		if mass != nil {
			v /= mass[i]
		}
		a[i&3] += float64(p * v)
	}
	return float64(0.5 * (a[0] + a[1] + (a[2] + a[3])))
}
