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
}

// PriorFamily is a family of priors with its settings.
type PriorFamily interface {
	// Prior builds the prior over the parameters of tensors: of a network's random ones, nn.Net.Random. examples is the number N of training
	// examples.
	Prior(tensors []nn.Tensor, examples int) (mcmc.Prior, error)
	// Findings says what a reader of a run on some examples should know of the prior.
	Findings(examples int) []finding.Finding
	// Gaussian reports whether the prior's components are independent normals. Such a prior is an mcmc.GaussianPrior, which
	// pCN needs, and has a method Anchored as Normal has, which an anchor needs.
	Gaussian() bool
	// Widths describes the widths that an ensemble of draws of the posterior has learned; nil where the prior's are given.
	Widths(e *Ensemble) ([]Width, error)
	// Wide says, with the mend, why draws of the prior may be too different for particles to begin at; empty where no setting makes them so.
	Wide() string
}

// Check reports an anchor without a prior, or with one that cannot be anchored.
func (p PriorSettings) Check(f *config.Faults) {
	if p.Anchor == nil {
		return
	}
	f.If(p.Family == nil, "anchor", "scales a prior, and there is none: want normal beside it")
	f.If(p.Family != nil && !p.Family.Gaussian(), "anchor", "needs a normal prior with a given width, and this one has none: "+
		"leave anchor out, or take a variance, as in {normal: {variance: 1}}")
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

// Anchor shrinks a normal prior by s in [0, 1]. It is the model of Scalable Bayesian Monte Carlo, SBMC(s)
// (scalable-bayesian-monte-carlo, section 2). The mean is the best MAP restart by validation NLL for s < 1/2, else 0; the variance is
// s times the prior's. S = 0 is the MAP estimate itself.
type Anchor struct {
	S float64 `yaml:"s,zero,required"` // from 0, the anchor alone, to 1, the prior without it
}

// Check wants S between 0 and 1.
func (a Anchor) Check(f *config.Faults) {
	f.If(!(a.S >= 0 && a.S <= 1), "s", "want 0 to 1, have %.12g", a.S)
}

// Apply anchors a prior at theta, the MAP estimate; for S of at least 1/2 theta may be nil. A nil Anchor leaves the prior as
// it is. It is an error if S is 0, since there is nothing to sample then, or if the prior cannot be anchored.
func (a *Anchor) Apply(prior mcmc.Prior, theta []float64) (mcmc.Prior, error) {
	if a == nil {
		return prior, nil
	}
	p, ok := prior.(anchorable)
	if !ok {
		return nil, fmt.Errorf("a prior that is not normal cannot be anchored")
	}
	return p.Anchored(a.S, theta)
}

// AtMAP reports whether the prior is centred on the MAP estimate. It is false for a nil Anchor.
func (a *Anchor) AtMAP() bool { return a != nil && a.S < 0.5 }

// Point reports whether the posterior is the MAP estimate itself (S = 0), and there is nothing to sample.
func (a *Anchor) Point() bool { return a != nil && a.S == 0 }
