package method

import (
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// Search looks for the maximum of the posterior (MAP) by early-stopped stochastic gradient descent from several starts
// (Liang et al., Scalable Bayesian Monte Carlo, Algorithm 1, line 1; the settings that the paper leaves open are defaults of
// this project). Each restart begins at a draw (Start), where outputs that are logarithms of standard deviations are set to 0,
// and takes steps of the optimiser on
//
//	mean over the batch of −log p(y|x,θ)  −  log p(θ) / N
//
// over mini-batches, in an order of its own for every epoch. For an optimiser with a weight decay of its own, AdamW, the second term is
// left out: the decay takes the place of the prior, which would count twice. The result is then the maximum of the posterior for no
// prior, but the network that PyTorch's AdamW trains on the mean of the loss. Adam has no decay, and takes the prior. The last batch of an
// epoch is the remainder, with its own mean. The decay of AdamW acts on all parameters alike, also on biases and on γ, β and τ of a
// normalisation, as PyTorch's does by default.
// The schedule sets the rate of every epoch.
// After each epoch the mean negative log-likelihood (NLL) of the validation examples is computed and the best state is kept;
// Patience epochs without a new best end the restart. Where restart 0 begins at a given network, that network is scored before
// its first epoch, so that the descent cannot end with a worse one. With Keep last the validation examples only score: every restart
// runs all its epochs, and its last state is its result, overfitted or not. The best restart is the one whose result has the least
// validation NLL. Without validation examples the last states are the results, too, and the best restart is the one of highest posterior
// density.
type Search struct {
	Restarts int     `yaml:"restarts"` // descents, each from its own start; default 8, or as many as the method starts from
	Rate     float64 `yaml:"rate"`     // the largest step, that of the first epoch unless the schedule warms up; default: the optimiser's usual one, 0.03 for sgd
	Batch    int     `yaml:"batch"`    // examples a step; default 64

	// Epochs are the passes over the examples, at most; default 300, without validation examples 5. With 0, which a config writes with
	// restarts: 1, the result is the network of model.init as it is.
	Epochs int `yaml:"epochs,zero"`

	// Start is where descents begin. Default: he for networks with a normalisation, prior for others. The first descent begins at model.init,
	// if that is given.
	Start bnn.Start `yaml:"start"`

	// Keep is the state that a restart ends with. best, the default: that of the epoch of least validation NLL. last, the default without
	// validation examples: that of the last epoch, and validation examples only score.
	Keep string `yaml:"keep"`

	Patience int `yaml:"patience,omitempty"` // epochs without a better validation NLL after which a restart ends; 0: no restart ends early. Default 20, with keep: last or without validation examples none

	Optimiser nn.Optimiser `yaml:"optimiser"` // makes the steps; default: sgd
	Schedule  nn.Schedule  `yaml:"schedule"`  // how the rate falls; default: constant
}

// What a restart may keep.
const (
	KeepBestEpoch = "best"
	KeepLastEpoch = "last"
)

// Complete fills in defaults. restarts is the number that the method needs (Needs.Restarts), layers are the network's.
func (s *Search) Complete(restarts int, validates bool, layers []nn.Layer) {
	if s.Start == nil {
		s.Start = bnn.UsualStart(layers)
	}
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
	if !validates { // there is no early stopping, and all epochs are made
		fill(&s.Epochs, 5)
		fill(&s.Keep, KeepLastEpoch)
		return
	}
	fill(&s.Epochs, 300)
	if fill(&s.Keep, KeepBestEpoch); s.Keep == KeepBestEpoch {
		fill(&s.Patience, 20)
	}
}

// Check refuses settings that are wrong for any search.
func (s Search) Check(f *config.Faults) {
	f.Within("restarts", s.Restarts, 1, rng.MaxParticles)
	f.Positive("rate", s.Rate)
	f.AtLeast("batch", s.Batch, 1)
	f.AtLeast("epochs", s.Epochs, 0)
	f.OneOf("keep", s.Keep, KeepBestEpoch, KeepLastEpoch)
	f.AtLeast("patience", s.Patience, 0)
	f.If(s.Optimiser == nil, "optimiser", "want one of %s", strings.Join(nn.Optimisers.Names(), ", "))
	f.If(s.Schedule == nil, "schedule", "want one of %s", strings.Join(nn.Schedules.Names(), ", "))
	if rising, ok := s.Schedule.(nn.Rising); ok && rising.Rises() >= s.Epochs {
		f.Conflict([]string{"schedule." + nn.Schedules.Name(s.Schedule) + ".warmup", "epochs"}, "a warm-up of %s leaves none of %s for the fall: want fewer",
			numeral.Several(rising.Rises(), "epoch"), numeral.Several(s.Epochs, "epoch"))
	}
}

// Points holds the results of the restarts of a Search, but for those that were left out.
type Points struct {
	Net      *nn.Net   // with every parameter random
	Theta    []float64 // the state that each restart keeps, Restarts×D, of whole networks
	NLL      []float64 // its mean NLL on the validation examples, in nats; NaN without them
	Accuracy []float64 // its accuracy there, 0 to 1; NaN without them and for regression
	Epoch    []int     // the epoch of the state, counted from 1; 0: the start
	Chosen   int       // the restart of lowest NLL; without validation examples, of highest posterior density
	Lost     []int     // restarts that were left out, since their loss was not finite
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
