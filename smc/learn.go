package smc

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/nn"
)

// Learner moves ψ, the parameters that all particles share (mcmc.Partial): with it a Sampler is guided open-horizon SMC, GOHSMC. A Sampler lets it make one step at the end of every
// iteration k (guided-open-horizon-smc, section 3.2), up the gradient of the marginal likelihood by Fisher's identity,
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
	Rate float64 `yaml:"rate,nonzero"` // learning rate; default .01
	Rule O       `yaml:",inline"`
}

// Learners lists the learners that a config can name: one for each row of nn.Optimisers, with its name.
var Learners = config.Table[Learner]{
	{Name: "sgd", Part: By[nn.SGD]{}},
	{Name: "adam", Part: By[nn.Adam]{}},
	{Name: "adamw", Part: By[nn.AdamW]{}},
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
