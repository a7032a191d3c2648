package bnn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// ScaleMixture is a prior whose widths are learned. Every tensor g of a layer, such as its weights, its biases, or γ of a normalisation, has
// a precision τ_g of its own:
//
//	τ_g ~ Gamma(a, b)          shape a, rate b: mean a/b
//	θ_i ~ N(0, 1/τ_g)          for the n_g components of the tensor, independently given τ_g
//
// The precisions are integrated out, so that the prior is one of θ alone, without a state:
//
//	log p(θ_g) = log Γ(a + n_g/2) − log Γ(a) + a log b − n_g/2 log 2π − (a + n_g/2) log(b + |θ_g|²/2)
//	∇ log p(θ_g) = −(a + n_g/2) θ_g / (b + |θ_g|²/2)
//
// which is a multivariate Student-t distribution of 2a degrees of freedom. Given θ the precision is Gamma(a + n_g/2, b + |θ_g|²/2):
// Precision. The likelihood's own parameters, such as a learned log σ (tensor log_sd), have the prior N(0, 1).
//
// A component has a variance, b/(a − 1), only for a above 1. The mode is θ = 0, and not a typical place: for many weights its density
// is so high that a descent on it would end at the zero network. Searched is the prior for descents.
type ScaleMixture struct {
	shape, rate float64
	tensors     []nn.Tensor
	constant    []float64 // of each tensor: what log p(θ_g) has beside its last term; 0 where the prior is N(0, 1)
	searched    *Normal
}

var _ mcmc.LocalPrior = (*ScaleMixture)(nil)

// NewScaleMixture makes the prior over the parameters of a network's tensors.
func NewScaleMixture(tensors []nn.Tensor, shape, rate float64) (*ScaleMixture, error) {
	if !positive(shape) || !positive(rate) {
		return nil, fmt.Errorf("prior learned: shape and rate must be positive, are %v and %v", shape, rate)
	}
	searched, err := FanIn(tensors, 2)
	if err != nil {
		return nil, err
	}
	p := &ScaleMixture{shape: shape, rate: rate, tensors: tensors, searched: searched}
	for _, t := range tensors {
		c := 0.0
		if t.Kind != nn.Own {
			half := float64(0.5 * float64(t.Size))
			c = rng.LogGamma(shape+half) - rng.LogGamma(shape) + float64(shape*rng.Log(rate)) - float64(half*rng.Log(2*math.Pi))
		}
		p.constant = append(p.constant, c)
	}
	return p, nil
}

// Dim is the number of components.
func (p *ScaleMixture) Dim() int { return p.searched.Dim() }

// searcher is a prior whose mode is no good network, so that point estimates are searched with another.
type searcher interface{ Searched() mcmc.Prior }

// Searched is the prior with which point estimates are searched: FanIn of 2.
func (p *ScaleMixture) Searched() mcmc.Prior { return p.searched }

// Sample sets theta, of length Dim, to a draw: of every tensor the precision, then its components.
func (p *ScaleMixture) Sample(s *rng.Stream, theta []float64) {
	for _, t := range p.tensors {
		sd := 1.0
		if t.Kind != nn.Own {
			sd = rng.Exp(float64(0.5 * (rng.Log(p.rate) - s.LogOfGamma(p.shape))))
		}
		part := theta[:t.Size]
		s.Normals(part)
		for i := range part {
			part[i] *= sd
		}
		theta = theta[t.Size:]
	}
}

// LogDensity returns log p(theta) with its constants, in nats, and sets grad to its gradient unless that is nil.
func (p *ScaleMixture) LogDensity(theta, grad []float64) float64 {
	if len(theta) != p.Dim() || grad != nil && len(grad) != p.Dim() {
		panic(fmt.Sprintf("bnn: %d parameters and a gradient of %d for a prior of %d", len(theta), len(grad), p.Dim()))
	}
	sum := 0.0
	for k, t := range p.tensors {
		part := theta[:t.Size]
		density, pull := p.tensor(k, squares(part))
		sum += density
		if grad != nil {
			for i, x := range part {
				grad[i] = -float64(pull * x)
			}
			grad = grad[t.Size:]
		}
		theta = theta[t.Size:]
	}
	return sum
}

// tensor returns log p(θ_g) of tensor k where |θ_g|² is given, and the factor of −θ_g in its gradient: the mean of the precision given
// θ_g.
func (p *ScaleMixture) tensor(k int, squares float64) (density, pull float64) {
	t := p.tensors[k]
	if t.Kind == nn.Own {
		return float64(-0.5*squares) - float64(0.5*float64(t.Size)*rng.Log(2*math.Pi)), 1
	}
	a, b := p.Precision(t.Size, squares)
	return p.constant[k] - float64(a*rng.Log(b)), a / b
}

// Precision returns shape and rate of the gamma distribution that the precision of a tensor has given its components: their number
// and |θ_g|². Without components it is the prior's.
func (p *ScaleMixture) Precision(components int, squares float64) (shape, rate float64) {
	return p.shape + float64(0.5*float64(components)), p.rate + float64(0.5*squares)
}

// SDs sets sd, of length Dim, to the standard deviation that each component has for the mean of its tensor's precision given theta.
func (p *ScaleMixture) SDs(theta, sd []float64) {
	for k, t := range p.tensors {
		_, mean := p.tensor(k, squares(theta[:t.Size]))
		for i := range t.Size {
			sd[i] = 1 / math.Sqrt(mean)
		}
		theta, sd = theta[t.Size:], sd[t.Size:]
	}
}

// squares is |θ|².
func squares(theta []float64) (sum float64) {
	for _, x := range theta {
		sum += float64(x * x)
	}
	return sum
}
