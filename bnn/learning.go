package bnn

import (
	"context"

	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Learning is a network's model whose parameters ψ are learned while particles move. Frozen parameters stay those of the model.
type Learning struct{ nn.Training }

var _ mcmc.Partial = Learning{}

// At returns the model at ψ.
func (l Learning) At(psi []float64) mcmc.Model { return Learning{l.Training.At(psi)} }

// LearnedGradient sets grad to the weighted sum over the particles of the gradients of ψ.
func (l Learning) LearnedGradient(ctx context.Context, rows []int32, psi, theta, weights, grad []float64) error {
	return l.Training.At(psi).LearnedGradient(ctx, rows, theta, weights, grad)
}

// LearnedName names ψ_i.
func (l Learning) LearnedName(i int) string { return l.Net().SharedName(i) }
