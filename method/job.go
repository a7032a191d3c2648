package method

import (
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
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
