// Package sbc asks whether a method draws from the posterior, by simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and Gelman
// 2018, "Validating Bayesian inference algorithms with simulation-based calibration"). It draws parameters from the prior and targets from the
// likelihood at the run's own inputs, fits them, and ranks the parameters among the draws of the fit:
//
//	θ* ~ π₀,   y ~ p(· | x, θ*),   θ_1 … θ_L ~ q(· | y),   u = rank of f(θ*) among f(θ_1) … f(θ_L).
//
// If q is the posterior, θ* and the θ_l are exchangeable given y, and u is uniform on [0, 1] for any f, also for one that depends on y. The
// ranks of many fits are compared with the uniform law (uq.Uniform).
//
// Ranked are quantities that no symmetry of a network changes, such as an order of its units: the log-likelihood, the log-prior, and predictions
// at up to five of the training inputs. Ranks of parameters alone would not tell the posterior from the prior: a sampler that ignores the data
// has uniform ones (Modrák, Moon, Kim, Bürkner, Huurre, Faltejsková, Gelman and Vehtari 2023). The log-likelihood tells it.
//
// Check has the parts of the work, for internal/runs, and Summarise what their lines say together.
package sbc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// Fewest is the smallest number of fits whose ranks can say anything.
const Fewest = 20

// Most is the largest number of fits.
const Most = 10_000

// probes is the largest number of inputs to predict at.
const probes = 5

// Check is a method that is checked by a number of fits.
type Check struct {
	Job  method.Job // of the run's own examples, whose inputs are used. Seed decides everything random
	Way  method.Method
	Fits int

	Probes []int32 // the training examples at whose inputs predictions are ranked

	at *nn.Model // the network at these inputs
}

// New checks whether the network can be checked, and chooses the inputs to predict at.
func New(job method.Job, way method.Method, fits int) (*Check, error) {
	c := &Check{Job: job, Way: way, Fits: fits}
	if fits < Fewest || fits > Most {
		return nil, fmt.Errorf("simulation-based calibration takes %d to %d fits, not %d", Fewest, Most, fits)
	}
	n := job.Data.Train.Len()
	c.Probes = c.stream(0, choice).Subset(nil, n, min(probes, n))
	var err error
	c.at, err = nn.NewModel(job.Net, job.Data.Train.Select("inputs to predict at", c.Probes), job.Pool)
	return c, err
}

// What the streams of a fit are for.
const (
	parameters = iota
	seeds
	ranks
	choice // of the inputs, once
)

func (c *Check) stream(fit, of int) *rng.Stream {
	return rng.Key{Seed: c.Job.Seed, Purpose: rng.Simulate, Iteration: fit, Mutation: of}.Stream()
}

// Quantities names what is ranked, in the order of Line.Ranks.
func (c *Check) Quantities() []string {
	names := []string{"log_likelihood", "log_prior"}
	for i := range c.Probes {
		names = append(names, fmt.Sprint("prediction_", i+1))
	}
	return names
}

// Parts are the fits, a part of one step each, which leaves a Line in the trace.
func (c *Check) Parts() (parts []runs.Part) {
	for i := range c.Fits {
		parts = append(parts, &fit{check: c, number: i})
	}
	return parts
}

// simulate draws parameters from the prior, and targets of the examples that a fit learns from or is stopped by, from their likelihood.
func (c *Check) simulate(ctx context.Context, i int) (truth *bnn.Ensemble, job method.Job, err error) {
	job = c.Job
	theta := make([]float64, job.Net.Dim())
	job.Prior.Sample(c.stream(i, parameters), theta)
	if truth, err = bnn.Combine(job.Net, []bnn.Island{{Theta: theta}}, bnn.Equal{}); err != nil {
		return nil, job, err
	}
	s := c.stream(i, seeds)
	by := bnn.Draws{N: 1, Seed: s.Uint64()}
	job.Seed = s.Uint64()
	p := *job.Data
	p.Test, p.Calibrate, p.Unshared, p.Groups, p.Foreign = nil, nil, nil, nil, nil
	for _, set := range []**data.Set{&p.Train, &p.Validate} {
		if *set == nil {
			continue
		}
		draws, err := truth.Draw(ctx, *set, by, job.Pool)
		if err != nil {
			return nil, job, err
		}
		by.First += (*set).Len()
		if *set, err = withTargets(*set, draws); err != nil {
			return nil, job, fmt.Errorf("fit %d: %w", i+1, err)
		}
	}
	job.Data, job.Points, job.Run, job.Files, job.Tell = &p, nil, new(runs.Run), false, func(method.Status) {}
	job.Model, err = nn.NewTraining(job.Net, &p, job.Pool)
	return truth, job, err
}

// withTargets returns a set with the same inputs and other targets.
func withTargets(set *data.Set, draws []float64) (*data.Set, error) {
	bad := errors.New("the likelihood cannot be drawn from: a draw of the prior is a network whose predictions overflow; take a narrower prior")
	with := *set
	if set.Labels != nil {
		with.Labels = make([]int32, len(draws))
		for i, class := range draws {
			if class < 0 {
				return nil, bad
			}
			with.Labels[i] = int32(class)
		}
		with.Classes = max(with.Classes, int(maximum(draws))+1)
		return &with, nil
	}
	with.Values = make([]float32, len(draws))
	for i, y := range draws {
		with.Values[i] = float32(y)
		if v := float64(with.Values[i]); v-v != 0 {
			return nil, bad
		}
	}
	return &with, nil
}

func maximum(x []float64) float64 {
	most := math.Inf(-1)
	for _, v := range x {
		most = max(most, v)
	}
	return most
}
