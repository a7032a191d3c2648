package bnn

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// LearnedPrior is the prior that learns its widths, a ScaleMixture: every tensor has a precision of its own, with a gamma distribution,
// integrated out. {learned: {shape: 1, rate: 1}} may be written {normal: {variance: learned}}.
type LearnedPrior struct {
	// Shape is a of the distribution Gamma(a, b) of the precision of a tensor, which is 1/variance. With a smaller one the widths come from
	// a wider range. Default 1.
	Shape float64 `yaml:"shape,nonzero"`
	// Rate is b of that distribution, whose mean is a/b. With a larger one larger weights are likely. Default 1.
	Rate float64 `yaml:"rate,nonzero"`
}

// usual is LearnedPrior with its defaults.
var usual = LearnedPrior{Shape: 1, Rate: 1}

// Defaults fills in what was left out.
func (l *LearnedPrior) Defaults() {
	if l.Shape == 0 {
		l.Shape = usual.Shape
	}
	if l.Rate == 0 {
		l.Rate = usual.Rate
	}
}

// Check wants shape and rate above 0.
func (l LearnedPrior) Check(f *config.Faults) {
	f.Positive("shape", l.Shape)
	f.Positive("rate", l.Rate)
}

// Prior builds a *ScaleMixture.
func (l LearnedPrior) Prior(tensors []nn.Tensor, _ int) (mcmc.Prior, error) {
	return NewScaleMixture(tensors, l.Shape, l.Rate)
}

// Findings is nothing.
func (LearnedPrior) Findings(int) []finding.Finding { return nil }

// Gaussian is false.
func (LearnedPrior) Gaussian() bool { return false }

// Wide names a shape below the default: the logarithm of a precision of Gamma(a, b) spreads over about 1/a.
func (l LearnedPrior) Wide() string {
	if l.Shape >= usual.Shape {
		return ""
	}
	return fmt.Sprintf("with prior.learned.shape %v the widths of its draws spread over many powers of ten: take a larger one, such as %v", l.Shape, usual.Shape)
}

// Widths describes the widths that an ensemble has learned.
func (l LearnedPrior) Widths(e *Ensemble) ([]Width, error) {
	p, err := NewScaleMixture(e.Net.Random(), l.Shape, l.Rate)
	if err != nil {
		return nil, err
	}
	return p.widths(e)
}
