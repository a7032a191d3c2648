package mcmc

import "context"

// Leapfrog follows Hamilton's equations for S steps of size h_j, all particles together (data-annealing-smc, eqs. 7–9):
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
func (t *Target) Leapfrog(ctx context.Context, from, to *Population, momentum, mass, step []float64, steps int) error {
	at := from
	for s := range steps {
		part := 1.0
		if s == 0 {
			part = 0.5
		}
		to.each(t.Pool, func(j int) {
			t.kick(at, j, to.row(momentum, j), part*step[j])
			drift(to.row(to.Theta, j), at.row(at.Theta, j), to.row(momentum, j), mass, step[j])
			to.LP[j] = t.Prior.LogDensity(to.row(to.Theta, j), to.row(to.GradLP, j))
		})
		if err := t.logLik(ctx, to); err != nil {
			return err
		}
		at = to
	}
	to.each(t.Pool, func(j int) { t.kick(to, j, to.row(momentum, j), 0.5*step[j]) })
	return nil
}

// kick adds h ∇log π at particle j of at to its momentum.
func (t *Target) kick(at *Population, j int, momentum []float64, h float64) {
	gradLL, gradLP := at.row(at.GradLL, j), at.row(at.GradLP, j)
	gradLL, gradLP = gradLL[:len(momentum)], gradLP[:len(momentum)]
	for i, p := range momentum {
		momentum[i] = p + float64(h*(float64(t.Lambda*gradLL[i])+gradLP[i]))
	}
}

// drift sets to = from + h M⁻¹ P.
func drift(to, from, momentum, mass []float64, h float64) {
	to, from = to[:len(momentum)], from[:len(momentum)]
	if mass == nil {
		for i, p := range momentum {
			to[i] = from[i] + float64(h*p)
		}
		return
	}
	for i, p := range momentum {
		to[i] = from[i] + float64(h*p)/mass[i]
	}
}

// Kinetic returns P'M⁻¹P/2, for the diagonal of M, nil for the identity.
func Kinetic(momentum, mass []float64) float64 {
	var a float64
	if mass == nil {
		for _, p := range momentum {
			a += float64(p * p)
		}
		return 0.5 * a
	}
	for i, p := range momentum {
		a += float64(p*p) / mass[i]
	}
	return 0.5 * a
}
