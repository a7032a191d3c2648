package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// Epoch is an epoch of mini-batch Hamiltonian dynamics without friction, noise, or accept/reject, the move of SMC-SGHMC
// (smc-sghmc-ensembles, section 2.1; its Algorithm 1 with the signs corrected). A random permutation of the N examples is cut into S = ⌈N/n⌉ mini-batches b_1…b_S of n, the last
// of which may be shorter. With the score of a batch of its own size |b|
//
//	s_b(θ) = λ (N/|b|) Σ_{i ∈ b} ∇log p(y_i | x_i, θ) + ∇log p(θ)
//
// and momenta p ~ N(0, I) that are drawn anew:
//
//	p ← p + h/2 s_{b_1}(θ)
//	for t = 1…S:   θ ← θ + h p;   p ← p + h s_{b_{t+1}}(θ)  if t < S
//	p ← p + h/2 s_{b_S}(θ)
//
// So b_1 counts half, b_S one and a half times. A move costs S+1 gradients of a mini-batch and one value of all examples. Where S = 1
// it is a leapfrog of the target.
//
// Outcome.Energy is ΔH of one energy, that of all examples, H = −log π(θ) + p·p/2, and minus ΔH is an exact weight (Momentum of package smc)
// although every kick has another field. A kick p ↦ p + c·s_b(θ) is a shear for any field, and so is a drift: their product Φ has volume 1
// and is undone by the same list backwards. Batches are drawn without looking at θ and p. So the backward kernel may draw the same list with
// the same probability, and undo it from (θ', p') with p' ~ N(0, I): the probabilities of the list cancel, and the ratio of the densities at
// both ends remains, as for any shear map of volume 1. Mini-batches make |ΔH| large where they are small, and then such weights leave few
// particles; Bootstrap and Equal do not look at ΔH.
//
// Where images are augmented (Augmented), the scores are those of images that are changed, each in one way throughout a trajectory: by a seed
// that is drawn for all particles of an iteration or, where each has an order of its own, for each. Every kick is still a shear, whose
// field is drawn without looking at θ and p, and H is that of the images as they are.
//
// A trajectory that begins or ends at an infinite or undefined energy has ΔH = +∞, weight 0. The particle is put back to its start, as by
// Unadjusted. No finite ΔH counts as divergent: mini-batches make it large in healthy runs. Trajectories that run away to finite energies
// are told by what they lead to (package method).
type Epoch struct {
	Batch int     `yaml:"batch,nonzero"` // n, must be set; at most the examples
	Step  float64 `yaml:"step,nonzero"`  // h, must be set
	Order string  `yaml:"order"`         // of the mini-batches: shared, the same for all particles of an iteration, or own; empty: shared
}

// The orders of mini-batches.
const (
	sharedOrder = "shared"
	ownOrder    = "own"
)

func (m Epoch) String() string {
	return "SGHMC epochs without noise (batches of " + numeral.Grouped(strconv.Itoa(m.Batch)) + ")"
}

// Traits say that gradients may be augmented, and that a trajectory does not begin with a gradient that populations carry, but with that of another mini-batch than the last one's.
// Mini-batches are the move itself, and do not save gradients of another one: an epoch of them is one evaluation.
func (Epoch) Traits() Traits { return Traits{Corrected: ByWeight, Blind: true, Augments: true} }

// Memory is the gradient of the particles that move at the same time; their momenta lie where other moves have those of all.
func (m Epoch) Memory(particles, d int) (tuned, scratch int) { return 0, m.together(particles, d) * d }

// ForChains returns m unchanged: CheckForChains refuses the move.
func (m Epoch) ForChains() Move { return m }

// ForPopulation applies the default order.
func (m Epoch) ForPopulation(Mutations, bool) Move {
	def(&m.Order, sharedOrder)
	return m
}

// CheckWith refuses batches above the examples.
func (m Epoch) CheckWith(examples, _ int, f *config.Faults) {
	f.If(m.Batch > examples, "batch", "want at most the %d training examples, have %d: with %d a move is one leapfrog", examples, m.Batch, examples)
}

// Reporter is a Move that has something to say of a run. examples is the number of examples that an iteration sees.
type Reporter interface {
	Findings(examples int) []finding.Finding
}

var _ Reporter = Epoch{}

// Findings says where a move is one leapfrog.
func (m Epoch) Findings(examples int) []finding.Finding {
	if m.Batch < examples {
		return nil
	}
	return []finding.Finding{finding.Of(finding.OneBatch{Examples: examples})}
}

// Check notes impossible settings.
func (m Epoch) Check(f *config.Faults) {
	f.If(m.Batch == 0, "batch", "needs a batch, as in {step: 2e-5, batch: 500}")
	f.If(m.Batch < 0, "batch", "want at least 1, have %d", m.Batch)
	f.If(m.Step == 0, "step", "needs a step, as in {step: 2e-5, batch: 500}: without accept or reject there is nothing to adapt it to")
	f.If(!(m.Step >= 0) || math.IsInf(m.Step, 0), "step", "want a number above 0, have %.12g", m.Step)
	if m.Order != "" {
		f.OneOf("order", m.Order, sharedOrder, ownOrder)
	}
}

// Tuning is nothing.
func (m Epoch) Tuning(t *Target, _ int) ([]float64, error) {
	err := config.Check(m)
	if err == nil && t.Annealed != nil {
		err = errors.New("mini-batches cannot be used where examples have different powers: take a path that anneals no examples in")
	}
	if err != nil {
		return nil, fmt.Errorf("SGHMC epochs: %w", err)
	}
	return nil, nil
}

// manyNumbers is the number of parameters that move together. Particles with more walk one after another, so that their momenta and
// gradients stay in the cache and are not in memory for all of them. The bytes are the same either way.
const manyNumbers = 1 << 16

// together is the number of particles that move at the same time.
func (m Epoch) together(particles, d int) int {
	if m.Order == ownOrder {
		return 1
	}
	return max(1, min(particles, manyNumbers/d))
}

// Mutate is one epoch of every particle. Outcome.Probability is the acceptance probability that accept/reject would have.
func (m Epoch) Mutate(ctx context.Context, w *Work, t *Target, p *Population, _ []float64, now StepContext) (Outcome, error) {
	return m.mutate(ctx, w, t, p, now, m.together(p.J, p.D))
}

// mutate is Mutate of a few particles at a time.
func (m Epoch) mutate(ctx context.Context, w *Work, t *Target, p *Population, now StepContext, few int) (Outcome, error) {
	w.Shape(p)
	q, out := &w.Proposal, w.outcome
	own, _ := w.own.(*epochWork)
	if own == nil || len(own.momentum) != few*p.D {
		own = &epochWork{momentum: make([]float64, few*p.D), gradient: make([]float64, few*p.D), ll: make([]float64, few)}
		w.own = own
	}
	copy(q.Theta, p.Theta)
	spent := 0
	for first := 0; first < p.J; first += few {
		n := min(few, p.J-first)
		if first == 0 || m.Order == ownOrder {
			w.batch = m.order(w.batch, t, now.Key, first)
			own.logLik = m.seen(t, now.Key, first)
		}
		momentum := own.momentum[:n*p.D]
		for j := range n {
			key := now.Key
			key.Purpose, key.Particle = rng.Momentum, first+j
			one := momentum[j*p.D : (j+1)*p.D]
			key.Stream().Normals(one)
			out.Energy[first+j] = -Kinetic(one)
		}
		batches := cutBatches(w.batch, m.Batch)
		if err := m.trajectory(ctx, w, t, batches, q.Theta[first*p.D:(first+n)*p.D], momentum, own); err != nil {
			return Outcome{}, err
		}
		spent = t.Examples() + len(batches[len(batches)-1])
		for j := range n {
			out.Energy[first+j] += Kinetic(momentum[j*p.D : (j+1)*p.D])
		}
	}
	if err := t.Evaluate(ctx, q); err != nil {
		return Outcome{}, err
	}
	for j := range out.Energy {
		energy := out.Energy[j] - (t.LogDensity(q, j) - t.LogDensity(p, j))
		if !isFinite(energy) {
			energy = math.Inf(1)
			q.Set(j, p, j)
			out.Divergent++
		}
		out.Energy[j], out.Probability[j] = energy, min(1, rng.Exp(-energy))
	}
	out.Step, out.Leapfrogs = m.Step, (t.Examples()-1)/m.Batch+1
	out.took(spent, t.Examples())
	*p, w.Proposal = w.Proposal, *p
	return out, nil
}

// epochWork is the scratch memory of the particles that move at the same time, and what gives their gradients.
type epochWork struct {
	momentum, gradient []float64 // D numbers each
	ll                 []float64
	logLik             func(ctx context.Context, rows []int32, theta, ll, grad []float64) error
}

// seen gives the gradients of a trajectory: those of the model, or of changed examples if it augments. Changes are one draw for all particles, or
// one of particle j's own, as the order is.
func (m Epoch) seen(t *Target, key rng.Key, j int) func(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	model, ok := t.Model.(Augmented)
	if !ok || !model.Augments() {
		return t.Model.LogLik
	}
	key.Purpose = rng.View
	if m.Order == ownOrder {
		key.Particle = j
	}
	seed := key.Stream().Uint64()
	return func(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
		return model.LogLikAugmented(ctx, seed, rows, theta, ll, grad)
	}
}

// order is a permutation of the target's examples: one for all particles, or one of particle j's own.
func (m Epoch) order(to []int32, t *Target, key rng.Key, j int) []int32 {
	key.Purpose = rng.Subset
	if m.Order == ownOrder {
		key.Particle = j
	}
	n := t.Examples()
	to = key.Stream().Subset(to, n, n)
	if t.Rows != nil {
		for i, at := range to {
			to[i] = t.Rows[at]
		}
	}
	return to
}

// cutBatches cuts an order of examples into batches of n, the last of which may be shorter.
func cutBatches(order []int32, n int) (batches [][]int32) {
	for len(order) > n {
		batches, order = append(batches, order[:n]), order[n:]
	}
	return append(batches, order)
}

// trajectory moves some particles, whose positions and momenta it changes, through the batches.
func (m Epoch) trajectory(ctx context.Context, w *Work, t *Target, batches [][]int32, theta, momentum []float64, own *epochWork) error {
	if err := w.kickBy(ctx, t, batches[0], 0.5*m.Step, theta, momentum, own); err != nil {
		return err
	}
	for i := range batches {
		for k, v := range momentum {
			theta[k] += float64(m.Step * v)
		}
		next, h := i+1, m.Step
		if next == len(batches) {
			next, h = i, 0.5*m.Step
		}
		if err := w.kickBy(ctx, t, batches[next], h, theta, momentum, own); err != nil {
			return err
		}
	}
	return nil
}

// kickBy adds h times the score of a batch to the momenta of some particles.
func (w *Work) kickBy(ctx context.Context, t *Target, rows []int32, h float64, theta, momentum []float64, own *epochWork) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := len(theta) / w.Proposal.D
	if err := own.logLik(ctx, rows, theta, own.ll[:n], own.gradient[:len(theta)]); err != nil {
		return err
	}
	scale := float64(t.Lambda * float64(t.Examples()) / float64(len(rows)))
	w.alongside(t.Pool, n, func(j int, x []float64) {
		at := j * len(x)
		t.Prior.LogDensity(theta[at:at+len(x)], x)
		for i, g := range own.gradient[at : at+len(x)] {
			momentum[at+i] += float64(h * (float64(scale*g) + x[i]))
		}
	})
	return nil
}
