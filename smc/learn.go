package smc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Learner moves ψ, the parameters that all particles share (mcmc.Partial). A Sampler lets it make one step at the end of every
// iteration k (guided-open-horizon-smc, section 3.2, lines 8–10), up the gradient of the marginal likelihood by Fisher's identity
// (7),
//
//	g = Σ_j W_j ∇_ψ (1/n) Σ_{i ∈ B_k} log p(y_i | x_i, θ_j, ψ_{k−1}),
//
// with the particles θ and the weights W after the move, and the n examples B_k of the iteration's own target. The paper has N/n in
// place of 1/n. The constant N makes no difference to Adam, but for its ε. The rate of SGD is then one for a mean over
// examples, as elsewhere, and does not depend on how many there are.
type Learner interface {
	// String is the title, as in "Adam, rate 0.01".
	String() string
	// Step changes psi in place by one step down grad, and advances m.
	Step(m *nn.Moments, psi, grad []float64)
}

// By is a Learner that follows an optimiser's rule.
type By[O nn.Optimiser] struct {
	Rate float64 `yaml:"rate,nonzero"` // must be set, by default .01 in a config
	Rule O       `yaml:",inline"`
}

// Learners lists the learners that a config can name.
var Learners = config.Table[Learner]{
	{Name: "adam", Part: By[nn.Adam]{}},
	{Name: "adamw", Part: By[nn.AdamW]{}},
	{Name: "sgd", Part: By[nn.SGD]{}},
}

func (b By[O]) String() string { return fmt.Sprintf("%v, rate %v", b.Rule, b.Rate) }

// Defaults sets the rate.
func (b *By[O]) Defaults() {
	if b.Rate == 0 {
		b.Rate = 0.01
	}
}

// Check notes impossible settings.
func (b By[O]) Check(f *config.Faults) {
	f.If(!(b.Rate > 0) || math.IsInf(b.Rate, 0), "rate", "want a number above 0, as in {rate: 0.01}, have %.12g", b.Rate)
}

// Step implements Learner.
func (b By[O]) Step(m *nn.Moments, psi, grad []float64) { b.Rule.Step(m, psi, grad, b.Rate) }

// learned is the Model if it has parameters that particles share, else nil.
func (s *Sampler) learned() mcmc.Partial {
	if model, ok := s.Model.(mcmc.Partial); ok && model.Learned() > 0 {
		return model
	}
	return nil
}

// model is the Model at the state's ψ. ψ moves, so nobody keeps what it returns beyond an iteration.
func (s *Sampler) model(st *State) mcmc.Model {
	if model := s.learned(); model != nil {
		return model.At(st.Psi)
	}
	return s.Model
}

// stale reports whether ψ has moved since the particles were evaluated. It moves at the end of every iteration that learns.
func (st *State) stale() bool { return st.Moments.Steps > 0 }

// learn moves ψ. The state holds the particles after the move, and their weights.
func (s *Sampler) learn(ctx context.Context, st *State, target *mcmc.Target) error {
	model := s.learned()
	if s.Learn == nil || model == nil {
		return nil
	}
	weights.Exp(st.LogW, s.scratch)
	if len(s.ascent) != len(st.Psi) {
		s.ascent = make([]float64, len(st.Psi))
	}
	if err := model.LearnedGradient(ctx, target.Rows, st.Psi, st.Theta, s.scratch, s.ascent); err != nil {
		return err
	}
	n := target.Examples()
	st.Gradients += n * st.J
	for i, g := range s.ascent {
		s.ascent[i] = -g / float64(n) // an optimiser descends
	}
	s.Learn.Step(&st.Moments, st.Psi, s.ascent)
	for i, x := range st.Psi {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("the learned parameter %s became %v: take a smaller rate in learn (%v)", model.LearnedName(i), x, s.Learn)
		}
	}
	return nil
}

// checkLearn notes what does not go with parameters that all particles share.
func (s *Sampler) checkLearn(f *faults) {
	learned := 0
	if model := s.learned(); model != nil {
		learned = model.Learned()
	}
	f.add(len(s.Psi) != learned, "sampler: model of %d learned parameters and a start of them (Psi) of %d numbers", learned, len(s.Psi))
	for i, x := range s.Psi {
		if learned == len(s.Psi) && (math.IsNaN(x) || math.IsInf(x, 0)) {
			f.add(true, "sampler: the learned parameter %s starts at %v: want a finite number", s.learned().LearnedName(i), x)
			break
		}
	}
	if s.Learn == nil {
		return
	}
	f.part("learn", s.Learn)
	f.add(learned == 0, "learn: the model has no parameters that all particles share: leave Learn out")
	f.add(s.Path.AnnealsIn(), "learn: the path keeps the likelihood of examples that are annealed in, but that changes with the learned parameters: "+
		"take another path, or leave Learn out")
}

// checkPsi refuses a state whose ψ does not belong to the sampler.
func (s *Sampler) checkPsi(st *State) error {
	if len(st.Psi) != len(s.Psi) {
		return fmt.Errorf("state of %d learned parameters does not belong to a sampler of %d", len(st.Psi), len(s.Psi))
	}
	if s.Learn == nil && st.stale() {
		return errors.New("state whose learned parameters have moved does not belong to a sampler without Learn")
	}
	return nil
}
