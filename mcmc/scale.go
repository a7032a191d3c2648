package mcmc

import "github.com/starling-smc/starling/internal/lanes"

// scale is a linear change of variables, θ = L z. A Hamiltonian move sees the target in z, where momenta are N(0, I) and the
// coordinates are alike if L is chosen well:
//
//	p ← p + h/2 Lᵀ ∇log π(θ)
//	θ ← θ + h L p
//
// is the leapfrog in z, written for θ, so that a particle that stays keeps its bits. L is fixed during a move. Its determinant
// is a constant that cancels.
type scale struct {
	sd     []float64 // D, the diagonal of L, or of coordinates that a factor joins their standard deviations; nil: all 1
	factor []float64 // D×D, L itself, row-major, lower triangular; nil: L is diagonal
}

// diagonal makes the factor that of sd alone.
func (s scale) diagonal() {
	if s.factor == nil {
		return
	}
	clear(s.factor)
	for i, x := range s.sd {
		s.factor[i*len(s.sd)+i] = x
	}
}

// kick adds h Lᵀ g to the momentum.
func (s scale) kick(momentum, g []float64, h float64) {
	g = g[:len(momentum)]
	switch {
	case s.factor != nil:
		d := len(momentum)
		for k, v := range g { // row k of L, times g_k
			v = float64(h * v)
			for i, l := range s.factor[k*d : k*d+k+1] {
				momentum[i] += float64(l * v)
			}
		}
	case s.sd != nil:
		sd := s.sd[:len(momentum)]
		for i := range momentum {
			momentum[i] += float64(float64(h*sd[i]) * g[i])
		}
	default:
		lanes.AddScaled(momentum, momentum, h, g)
	}
}

// kickSum adds h Lᵀ (λ slope + prior) to the momentum. It may change prior.
func (s scale) kickSum(momentum []float64, lambda float64, slope, prior []float64, h float64) {
	if s.factor == nil && s.sd == nil { // one pass for two
		lanes.Kick(momentum, h, lambda, slope, prior)
		return
	}
	lanes.AddScaled(prior, prior, lambda, slope)
	s.kick(momentum, prior, h)
}

// drift sets place to θ + h L p.
func (s scale) drift(theta, place, momentum []float64, h float64) {
	theta, place = theta[:len(momentum)], place[:len(momentum)]
	switch {
	case s.factor != nil:
		d := len(momentum)
		for k := range momentum {
			var sum float64
			for i, l := range s.factor[k*d : k*d+k+1] {
				sum += float64(l * momentum[i])
			}
			place[k] = theta[k] + float64(h*sum)
		}
	case s.sd != nil:
		sd := s.sd[:len(momentum)]
		for i, p := range momentum {
			place[i] = theta[i] + float64(float64(h*sd[i])*p)
		}
	default:
		lanes.AddScaled(place, theta, h, momentum)
	}
}
