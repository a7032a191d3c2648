package method

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Search looks for the maximum of the posterior (MAP) by early-stopped stochastic gradient descent from several starts
// (Liang et al., Scalable Bayesian Monte Carlo, Algorithm 1, line 1; the settings that the paper leaves open are defaults of
// this project). Each restart begins at a draw of the prior and takes plain gradient steps on
//
//	mean over the batch of −log p(y|x,θ)  −  log p(θ) / N
//
// over mini-batches, in an order of its own for every epoch. The last batch of an epoch is the remainder, with its own mean.
// After each epoch the mean negative log-likelihood (NLL) of the validation examples is computed and the best state is kept;
// Patience epochs without a new best end the restart. Where restart 0 begins at a given network, that network is scored before
// its first epoch, so that the descent cannot end with a worse one. Without validation examples every restart runs all its
// epochs, its last state counts, and the best restart is that of highest posterior density.
type Search struct {
	Restarts int     `yaml:"restarts"`           // default 8, or as many as the method starts from
	Rate     float64 `yaml:"rate"`               // step of gradient descent; default 0.03
	Batch    int     `yaml:"batch"`              // examples a step; default 64
	Epochs   int     `yaml:"epochs"`             // at most; default 300, without validation examples 5
	Patience int     `yaml:"patience,omitempty"` // epochs; 0: no restart ends early. Default 20, without validation examples none
}

// Complete fills in what was left out. restarts is how many the method needs (Needs.Restarts).
func (s *Search) Complete(restarts int, validates bool) {
	fill(&s.Restarts, restarts)
	fill(&s.Restarts, 8)
	fill(&s.Rate, 0.03)
	fill(&s.Batch, 64)
	if validates {
		fill(&s.Epochs, 300)
		fill(&s.Patience, 20)
	}
	fill(&s.Epochs, 5) // all of them are made: nothing says when to stop
}

// Check refuses what no search can have.
func (s Search) Check(f *config.Faults) {
	f.Within("restarts", s.Restarts, 1, rng.MaxParticles)
	f.Positive("rate", s.Rate)
	f.AtLeast("batch", s.Batch, 1)
	f.AtLeast("epochs", s.Epochs, 1)
	f.AtLeast("patience", s.Patience, 0)
}

// Points is what the restarts of a Search ended with.
type Points struct {
	Net       *nn.Net
	Theta     []float64 // best state of each restart, Restarts×D
	NLL       []float64 // its mean NLL on the validation examples, in nats; NaN without them
	Accuracy  []float64 // its accuracy there, 0 to 1; NaN without them and for regression
	BestEpoch []int     // the epoch that gave it, counted from 1; 0: where the restart began
	Chosen    int       // the restart of lowest NLL; without validation examples, of highest posterior density
}

// Best is the parameter vector of the chosen restart: the MAP.
func (p *Points) Best() []float64 { return p.at(p.Chosen, 1) }

// at is the parameter vectors of n restarts from the first-th on.
func (p *Points) at(first, n int) []float64 {
	d := p.Net.Dim()
	return p.Theta[first*d : (first+n)*d]
}

// Ensemble is the deep ensemble: every restart with the same weight.
func (p *Points) Ensemble() (*bnn.Ensemble, error) {
	return bnn.Combine(p.Net, []bnn.Island{{Theta: p.Theta}}, bnn.Equal{})
}

// search is a Search bound to network, prior and data.
type search struct {
	Search
	seed     uint64
	first    []float64 // where restart 0 begins; nil: at a draw, like the others
	prior    mcmc.Prior
	train    *nn.Model
	validate *nn.Model // nil without validation examples
	labels   []int32   // of the validation examples; nil for regression
}

// newSearch binds a search whose settings are complete. prior is the model's own, not one anchored at a MAP; first and validate
// may be nil.
func newSearch(s Search, seed uint64, net *nn.Net, prior mcmc.Prior, first []float64, train, validate *data.Set, p *pool.Pool) (*search, error) {
	if err := config.Check(s); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	b := &search{Search: s, seed: seed, first: first, prior: prior}
	if prior.Dim() != net.Dim() {
		return nil, fmt.Errorf("MAP: prior of %d parameters for a network of %d", prior.Dim(), net.Dim())
	}
	if first != nil && len(first) != net.Dim() {
		return nil, fmt.Errorf("MAP: a first start of %d parameters for a network of %d", len(first), net.Dim())
	}
	if err := b.key(rng.Batch, s.Restarts-1, s.Epochs).Check(); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	var err error
	if b.train, err = nn.NewModel(net, train, p); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	if validate == nil {
		return b, nil
	}
	if b.validate, err = nn.NewModel(net, validate, p); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	if !net.Likelihood().Regression() {
		b.labels = validate.Labels
	}
	return b, nil
}

// key is the address of the random numbers of an epoch of a restart.
func (b *search) key(purpose rng.Purpose, restart, epoch int) rng.Key {
	return rng.Key{Seed: b.seed, Purpose: purpose, Iteration: epoch, Particle: restart}
}

// restarts are the parts of the search.
func (b *search) restarts() []*restart {
	parts := make([]*restart, b.Restarts)
	for k := range parts {
		parts[k] = &restart{search: b, number: k}
	}
	return parts
}

// points gathers the best states and chooses among them.
func (b *search) points(ctx context.Context, restarts []*restart) (*Points, error) {
	p := &Points{Net: b.train.Net()}
	loss := make([]float64, len(restarts)) // by which one is chosen
	for k, r := range restarts {
		if b.validate != nil {
			p.Theta = append(p.Theta, r.Watch.Theta...)
			p.NLL = append(p.NLL, r.Watch.Best)
			p.BestEpoch = append(p.BestEpoch, r.Watch.BestAt)
			loss[k] = r.Watch.Best
		} else {
			p.Theta = append(p.Theta, r.Theta...)
			p.NLL = append(p.NLL, math.NaN())
			p.BestEpoch = append(p.BestEpoch, r.Epochs)
		}
		p.Accuracy = append(p.Accuracy, r.Accuracy)
	}
	if b.validate == nil {
		if err := b.train.LogLik(ctx, nil, p.Theta, loss, nil); err != nil {
			return nil, fmt.Errorf("MAP: %w", err)
		}
		for k := range loss {
			if err := b.finite("log-likelihood", loss[k]); err != nil {
				return nil, fmt.Errorf("MAP restart %d, epoch %d: %w", k, restarts[k].Epochs, err)
			}
			loss[k] = -(loss[k] + b.prior.LogDensity(p.at(k, 1), nil))
		}
	}
	for k := range loss {
		if loss[k] < loss[p.Chosen] {
			p.Chosen = k
		}
	}
	return p, nil
}

// phase is the search as a phase of a run. scale is what a mean NLL gains in the targets' own units.
func (b *search) phase(restarts []*restart, scale float64, tell func(Status)) runs.Phase {
	w := newSearchWatch(restarts, b.Epochs, scale, tell)
	w.report() // the first epochs may take long
	phase := runs.Phase{Name: "map", SaveEnds: true, Watch: w.step, Resumed: w.resumed}
	for _, r := range restarts {
		phase.Parts = append(phase.Parts, r)
	}
	return phase
}

// finite refuses a log-likelihood that is not a number, as where the steps are too long.
func (b *search) finite(what string, ll float64) error {
	if math.IsNaN(ll) || math.IsInf(ll, 0) {
		return fmt.Errorf("the %s is %v; a rate below %v may mend it", what, ll, b.Rate)
	}
	return nil
}

// fill sets what is zero.
func fill[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
