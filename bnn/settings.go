package bnn

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// PriorSettings describe the prior of a network's parameters in a config: {normal: {variance: 0.1}, anchor: {s: 0.1}}. The
// zero value is no prior, for methods that need none.
type PriorSettings struct {
	Family PriorFamily `yaml:",inline"`
	Anchor *Anchor     `yaml:"anchor,omitempty"` // moves the prior's mean to an estimate. Without it (nil), the prior stays where it is
	Added  *Added      `yaml:"added,omitempty"`  // multiplies the prior by another normal density, about an estimate; not beside anchor. Without it (nil), there is none
}

// PriorFamily is a family of priors with its settings.
type PriorFamily interface {
	// Prior builds the prior over the parameters of tensors: of a network's random ones, nn.Net.Random. examples is the number N of training
	// examples.
	Prior(tensors []nn.Tensor, examples int) (mcmc.Prior, error)
	// Findings says what a reader of a run on some examples should know of the prior.
	Findings(examples int) []finding.Finding
	// Gaussian reports whether the prior's components are independent normals. Such a prior is an mcmc.GaussianPrior, which
	// pCN needs, and has the methods of Normal that an anchor, an added factor and a cold posterior need.
	Gaussian() bool
	// Widths describes the widths that an ensemble of draws of the posterior has learned; nil where the prior's are given.
	Widths(e *Ensemble) ([]Width, error)
	// Wide says, with the mend, why draws of the prior may be too different for particles to begin at; empty where no setting makes them so.
	Wide() string
}

// Gaussian reports whether there is a prior whose components are independent normals.
func (p PriorSettings) Gaussian() bool { return p.Family != nil && p.Family.Gaussian() }

// NormalPrior is the prior of independent normal components with mean 0. Exactly one of its settings is given. Where Variance is
// LearnedVariance, it is the usual LearnedPrior.
type NormalPrior struct {
	// Variance is that of every weight and bias, and of γ, β and τ of a normalisation; learned (in Go LearnedVariance): each tensor learns
	// its own, as with the prior learned of shape 1 and rate 1.
	Variance float64 `yaml:"variance,omitempty,nonzero" words:"learned=-1"`
	FanIn    float64 `yaml:"fan_in,omitempty,nonzero"` // the variance is FanIn/(number of inputs of a unit), for each layer; γ, β and τ of a normalisation have variance 1

	// Decay is the coefficient of a weight decay that was trained with: a loss of −1/N log p(D|θ) + decay/2 |θ|² is −1/N times the
	// log-posterior if the variance is 1/(Decay·N) (docs/smc-sghmc-ensembles.md, section 4, A9).
	Decay float64 `yaml:"decay,omitempty,nonzero"`
}

// LearnedVariance is the variance that is learned for each tensor.
const LearnedVariance = -1

// learned reports whether the prior is the usual LearnedPrior.
func (n NormalPrior) learned() bool { return n.Variance == LearnedVariance }

// given lists the settings that are not 0.
func (n NormalPrior) given() (names []string) {
	for _, s := range []struct {
		name  string
		value float64
	}{{"decay", n.Decay}, {"fan_in", n.FanIn}, {"variance", n.Variance}} {
		if s.value != 0 {
			names = append(names, s.name)
		}
	}
	return names
}

// Check wants one of the settings, positive.
func (n NormalPrior) Check(f *config.Faults) {
	all := []string{"", "decay", "fan_in", "variance"}
	given := n.given()
	switch len(given) {
	case 0:
		f.Conflict(all, "want one of decay, fan_in, variance")
		return
	case 1:
	default:
		f.Conflict(all, "has %s: want one of them", strings.Join(given, " and "))
	}
	if n.Variance != 0 && !n.learned() {
		f.Positive("variance", n.Variance)
	}
	if n.FanIn != 0 {
		f.Positive("fan_in", n.FanIn)
	}
	if n.Decay != 0 {
		f.Positive("decay", n.Decay)
	}
}

// Prior builds a *Normal or, where the variance is learned, a *ScaleMixture.
func (n NormalPrior) Prior(tensors []nn.Tensor, examples int) (mcmc.Prior, error) {
	switch {
	case n.learned():
		return usual.Prior(tensors, examples)
	case n.FanIn != 0:
		return FanIn(tensors, n.FanIn)
	case n.Decay != 0:
		return Isotropic(tensors, n.decayed(examples))
	}
	return Isotropic(tensors, n.Variance)
}

// decayed is the variance that belongs to Decay.
func (n NormalPrior) decayed(examples int) float64 { return 1 / (n.Decay * float64(examples)) }

// Findings says which variance belongs to a weight decay, since a config does not.
func (n NormalPrior) Findings(examples int) []finding.Finding {
	if n.Decay == 0 {
		return nil
	}
	return []finding.Finding{finding.Of(finding.PriorOfDecay{
		Decay: fmt.Sprintf("%.4g", n.Decay), Examples: examples, Variance: fmt.Sprintf("%.4g", n.decayed(examples)),
	})}
}

// Gaussian is true where the variance is given.
func (n NormalPrior) Gaussian() bool { return !n.learned() }

// Widths is nil where the variance is given.
func (n NormalPrior) Widths(e *Ensemble) ([]Width, error) {
	if n.learned() {
		return usual.Widths(e)
	}
	return nil, nil
}

// Wide is empty: a width that is given is the same in all draws.
func (NormalPrior) Wide() string { return "" }
