package bnn

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// DrawShared draws φ, the parameters that particles share, for a network that nobody has trained: weights from N(0, 1/fan_in)
// (LeCun et al., Efficient BackProp, 1998), biases 0, and the likelihood's own parameter, log σ, 0. Weights of outputs that are scales
// are 0 too (nn.Tensor.Zero).
func DrawShared(net *nn.Net, s *rng.Stream) []float64 {
	phi := make([]float64, net.Shared())
	for _, t := range net.Tensors() {
		if t.Role == nn.RoleRandom || t.Kind != nn.Weights {
			continue
		}
		weights, sd := phi[t.Offset:][:t.Size], 1/math.Sqrt(float64(t.FanIn))
		s.Normals(weights)
		for i := range weights {
			weights[i] *= sd
		}
		clear(weights[t.Size-t.Zero:])
	}
	return phi
}

// Whole is the prior of net.Whole() with which point estimates of whole networks are searched: the given one of θ, over
// net.Random(), and flat on φ, whose log-density is 0 everywhere. A draw has φ of DrawShared. If every tensor is random, it is the
// given prior. In place of a prior whose mode is no good network it takes the one that the prior names (Searched).
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
	copy(whole, p.net.Join(theta, DrawShared(p.net, s)))
}

// LogDensity is that of θ.
func (p wholePrior) LogDensity(whole, grad []float64) float64 {
	theta, phi := p.net.Split(whole)
	if grad == nil {
		return p.prior.LogDensity(theta, nil)
	}
	slope := make([]float64, len(theta))
	density := p.prior.LogDensity(theta, slope)
	clear(phi)
	copy(grad, p.net.Join(slope, phi))
	return density
}
