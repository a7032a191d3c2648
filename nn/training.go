package nn

import (
	"context"

	"github.com/starling-smc/starling/data"
)

// Training is the model of the examples that a network is fitted to. Weights of particles and gradients of moves come from a Training,
// predictions from a Model of any examples. Only NewTraining makes one, from the training part of a problem: a model of validation or
// test examples does not compile in its place.
type Training struct{ *model }

// model keeps other packages from making a Training of a Model.
type model = Model

// NewTraining joins a network and the training examples of a problem, as NewModel does.
func NewTraining(net *Net, p *data.Problem, pool *Pool) (Training, error) {
	m, err := NewModel(net, p.Train, pool)
	if err != nil {
		return Training{}, err
	}
	m.augment = p.Augment
	return Training{m}, nil
}

// At is Model.At: the examples stay those that train.
func (t Training) At(psi []float64) Training { return Training{t.model.At(psi)} }

// With is Model.With.
func (t Training) With(net *Net) Training { return Training{t.model.With(net)} }

// Augments reports whether LogLikAugmented sees other images than LogLik.
func (t Training) Augments() bool { return t.augment != nil }

// LogLikAugmented is LogLik of images that are changed, by changes that seed names. It is for networks without dropout.
func (t Training) LogLikAugmented(ctx context.Context, seed uint64, rows []int32, theta, ll, grad []float64) error {
	return t.LogLikSeen(ctx, View{Seed: seed}, rows, theta, ll, grad)
}
