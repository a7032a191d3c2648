package method

import (
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// Search looks for the maximum of the posterior (MAP) by early-stopped stochastic gradient descent from several starts
// (Liang et al., Scalable Bayesian Monte Carlo, Algorithm 1, line 1; the settings that the paper leaves open are defaults of
// this project). Each restart begins at a draw of the prior, where outputs that are logarithms of standard deviations are set to 0,
// and takes steps of the optimiser on
//
//	mean over the batch of −log p(y|x,θ)  −  log p(θ) / N
//
// over mini-batches, in an order of its own for every epoch. For an optimiser with a weight decay of its own, AdamW, the second term is
// left out: the decay takes the place of the prior, which would count twice. The result is then the maximum of the posterior for no
// prior, but the network that PyTorch's AdamW trains on the mean of the loss. Adam has no decay, and takes the prior. The last batch of an
// epoch is the remainder, with its own mean.
// The schedule sets the rate of every epoch.
// After each epoch the mean negative log-likelihood (NLL) of the validation examples is computed and the best state is kept;
// Patience epochs without a new best end the restart. Where restart 0 begins at a given network, that network is scored before
// its first epoch, so that the descent cannot end with a worse one. Without validation examples every restart runs all its
// epochs, its last state is its result, and the best restart is the one of highest posterior density.
type Search struct {
	Restarts int     `yaml:"restarts"`           // descents, each from its own start; default 8, or as many as the method starts from
	Rate     float64 `yaml:"rate"`               // step of the first epoch; default: the optimiser's usual one, 0.03 for sgd
	Batch    int     `yaml:"batch"`              // examples a step; default 64
	Epochs   int     `yaml:"epochs"`             // passes over the examples, at most; default 300, without validation examples 5
	Patience int     `yaml:"patience,omitempty"` // epochs without a better validation NLL after which a restart ends; 0: no restart ends early. Default 20, without validation examples none

	Optimiser nn.Optimiser `yaml:"optimiser"` // makes the steps; default: sgd
	Schedule  nn.Schedule  `yaml:"schedule"`  // how the rate falls; default: constant
}

// Complete fills in defaults. restarts is the number that the method needs (Needs.Restarts).
func (s *Search) Complete(restarts int, validates bool) {
	fill(&s.Restarts, restarts)
	fill(&s.Restarts, 8)
	if s.Optimiser == nil {
		s.Optimiser = nn.SGD{}
	}
	if s.Schedule == nil {
		s.Schedule = nn.Constant{}
	}
	fill(&s.Rate, s.Optimiser.Usual())
	fill(&s.Batch, 64)
	if validates {
		fill(&s.Epochs, 300)
		fill(&s.Patience, 20)
	}
	fill(&s.Epochs, 5) // without validation examples there is no early stopping, and all epochs are made
}

// Check refuses settings that are wrong for any search.
func (s Search) Check(f *config.Faults) {
	f.Within("restarts", s.Restarts, 1, rng.MaxParticles)
	f.Positive("rate", s.Rate)
	f.AtLeast("batch", s.Batch, 1)
	f.AtLeast("epochs", s.Epochs, 1)
	f.AtLeast("patience", s.Patience, 0)
	f.If(s.Optimiser == nil, "optimiser", "want one of %s", strings.Join(nn.Optimisers.Names(), ", "))
	f.If(s.Schedule == nil, "schedule", "want one of %s", strings.Join(nn.Schedules.Names(), ", "))
}

// Points holds the results of the restarts of a Search, but for those that were left out.
type Points struct {
	Net       *nn.Net   // with every parameter random
	Theta     []float64 // best state of each restart, Restarts×D, of whole networks
	NLL       []float64 // its mean NLL on the validation examples, in nats; NaN without them
	Accuracy  []float64 // its accuracy there, 0 to 1; NaN without them and for regression
	BestEpoch []int     // the epoch of the best state, counted from 1; 0: the start
	Chosen    int       // the restart of lowest NLL; without validation examples, of highest posterior density
	Lost      []int     // restarts that were left out, since their loss was not finite
}

// Best is the parameter vector of the chosen restart: the MAP.
func (p *Points) Best() []float64 { return p.at(p.Chosen, 1) }

// at returns the parameter vectors of n restarts, from restart first on.
func (p *Points) at(first, n int) []float64 {
	d := p.Net.Dim()
	return p.Theta[first*d : (first+n)*d]
}

// starts returns n parameter vectors, for starts from first on, each at a restart of its own. Where restarts were left out, the last starts
// begin again with the first restart.
func (p *Points) starts(first, n int) []float64 {
	restarts := len(p.Theta) / p.Net.Dim()
	if first+n <= restarts {
		return p.at(first, n)
	}
	var all []float64
	for k := range n {
		all = append(all, p.at((first+k)%restarts, 1)...)
	}
	return all
}

// Ensemble is the deep ensemble: every restart with the same weight.
func (p *Points) Ensemble() (*bnn.Ensemble, error) {
	return bnn.Combine(p.Net, []bnn.Island{{Theta: p.Theta}}, bnn.Equal{})
}

// fill sets a field that is zero.
func fill[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
