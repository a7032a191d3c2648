package eval

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/uq"
)

// Assessment is the evaluation of a run's ensembles, with the posterior's predictions: everything that a report shows.
type Assessment struct {
	Metrics    *Metrics
	Problem    *data.Problem    // the data evaluated on
	Islands    int              // of the posterior that was evaluated
	Test       *uq.Predictive   // the posterior's prediction for the examples of Set; nil for regression
	Groups     []*uq.Predictive // likewise for Problem.Groups, in their order
	Regression *Regression      // nil for classes
	Losses     ExampleLosses    // of the examples of Set, by the posterior and by the point estimates
	Doubts     *decide.Examples // by which the examples of Set and the groups abstain; nil without a rule to abstain
	Rule       *decide.Rule     // likewise
	Helps      *float64         // a temperature that would correct the confidence (Propose); nil: none is known
}

// Set is the set of examples that Test and Regression predict: the problem's test part, or its training part if nothing was
// held out.
func (a *Assessment) Set() *data.Set {
	_, set := testPart(a.Problem)
	return set
}

// Regression is the posterior's prediction for the targets of n examples, each array [n, Outputs] in the target's units.
type Regression struct {
	Outputs       int
	Targets       []float64 // the truth
	Mean          []float64
	Aleatoric     []float64 // standard deviation of the noise in the particles' likelihoods
	Epistemic     []float64 // standard deviation of the particles' means
	Q05, Q50, Q95 []float64 // quantiles of the mixture
	PIT           []float64 // the mixture's CDF at the target: uniform on [0, 1] if it is calibrated
}

func newRegression(v *bnn.EvaluatedRegression, truth []float64) *Regression {
	return &Regression{
		Outputs: v.Outputs, Targets: truth, Mean: v.Mean, Aleatoric: v.Aleatoric, Epistemic: v.Epistemic,
		Q05: every(v.Quantiles, 0, 3), Q50: every(v.Quantiles, 1, 3), Q95: every(v.Quantiles, 2, 3), PIT: v.PIT,
	}
}

// testPart is the part of a problem that ensembles are scored on, with its name.
func testPart(p *data.Problem) (string, *data.Set) {
	if p.Test == nil {
		return "train", p.Train
	}
	return "test", p.Test
}

// ExampleLosses are the negative log predictive probabilities of the examples evaluated on or, for a regression, the negative
// log-densities of their targets in the target's units. DeepEnsemble and MAP are nil without restarts.
type ExampleLosses struct{ Posterior, DeepEnsemble, MAP []float64 }
