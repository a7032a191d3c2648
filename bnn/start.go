package bnn

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// DrawShared draws ψ, the learned parameters that particles share, for a network that nobody has trained: weights from N(0, 1/fan_in)
// (LeCun et al., Efficient BackProp, 1998), and the rest as untrained says.
func DrawShared(net *nn.Net, s *rng.Stream) []float64 {
	psi := make([]float64, net.Learned())
	for _, t := range net.Tensors() {
		if t.Role == nn.RoleLearned {
			untrained(t, 1, s, psi[t.Offset:][:t.Size])
		}
	}
	return psi
}

// untrained sets the values of a tensor of a network that nobody has trained: weights to draws of N(0, gain/fan_in), and all else to
// Neutral. Weights of outputs that are scales are 0, and so is B of a low-rank update (nn.Tensor.Zero).
func untrained(t nn.Tensor, gain float64, s *rng.Stream, values []float64) {
	if !t.Kind.Weighs() {
		neutral(t, values)
		return
	}
	normals(s, values, math.Sqrt(gain)/math.Sqrt(float64(t.FanIn)))
	clear(values[t.Size-t.Zero:])
}

// normals sets values to draws of N(0, sd²).
func normals(s *rng.Stream, values []float64, sd float64) {
	s.Normals(values)
	for i := range values {
		values[i] *= sd
	}
}

// neutral sets the values of a tensor to Neutral.
func neutral(t nn.Tensor, values []float64) {
	for i := range values {
		values[i] = Neutral(t.Kind)
	}
}

// Neutral is the value at which the components of a tensor start where they are not drawn: 1 for γ of a normalisation, 1e-4 for its ε, and
// 0 for all others, such as biases, β, τ, and the likelihood's own log σ.
func Neutral(k nn.Kind) float64 {
	switch k {
	case nn.Scales:
		return 1
	case nn.Epsilons:
		return 1e-4
	}
	return 0
}

// Whole is the prior of net.Whole() with which point estimates of whole networks are searched: the given one of θ, over
// net.Random(), and flat on all other parameters, where its log-density is 0 everywhere. A draw has those of a network that nobody has
// trained, as DrawShared. If every tensor is random, it is the given prior. In place of a prior whose mode is no good network it takes
// the one that the prior names (Searched).
func Whole(prior mcmc.Prior, net *nn.Net) mcmc.Prior {
	if p, ok := prior.(searcher); ok {
		prior = p.Searched()
	}
	if !net.Partly() {
		return prior
	}
	return wholePrior{prior, net}
}

type wholePrior struct {
	prior mcmc.Prior
	net   *nn.Net
}

// Dim is the number of all parameters.
func (p wholePrior) Dim() int { return p.net.Parameters() }

// Sample sets whole to a draw.
func (p wholePrior) Sample(s *rng.Stream, whole []float64) {
	theta := make([]float64, p.net.Dim())
	p.prior.Sample(s, theta)
	for t, part := range p.net.Places(whole) {
		if t.Role == nn.RoleRandom {
			copy(part, theta[t.Offset:])
		} else {
			untrained(t, 1, s, part)
		}
	}
}

// LogDensity is that of θ.
func (p wholePrior) LogDensity(whole, grad []float64) float64 {
	theta, _ := p.net.Split(whole)
	if grad == nil {
		return p.prior.LogDensity(theta, nil)
	}
	slope := make([]float64, len(theta))
	density := p.prior.LogDensity(theta, slope)
	clear(grad)
	for t, part := range p.net.Places(grad) {
		if t.Role == nn.RoleRandom {
			copy(part, slope[t.Offset:])
		}
	}
	return density
}
