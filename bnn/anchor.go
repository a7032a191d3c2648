package bnn

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
)

// Anchor shrinks a normal prior by s in [0, 1]. It is the model of Scalable Bayesian Monte Carlo, SBMC(s)
// (scalable-bayesian-monte-carlo, section 2). The mean is the best MAP restart by validation NLL for s < 1/2, else 0; the variance is
// s times the prior's. S = 0 is the MAP estimate itself.
type Anchor struct {
	S float64 `yaml:"s,zero,required"` // from 0, the anchor alone, to 1, the prior without it

	// Per is run: all islands have the best MAP restart as their anchor (default). island: island 0 has the first restart, island 1 the second,
	// and so on, also islands of chains. Their priors differ then, so that there is no common log evidence.
	Per string `yaml:"per,omitempty"`
}

// The values of Anchor.Per: what has an anchor of its own.
const (
	PerRun    = "run"
	PerIsland = "island"
)

// Check wants S between 0 and 1, and an anchor for each island only where the prior is about one.
func (a Anchor) Check(f *config.Faults) {
	f.If(!(a.S >= 0 && a.S <= 1), "s", "want 0 to 1, have %.12g", a.S)
	if a.Per != "" {
		f.OneOf("per", a.Per, PerRun, PerIsland)
	}
	if a.Apart() && (a.S == 0 || a.S >= 0.5) {
		f.Conflict([]string{"per", "s"}, "gives each island a restart to be about, and at s = %.12g no island is about one (0 is a restart alone, and from 0.5 on the "+
			"mean is 0): want s between 0 and 0.5, or leave per out", a.S)
	}
}

// AtMAP reports whether the prior is centred on the MAP estimate. It is false for a nil Anchor.
func (a *Anchor) AtMAP() bool { return a != nil && a.S < 0.5 }

// Point reports whether the posterior is the MAP estimate itself (S = 0), and there is nothing to sample.
func (a *Anchor) Point() bool { return a != nil && a.S == 0 }

// Apart reports whether each island has an anchor of its own.
func (a *Anchor) Apart() bool { return a != nil && a.Per == PerIsland }

// Apply anchors a prior at theta, the MAP estimate; for S of at least 1/2 theta may be nil. A nil Anchor leaves the prior as
// it is. It is an error if S is 0, since there is nothing to sample then, or if the prior cannot be anchored.
func (a *Anchor) Apply(prior mcmc.Prior, theta []float64) (mcmc.Prior, error) {
	if a == nil {
		return prior, nil
	}
	p, ok := prior.(movable)
	if !ok {
		return nil, errors.New("a prior that is not normal cannot be anchored")
	}
	return p.Anchored(a.S, theta)
}

// Added is an additional normal factor about the MAP estimate θ*, a comparator of Scalable Bayesian Monte Carlo
// (scalable-bayesian-monte-carlo, section 2). A prior N(0, v I) times N(θ*, s I) is, normalised,
//
//	N(v/(s+v) θ*, s v/(s+v) I),
//
// so that it stays wider than the anchored prior of the same s where v is large, and its mean lies between 0 and θ*.
type Added struct {
	S float64 `yaml:"s,required"` // s, the variance of the factor, above 0. The best MAP restart or, without a search, model.init is its mean
}

// Check wants a variance.
func (a Added) Check(f *config.Faults) {
	f.If(!positive(a.S), "s", "want a number above 0, have %.12g", a.S)
}

// Apply multiplies a prior by the factor about theta. A nil Added leaves the prior as it is.
func (a *Added) Apply(prior mcmc.Prior, theta []float64) (mcmc.Prior, error) {
	if a == nil {
		return prior, nil
	}
	p, ok := prior.(movable)
	if !ok {
		return nil, errors.New("a prior that is not normal has no product with a normal factor")
	}
	return p.Times(a.S, theta)
}

// Check reports an anchor or an added factor without a prior, or with one that cannot have it, and both.
func (p PriorSettings) Check(f *config.Faults) {
	for _, one := range []struct {
		key, does string
		given     bool
	}{{"anchor", "scales a prior", p.Anchor != nil}, {"added", "multiplies a prior", p.Added != nil}} {
		if !one.given {
			continue
		}
		f.If(p.Family == nil, one.key, "%s, and there is none: want normal beside it", one.does)
		f.If(p.Family != nil && !p.Family.Gaussian(), one.key, "needs a normal prior with a given width, and this one has none: "+
			"leave %s out, or take a variance, as in {normal: {variance: 1}}", one.key)
	}
	if p.Anchor != nil && p.Added != nil {
		f.Conflict([]string{"anchor", "added"}, "both put the prior about an estimate, and they are two ways to do so: want one of them")
	}
}

// About reports whether the prior's mean depends on an estimate: the best MAP restart or, without a search, model.init.
func (p PriorSettings) About() bool { return p.Anchor.AtMAP() || p.Added != nil }

// Moved reports whether the prior is another one than its family says.
func (p PriorSettings) Moved() bool { return p.Anchor != nil || p.Added != nil }

// Apply makes the prior that the settings say of that of the family, where theta is the estimate; nil is enough unless it is About one. There
// is none for an anchor of s = 0.
func (p PriorSettings) Apply(prior mcmc.Prior, theta []float64) (mcmc.Prior, error) {
	prior, err := p.Anchor.Apply(prior, theta)
	if err != nil {
		return nil, err
	}
	return p.Added.Apply(prior, theta)
}

// Named says what an estimate, which is given by its name, does to the prior, as a title has it; empty where it does nothing.
func (p PriorSettings) Named(estimate string) string {
	switch {
	case p.Anchor.Apart():
		return fmt.Sprintf("each island anchored at a restart of its own (s = %v)", p.Anchor.S)
	case p.Anchor.AtMAP():
		return fmt.Sprintf("anchored at %s (s = %v)", estimate, p.Anchor.S)
	case p.Added != nil:
		return fmt.Sprintf("with a normal factor about %s (s = %v)", estimate, p.Added.S)
	}
	return ""
}

// movable is a prior that can be moved to an estimate, and cooled.
type movable interface {
	Anchored(s float64, theta []float64) (*Normal, error)
	Times(s float64, theta []float64) (*Normal, error)
	Cold(t float64) (*Normal, error)
}

// Cold is the prior to the power 1/T, normalised: the prior's part of a cold posterior (scalable-bayesian-monte-carlo, section 2). It is an
// error for a prior that is not normal.
func Cold(prior mcmc.Prior, t float64) (mcmc.Prior, error) {
	p, ok := prior.(movable)
	if !ok {
		return nil, errors.New("a prior that is not normal has no cold posterior")
	}
	return p.Cold(t)
}

// Times is the product with N(theta, s I), normalised: component by component N((s m + v θ)/(s + v), s v/(s + v)).
func (p *Normal) Times(s float64, theta []float64) (*Normal, error) {
	if !positive(s) {
		return nil, fmt.Errorf("the variance of a factor must be positive, is %v", s)
	}
	if len(theta) != len(p.mean) {
		panic(fmt.Sprintf("bnn: a factor of %d parameters for a prior of %d", len(theta), len(p.mean)))
	}
	mean, variance := make([]float64, len(p.mean)), make([]float64, len(p.mean))
	for i, v := range p.variance {
		mean[i] = (float64(s*p.mean[i]) + float64(v*theta[i])) / (s + v)
		variance[i] = float64(s*v) / (s + v)
	}
	return newNormal(mean, variance), nil
}

// Cold is the prior to the power 1/T, normalised: N(m, V) becomes N(m, T V), with the likelihood's own parameters, which have the prior N(0, 1),
// among its components.
func (p *Normal) Cold(t float64) (*Normal, error) {
	if !positive(t) {
		return nil, fmt.Errorf("the temperature of a posterior must be positive, is %v", t)
	}
	variance := make([]float64, len(p.variance))
	for i, v := range p.variance {
		variance[i] = t * v
	}
	return newNormal(append([]float64(nil), p.mean...), variance), nil
}
