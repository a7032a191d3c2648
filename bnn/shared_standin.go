package bnn

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// This file stands in for ensembles of partly random networks, until they are merged: delete it, Island.Shared and the first line
// of Combine.

// DrawShared draws φ: weights N(0, 1/fan_in), all else 0.
func DrawShared(net *nn.Net, s *rng.Stream) []float64 {
	var whole []float64
	for _, t := range net.Tensors() {
		for range t.Size {
			x := 0.0
			if t.Role != nn.RoleRandom && len(t.Shape) > 1 {
				x = s.Normal() / math.Sqrt(float64(t.FanIn))
			}
			whole = append(whole, x)
		}
	}
	_, phi := net.Split(whole)
	return phi
}

// Whole is the prior of θ, and flat on φ, over the parameters of net.Whole(). Sample draws φ as DrawShared does.
func Whole(prior mcmc.Prior, net *nn.Net) mcmc.Prior { return wholePrior{prior, net} }

type wholePrior struct {
	prior mcmc.Prior
	net   *nn.Net
}

func (p wholePrior) Dim() int { return p.net.Parameters() }

func (p wholePrior) Sample(s *rng.Stream, whole []float64) {
	theta := make([]float64, p.net.Dim())
	p.prior.Sample(s, theta)
	copy(whole, p.net.Join(theta, DrawShared(p.net, s)))
}

func (p wholePrior) LogDensity(whole, grad []float64) float64 {
	theta, phi := p.net.Split(whole)
	if grad == nil {
		return p.prior.LogDensity(theta, nil)
	}
	of := make([]float64, len(theta))
	density := p.prior.LogDensity(theta, of)
	clear(phi)
	copy(grad, p.net.Join(of, phi))
	return density
}

// joined makes whole networks of islands that share parameters.
func joined(net *nn.Net, islands []Island) (*nn.Net, []Island) {
	if !net.Partly() {
		return net, islands
	}
	var whole []Island
	for _, i := range islands {
		rows := len(i.Shared) / net.Shared()
		each := len(i.Theta) / rows
		one := Island{LogWeights: i.LogWeights, LogEvidence: i.LogEvidence}
		for at := 0; at < len(i.Theta); at += net.Dim() {
			row := at / each
			one.Theta = append(one.Theta, net.Join(i.Theta[at:at+net.Dim()], i.Shared[row*net.Shared():(row+1)*net.Shared()])...)
		}
		whole = append(whole, one)
	}
	return net.Whole(), whole
}
