package method

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// objective is the loss that point estimates minimise, which Search states, on one network and its training examples. An optimiser that
// decays (nn.Optimiser) sees it without the prior.
type objective struct {
	train nn.Training
	prior mcmc.Prior
	batch int // examples of a step
}

// buffers is the working space of an objective.
type buffers struct {
	ll    [1]float64
	grad  []float64
	prior []float64 // gradient of the log-prior; 0 for an optimiser that decays
	order []int32
}

func (o *objective) newBuffers() buffers {
	dim := o.train.Dim()
	return buffers{grad: make([]float64, dim), prior: make([]float64, dim), order: make([]int32, o.train.Examples())}
}

// pass makes one epoch: a step of the optimiser for each mini-batch, with dropout if the network has such layers, of images that are changed if
// the data say so. key gives the order of the examples, and what the steps see of them. nll is the mean NLL of the examples, each before the step of its own batch.
func (o *objective) pass(ctx context.Context, w *buffers, key rng.Key, by nn.Optimiser, m *nn.Moments, theta []float64, rate float64) (nll float64, err error) {
	key.Stream().Perm(w.order)
	view := nn.View{Seed: key.Seed, Restart: key.Particle, Epoch: key.Iteration}
	perN := 1 / float64(len(w.order))
	for batch := range data.Batches(w.order, o.batch) {
		if err := o.train.LogLikSeen(ctx, view, batch, theta, w.ll[:], w.grad); err != nil {
			return 0, err
		}
		if err := finite("log-likelihood of a batch", w.ll[0], rate); err != nil {
			return 0, err
		}
		nll -= w.ll[0]
		if !by.Decays() {
			o.prior.LogDensity(theta, w.prior)
		}
		perB := 1 / float64(len(batch))
		for i, g := range w.prior {
			w.grad[i] = -(float64(perB*w.grad[i]) + float64(perN*g))
		}
		by.Step(m, theta, w.grad, rate)
	}
	return nll / float64(len(w.order)), nil
}

// finite refuses a log-likelihood that is NaN or infinite, which too large a rate leads to: the error is a *lossError.
func finite(what string, ll, rate float64) error {
	if math.IsNaN(ll) || math.IsInf(ll, 0) {
		return &lossError{what, ll, rate}
	}
	return nil
}

// lossError is the error of a log-likelihood that is not finite after steps of a rate.
type lossError struct {
	what     string
	ll, rate float64
}

func (e *lossError) Error() string {
	return fmt.Sprintf("the %s is %v; try a rate below %v", e.what, e.ll, e.rate)
}
