package bayes

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/mcmc"
)

// Prior is the prior distribution of a parameter. It must be safe for concurrent use. A program may have its own. It may also be
// Dependent, Gaussian or Improper.
type Prior interface {
	// Support is the open interval of the values; ends may be infinite. It must not depend on other parameters.
	Support() (lower, upper float64)
	// Draw returns a draw. given are the values of the parameters of Given.
	Draw(s *mcmc.Stream, given []float64) float64
	// LogDensity returns the normalised log density at x in nats, and sets slopes[0] to its derivative by x and slopes[1+k] to
	// its derivative by given[k].
	LogDensity(x float64, given, slopes []float64) float64
}

// Dependent is a Prior that depends on other parameters.
type Dependent interface {
	Given() []string // their names: numbers that stand before its own parameter
}

// Gaussian is a Prior that says whether the unconstrained coordinate is normal.
type Gaussian interface {
	Gaussian() (mean, sd float64) // the coordinate has the distribution N(mean, sd²); sd 0: it has not
}

// Improper is a Prior that may be 1 on its support, so that Draw and LogDensity are of its start (Flat).
type Improper interface{ Improper() bool }

// scaler is a Dependent that takes some of the parameters that it depends on for standard deviations.
type scaler interface{ Positive() []string }

// checker is a prior that checks its settings.
type checker interface{ check() error }

// log2Pi is log 2π.
const log2Pi = 1.8378770664093454835606594728112

// Prior returns the prior of the unconstrained coordinates, with the starts of improper priors in their place. If all
// coordinates are normal, it is an mcmc.GaussianPrior.
func (m *Model) Prior() mcmc.Prior {
	p := &prior{m}
	for _, c := range m.components {
		if _, sd := c.gaussian(); sd == 0 {
			return p
		}
	}
	return gaussian{p}
}

// gaussian returns the moments of a normal coordinate; sd 0: it is not normal.
func (c component) gaussian() (mean, sd float64) {
	if p, ok := c.prior.(Gaussian); ok {
		return p.Gaussian()
	}
	return 0, 0
}

// prior is an mcmc.Prior:
//
//	log p(θ) = Σ_i log p(x_i | x_1 … x_(i−1)) + log |dx_i/dθ_i|.
type prior struct{ m *Model }

// Dim is D.
func (p *prior) Dim() int { return p.m.Dim() }

// Sample draws the coordinates in their order.
func (p *prior) Sample(stream *mcmc.Stream, theta []float64) {
	s := p.m.spare.Get().(*scratch)
	defer p.m.spare.Put(s)
	for i, c := range p.m.components {
		s.values[i] = c.prior.Draw(stream, s.of(c.given))
		theta[i] = c.coordinate(s.values[i])
	}
}

// LogDensity is log p(θ), normalised.
func (p *prior) LogDensity(theta, grad []float64) (l float64) {
	s := p.m.spare.Get().(*scratch)
	defer p.m.spare.Put(s)
	p.m.constrain(s, theta)
	for i, c := range p.m.components {
		given := s.of(c.given)
		density := c.prior.LogDensity(s.values[i], given, s.partial[:1+len(given)])
		jacobian, slope := c.jacobian(theta[i])
		l += density + jacobian
		if grad == nil {
			continue
		}
		grad[i] = float64(s.partial[0]*s.slopes[i]) + slope
		for k, g := range c.given {
			grad[g] += float64(s.partial[1+k] * s.slopes[g])
		}
	}
	return l
}

// gaussian is a prior all of whose coordinates are normal.
type gaussian struct{ *prior }

var _ mcmc.GaussianPrior = gaussian{}

// Mean is the mean of coordinate i.
func (p gaussian) Mean(i int) float64 { mean, _ := p.m.components[i].gaussian(); return mean }

// SD is the standard deviation of coordinate i.
func (p gaussian) SD(i int) float64 { _, sd := p.m.components[i].gaussian(); return sd }

// wantPositive is an error unless the setting is a number above 0.
func wantPositive(name string, x float64) error {
	if x > 0 && !math.IsInf(x, 1) {
		return nil
	}
	return fmt.Errorf("%s is %v; want a number above 0", name, x)
}

// wantFinite is an error unless the setting is a number.
func wantFinite(name string, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%s is %v; want a number", name, x)
	}
	return nil
}
