package method

import (
	"context"
	"errors"
	"fmt"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// search is a Search bound to network, prior and data.
type search struct {
	Search
	objective
	seed     uint64
	first    []float64 // start of restart 0; nil: a draw, as for the others
	validate *nn.Model // nil without validation examples
	labels   []int32   // of the validation examples; nil for regression
}

// newSearch binds a search whose settings are complete. prior is the model's own prior, not the one anchored at a MAP; first may be nil.
func newSearch(s Search, seed uint64, net *nn.Net, prior mcmc.Prior, first []float64, examples *data.Problem, p *pool.Pool) (*search, error) {
	if err := config.Check(s); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	b := &search{Search: s, objective: objective{prior: prior, batch: s.Batch}, seed: seed, first: first}
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
	if b.train, err = nn.NewTraining(net, examples, p); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	if examples.Validate == nil {
		return b, nil
	}
	if b.validate, err = nn.NewModel(net, examples.Validate, p); err != nil {
		return nil, fmt.Errorf("MAP: %w", err)
	}
	if !net.Likelihood().Regression() {
		b.labels = examples.Validate.Labels
	}
	return b, nil
}

// key returns the key of the random stream for an epoch of a restart.
func (b *search) key(purpose rng.Purpose, restart, epoch int) rng.Key {
	return rng.Key{Seed: b.seed, Purpose: purpose, Iteration: epoch, Particle: restart}
}

// restarts makes the parts of the search.
func (b *search) restarts() []*restart {
	parts := make([]*restart, b.Restarts)
	for k := range parts {
		parts[k] = &restart{search: b, number: k}
	}
	return parts
}

// take scores the given network of a search of no epoch, which has ended then.
func (b *search) take(ctx context.Context, restarts []*restart) error {
	if b.Epochs > 0 {
		return nil
	}
	for _, r := range restarts {
		r.work = r.scratch()
		err := r.begin(ctx)
		if err == nil {
			err = finite("log-likelihood", -r.Train[0], b.Rate)
		}
		if err != nil {
			return fmt.Errorf("MAP restart %d, at its start: %w", r.number, err)
		}
		r.work, r.Ended = nil, true
	}
	return nil
}

// points gathers the state that each restart keeps and chooses the best of them. Restarts whose loss was not finite are left out, while at
// least half remain: else the error is that of the first.
func (b *search) points(ctx context.Context, restarts []*restart) (*Points, error) {
	p := &Points{Net: b.train.Net()}
	var least float64 // the restart of lowest loss is chosen
	var first error
	for k, r := range restarts {
		loss, err := b.loss(ctx, r)
		var lost *lossError
		if errors.As(err, &lost) {
			if p.Lost = append(p.Lost, k); first == nil {
				first = fmt.Errorf("MAP restart %d, epoch %d: %w", k, r.Epochs, err)
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("MAP: %w", err)
		}
		if len(p.NLL) == 0 || loss < least {
			p.Chosen, least = len(p.NLL), loss
		}
		theta, at := r.kept()
		p.Theta, p.NLL, p.Epoch, p.Accuracy = append(p.Theta, theta...), append(p.NLL, at.nll), append(p.Epoch, at.epoch), append(p.Accuracy, at.accuracy)
	}
	if 2*len(p.NLL) < len(restarts) {
		return nil, first
	}
	return p, nil
}

// loss is the validation NLL of the state that a restart keeps or, without validation examples, minus the log density of its last state.
// The error of a loss that is not finite, now or while the restart went on, is a *lossError.
func (b *search) loss(ctx context.Context, r *restart) (float64, error) {
	if err := r.lost(); err != nil || b.validate != nil {
		_, at := r.kept()
		return at.nll, err
	}
	var ll [1]float64
	if err := b.train.LogLik(ctx, nil, r.Theta, ll[:], nil); err != nil {
		return 0, err
	}
	return -(ll[0] + b.prior.LogDensity(r.Theta, nil)), finite("log-likelihood", ll[0], b.Rate)
}

// phase returns the search as a phase of a run. scale is added to a mean NLL to get it in the targets' own units.
func (b *search) phase(restarts []*restart, scale float64, tell func(Status)) runs.Phase {
	w := newSearchWatch(restarts, b.Epochs, scale, tell)
	w.report() // the first epochs may take long
	phase := runs.Phase{Name: "map", SaveEnds: true, Watch: w.step, Resumed: w.resumed}
	for _, r := range restarts {
		phase.Parts = append(phase.Parts, r)
	}
	return phase
}
