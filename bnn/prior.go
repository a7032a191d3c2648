package bnn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Normal is a prior of independent normal components θᵢ ~ N(mᵢ, vᵢ),
//
//	log p(θ) = −½ Σᵢ [(θᵢ−mᵢ)²/vᵢ + log(2π vᵢ)],
//
// made by Isotropic or FanIn; Anchored moves and shrinks it to a point. The likelihood's own parameters, such as a learned log σ (tensor
// log_sd), have the prior N(0, 1), whatever the variance of the network's.
type Normal struct {
	mean, variance, precision []float64 // precision is 1/variance
	constant                  float64   // −½ Σ log(2π vᵢ)
}

var _ mcmc.GaussianPrior = (*Normal)(nil)

// Isotropic is N(0, variance·I) over the parameters of a network's tensors.
func Isotropic(tensors []nn.Tensor, variance float64) (*Normal, error) {
	if !positive(variance) {
		return nil, fmt.Errorf("prior variance must be positive, is %v", variance)
	}
	return layered(tensors, func(nn.Tensor) float64 { return variance }), nil
}

// FanIn gives the weights and the bias of each layer mean 0 and variance gain/(number of inputs of one unit); a gain
// of 2 suits ReLU (He et al. 2015). Tensors of a normalisation have no such number, and the prior N(0, 1).
func FanIn(tensors []nn.Tensor, gain float64) (*Normal, error) {
	if !positive(gain) {
		return nil, fmt.Errorf("prior fan_in must be positive, is %v", gain)
	}
	return layered(tensors, func(t nn.Tensor) float64 {
		if t.FanIn > 0 {
			return gain / float64(t.FanIn)
		}
		return 1
	}), nil
}

// layered has a variance for each tensor of the network, and 1 for the likelihood's own.
func layered(tensors []nn.Tensor, variance func(nn.Tensor) float64) *Normal {
	var variances []float64
	for _, t := range tensors {
		v := 1.0
		if t.Kind != nn.Own {
			v = variance(t)
		}
		for range t.Size {
			variances = append(variances, v)
		}
	}
	return newNormal(make([]float64, len(variances)), variances)
}

func newNormal(mean, variance []float64) *Normal {
	p := &Normal{mean: mean, variance: variance, precision: make([]float64, len(mean))}
	half := 0.0
	for i, v := range variance {
		p.precision[i] = 1 / v
		if i == 0 || v != variance[i-1] { // runs of equal variances cost one logarithm
			half = 0.5 * rng.Log(2*math.Pi*v)
		}
		p.constant -= half
	}
	return p
}

// Anchored is the prior of scalable Bayesian Monte Carlo (Liang et al., eq. 2): with p = N(m, V),
//
//	N(α(s) θ + (1−α(s)) m, s V),    α(s) = 1 for s < ½, else 0,
//
// so that s = 1 is p itself, and s → 0 concentrates on theta, the MAP. Every component's variance is scaled, that of
// log_sd too. At s = 0 there is nothing to sample, and the caller must use the MAP as an ensemble of one. Anchored returns an
// error for s = 0, as for any s outside (0, 1]. theta has length Dim and is copied; for s ≥ ½ it is not used and may be nil.
func (p *Normal) Anchored(s float64, theta []float64) (*Normal, error) {
	if !(s > 0 && s <= 1) {
		return nil, fmt.Errorf("anchor s must lie in (0, 1], is %v; at s = 0 the posterior is the MAP alone", s)
	}
	mean, variance := append([]float64(nil), p.mean...), make([]float64, len(p.mean))
	if s < 0.5 {
		if len(theta) != len(mean) {
			panic(fmt.Sprintf("bnn: anchor of %d parameters for a prior of %d", len(theta), len(mean)))
		}
		copy(mean, theta)
	}
	for i, v := range p.variance {
		variance[i] = s * v
	}
	return newNormal(mean, variance), nil
}

// Dim is the number of components.
func (p *Normal) Dim() int { return len(p.mean) }

// Mean is the mean of component i.
func (p *Normal) Mean(i int) float64 { return p.mean[i] }

// SD is the standard deviation of component i.
func (p *Normal) SD(i int) float64 { return math.Sqrt(p.variance[i]) }

// Sample sets theta, of length Dim, to a draw.
func (p *Normal) Sample(s *rng.Stream, theta []float64) {
	s.Normals(theta[:len(p.mean)])
	for i, m := range p.mean {
		theta[i] = m + float64(math.Sqrt(p.variance[i])*theta[i])
	}
}

// LogDensity returns log p(theta) with its constants, in nats, and sets grad to its gradient unless that is nil.
func (p *Normal) LogDensity(theta, grad []float64) float64 {
	if len(theta) != len(p.mean) || grad != nil && len(grad) != len(p.mean) {
		panic(fmt.Sprintf("bnn: %d parameters and a gradient of %d for a prior of %d", len(theta), len(grad), len(p.mean)))
	}
	squares := lanes.NormalSquares(theta, p.mean, p.precision)
	if grad != nil {
		lanes.NormalGradient(theta, p.mean, p.precision, grad)
	}
	return p.constant - float64(0.5*squares)
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
