package bayes

import (
	"errors"

	"github.com/starling-smc/starling/mcmc"
)

// Flat is the improper prior p(x) = 1 on the support of Start, as Stan has it where a parameter has no prior. Nothing can be
// drawn from it, so particles begin at draws of Start, a proper prior q. With
//
//	(L(x)/q(x))^λ q(x)
//
// as the target at inverse temperature λ, tempering leads from q to L, the posterior itself, whatever Start is. Start decides
// only how long the way is: it should be wide, as a prior is that knows the unit of the parameter. The log evidence is
// log ∫ L(x) dx: models are comparable only if they have the same flat parameters.
type Flat struct{ Start Prior }

// Support is the support of Start.
func (f Flat) Support() (lower, upper float64) { return f.Start.Support() }

// Draw is a draw from Start.
func (f Flat) Draw(s *mcmc.Stream, given []float64) float64 { return f.Start.Draw(s, given) }

// LogDensity is of Start.
func (f Flat) LogDensity(x float64, given, slopes []float64) float64 {
	return f.Start.LogDensity(x, given, slopes)
}

// Improper is true.
func (Flat) Improper() bool { return true }

// Gaussian is of Start.
func (f Flat) Gaussian() (mean, sd float64) { return component{prior: f.Start}.gaussian() }

func (f Flat) check() error {
	switch start := f.Start.(type) {
	case nil:
		return errors.New("a flat prior needs a Start: a proper prior from which particles are drawn")
	case Dependent:
		return errors.New("the Start of a flat prior must not depend on other parameters")
	case Flat:
		return errors.New("the Start of a flat prior must be proper")
	case checker:
		return start.check()
	}
	return nil
}
