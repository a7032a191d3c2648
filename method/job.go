package method

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Job is what a method works on.
type Job struct {
	Seed   uint64
	Data   *data.Problem
	Net    *nn.Net
	Model  *nn.Model    // the network on the training examples
	Prior  mcmc.Prior   // of the network's parameters; nil where none is needed
	Anchor *bnn.Anchor  // of the prior; nil: none
	Init   []float64    // the trained network, model.init; nil: none
	Search *Search      // for point estimates; nil: none
	Points *Points      // what the search ended with; nil: there was none
	Pool   *pool.Pool   // for all work
	Run    *runs.Run    // keeps the parts
	Tell   func(Status) // is told of progress; nil: nobody is
}

// Outcome is what a method results in.
type Outcome struct {
	eval.Ensembles
	Trace    []TraceLine // by island, then by iteration
	Findings []finding.Finding
}

// Do carries a method out: the search for point estimates if there is one, the method's phases, and the ensembles at the end.
// What the run's folder kept of an earlier process is not done again.
func (j *Job) Do(ctx context.Context, m Method) (*Outcome, error) {
	out := new(Outcome)
	if err := j.search(ctx, out); err != nil {
		return nil, err
	}
	if j.Anchor != nil && !j.Anchor.Point() {
		prior, err := j.Anchor.Apply(j.Prior, j.anchor())
		if err != nil {
			return nil, err
		}
		j.Prior = prior
	}
	phases, err := m.Phases(ctx, j)
	if err != nil {
		return nil, err
	}
	for _, phase := range phases {
		if err := j.Run.Phase(ctx, j.Pool, phase); err != nil {
			return nil, err
		}
	}
	if out.Trace, err = ReadTrace(j.Run.Trace()); err != nil {
		return nil, err
	}
	out.Posterior, out.Findings, err = m.Gather(j, phases, out.Trace)
	return out, err
}

// search searches point estimates.
func (j *Job) search(ctx context.Context, out *Outcome) error {
	if j.Search == nil {
		return nil
	}
	scale := eval.LogScale(j.Data) // what a mean NLL gains in the targets' own units
	b, err := newSearch(*j.Search, j.Seed, j.Net, j.Prior, j.Init, j.Data.Train, j.Data.Validate, j.Pool)
	if err != nil {
		return err
	}
	restarts := b.restarts()
	if err := j.Run.Phase(ctx, j.Pool, b.phase(restarts, scale, j.Tell)); err != nil {
		return err
	}
	if j.Points, err = b.points(ctx, restarts); err != nil {
		return err
	}
	out.Chosen = j.Points.Chosen
	for _, nll := range j.Points.NLL {
		out.NLL = append(out.NLL, nll+scale)
	}
	out.Restarts, err = j.Points.Ensemble()
	return err
}

// anchor is the point that the prior is anchored at: the best restart or, without a search, model.init.
func (j *Job) anchor() []float64 {
	if j.Points != nil {
		return j.Points.Best()
	}
	return j.Init
}

// one makes the ensemble of a single network.
func (j *Job) one(theta []float64) (*bnn.Ensemble, error) {
	e, err := bnn.Combine(j.Net, []bnn.Island{{Theta: theta}}, bnn.Equal{})
	if err != nil {
		return nil, fmt.Errorf("an ensemble of one: %w", err)
	}
	return e, nil
}

// shrunk is what there is to say of an anchored posterior that has shrunk to its anchor, s = 0.
func (j *Job) shrunk(f finding.Finding) []finding.Finding {
	if j.Anchor.Point() {
		return []finding.Finding{f}
	}
	return nil
}
