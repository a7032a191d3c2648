package mcmc

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// Unadjusted is Hamiltonian dynamics without accept/reject (data-annealing-smc, eqs. 7–12): momenta p ~ N(0, I) are
// drawn anew, S leapfrogs of size h lead to (θ', p'), and there the particle stays. The error that accept/reject would
// correct goes into the weight,
//
//	log w += −ΔH + log π_k(θ) − log π_{k−1}(θ),   ΔH = H_k(θ', p') − H_k(θ, p),   H_k = −log π_k(θ) + p'p/2,
//
// which is eq. (12): its momentum densities are the kinetic parts of ΔH (package smc has the weighting). S = 1 is
// Langevin dynamics.
//
// Why is there no determinant? The proposal density of θ' is N(p; 0, I)·|dθ'/dp|⁻¹. The backward kernel leads from (θ', −p')
// to (θ, −p) and has the density N(−p'; 0, I)·|dθ/dp'|⁻¹. Eqs. (10) and (11) print both derivatives with respect to θ, but
// the change of variables is from momentum to position. The leapfrog map Φ is symplectic: with the blocks of its Jacobian
// ∂(θ', p')/∂(θ, p) = (A B; C D), its inverse has the blocks (D' −B'; −C' A') (primes: transposes). So dθ'/dp = B and, along
// the way back, dθ/dp' = −B': the same determinant but for the sign, and they cancel. The argument on the extended space
// needs even less, and holds where p ↦ θ' has no inverse: Φ, followed by a change of the momentum's sign, is an involution of
// volume 1, so π_k(θ')N(p')/π_k(θ)N(p) is the Radon–Nikodym derivative that an importance weight is, for every h and S.
//
// Mini-batch gradients with exact weights. Both properties of the leapfrog need a gradient field that stays the same during a
// trajectory and does not depend on where it begins, not one that is the gradient of log π: kicks p ↦ p + (h/2)g(θ) are
// shears for any g, with volume 1; drifts are shears; and the sequence of kicks and drifts is symmetric. With a MiniBatch of
// n, g is the gradient for n examples, drawn without replacement from the target's, scaled to their number, the same for
// every particle, independently of θ and p: given the draw, g is fixed and the argument above applies, while ΔH is taken with
// the exact densities. A trajectory then costs S+1 gradients of n examples and one value of all examples, which is less than
// S gradients of all examples if n is small. If a target has at most n examples, g is the gradient of the target, and costs
// more than without MiniBatch.
//
// A trajectory that begins or ends at an infinite or undefined energy has ΔH = +∞, weight 0: the particle is dead. It is put
// back to its start, so that θ stays finite; for a new batch its log-likelihood may be undefined there.
//
// A limitation: if the new likelihood is 0 at a particle, for example because a new block of examples is impossible there,
// the particle has −ΔH = +∞ and a change of target of −∞. Eq. (12) gives it a finite weight if the target is positive at θ',
// since log π_k(θ) cancels. This implementation lets the particle die, so the evidence is too low by the weight of such
// particles. Likelihoods that are positive everywhere are not affected.
type Unadjusted struct {
	Steps    int        `yaml:"steps"`                           // S, leapfrogs of a move; 0: 1
	Step     float64    `yaml:"step" words:"auto=-1,literal=-2"` // h, the step size: a number. Where a part of the parameters is learned also auto, the default there, 1/√N for N examples, or literal, 1/N
	Gradient *MiniBatch `yaml:"gradient,omitempty"`
}

// The steps by rule, for a model of N examples of which a part of the parameters is learned while the particles move
// (guided-open-horizon-smc, section 4, "Kernel scales"). AutoStep, the default there, is h = 1/√N: on a target of batches that are
// scaled to all N examples, the drift of a move is then half the gradient of the mean log-likelihood, whatever N. LiteralStep is
// h = 1/N, the paper's "LD scale 1/N" read as h: the drift is smaller by N, and particles hardly move.
const (
	AutoStep    = -1
	LiteralStep = -2
)

func (m Unadjusted) byRule() bool { return m.Step == AutoStep || m.Step == LiteralStep }

// size is h for a target.
func (m Unadjusted) size(t *Target) float64 {
	n := float64(t.Model.Examples())
	switch m.Step {
	case AutoStep:
		return 1 / math.Sqrt(n)
	case LiteralStep:
		return 1 / n
	}
	return m.Step
}

// MiniBatch is the use of mini-batches for the gradients of a trajectory. It cannot be used with a path that anneals examples
// in.
type MiniBatch struct {
	Batch int `yaml:"batch"` // n, examples
}

func (m Unadjusted) String() string {
	title := "unadjusted Langevin dynamics"
	if m.Steps > 1 {
		title = fmt.Sprintf("unadjusted HMC (%d leapfrogs)", m.Steps)
	}
	switch n := m.subsample(); n {
	case 0:
		return title
	case 1:
		return title + " by gradients of 1 example"
	default:
		return title + " by gradients of " + numeral.Grouped(strconv.Itoa(n)) + " examples"
	}
}

// Traits say that populations carry the gradient, unless trajectories use those of mini-batches. A step by rule is for N
// examples, to which targets of data annealing are not scaled.
func (m Unadjusted) Traits() Traits {
	n := m.subsample()
	t := Traits{Corrected: ByWeight, Needs: Needs{Gradient: n == 0}, Costs: m.Steps, Subsample: n}
	if m.byRule() {
		t.Learns = "auto and literal are for layers that are learned (learn): want a number here, as in {steps: 3, step: 0.002}"
	}
	return t
}

// subsample is n of the mini-batches; 0 where there are none.
func (m Unadjusted) subsample() int {
	if m.Gradient == nil {
		return 0
	}
	return m.Gradient.Batch
}

// Memory is the parameters and gradients of the particles on trajectories with mini-batch gradients.
func (m Unadjusted) Memory(particles, d int) (tuned, scratch int) {
	if m.subsample() > 0 {
		scratch = 2 * particles * d
	}
	return 1, scratch
}

// ForChains returns m unchanged: CheckForChains refuses the move.
func (m Unadjusted) ForChains() Move { return m }

// ForPopulation applies the default of 3 leapfrogs and, where something is learned, of the step.
func (m Unadjusted) ForPopulation(_ Mutations, learns bool) Move {
	def(&m.Steps, 3)
	if learns {
		def(&m.Step, AutoStep)
	}
	return m
}

// Check notes impossible settings.
func (m Unadjusted) Check(f *config.Faults) {
	f.If(m.Steps < 0, "steps", "want at least 1, have %d", m.Steps)
	f.If(m.Step == 0, "", "needs a step, as in {steps: 3, step: 0.002}: without accept or reject there is nothing to adapt it to")
	f.If(!(m.Step >= 0) && !m.byRule() || math.IsInf(m.Step, 0), "step", "want a number above 0, have %.12g", m.Step)
}

// Check notes impossible settings.
func (b MiniBatch) Check(f *config.Faults) {
	f.If(b.Batch == 0, "", "needs a batch, as in {batch: 500}")
	f.If(b.Batch < 0, "batch", "want at least 1, have %d", b.Batch)
}

// Tuning returns log h, which is not adapted.
func (m Unadjusted) Tuning(t *Target, _ int) ([]float64, error) {
	err := config.Check(m)
	if err == nil && m.subsample() > 0 && t.Annealed != nil {
		err = fmt.Errorf("mini-batch gradients of %d examples cannot be used where examples have different powers: leave them out, "+
			"or take a path that anneals no examples in", m.subsample())
	}
	if err != nil {
		return nil, fmt.Errorf("unadjusted dynamics: %w", err)
	}
	return []float64{rng.Log(m.size(t))}, nil
}

// Mutate is one move of every particle. Outcome.Probability is the acceptance probability that accept/reject would have.
func (m Unadjusted) Mutate(ctx context.Context, w *Work, t *Target, p *Population, _ []float64, now StepContext) (Outcome, error) {
	w.Fit(p)
	p.each(t.Pool, func(j int) { w.drawMomentum(p, j, now.Key, rng.Momentum) })
	q, steps := &w.Proposal, max(1, m.Steps)
	out := w.outcome
	out.Step = m.size(t)
	if m.Gradient == nil {
		if err := w.leapfrog(ctx, t, p, q, plain, out.Step, steps); err != nil {
			return Outcome{}, err
		}
		out.took(steps*t.Examples(), 0)
	} else {
		n, err := m.surrogate(ctx, w, t, p, now.Key)
		if err != nil {
			return Outcome{}, err
		}
		copy(q.Theta, w.surrogate.Theta)
		if err := t.Evaluate(ctx, q); err != nil {
			return Outcome{}, err
		}
		out.took((steps+1)*n, t.Examples())
	}
	p.each(t.Pool, func(j int) {
		energy := Kinetic(p.row(w.momentum, j)) - t.LogDensity(q, j)
		energy -= w.kinetic[j] - t.LogDensity(p, j)
		if !isFinite(energy) {
			energy = math.Inf(1)
			q.Set(j, p, j)
		}
		out.Energy[j], out.Probability[j] = energy, min(1, rng.Exp(-energy))
	})
	for _, energy := range out.Energy {
		if math.IsInf(energy, 1) {
			out.Divergent++
		}
	}
	*p, w.Proposal = w.Proposal, *p
	return out, nil
}

// surrogate follows Hamilton's equations with the gradients of a mini-batch, leaves the particles in w.surrogate, and returns
// the number of examples of the mini-batch.
func (m Unadjusted) surrogate(ctx context.Context, w *Work, t *Target, p *Population, key rng.Key) (int, error) {
	if w.surrogate.J != p.J || w.surrogate.D != p.D {
		w.surrogate = NewPopulation(p.J, p.D, Needs{Gradient: true})
	}
	field := *t
	key.Purpose = rng.Subset
	w.batch = key.Stream().Subset(w.batch, t.Examples(), m.Gradient.Batch)
	if t.Rows != nil {
		for i, at := range w.batch {
			w.batch[i] = t.Rows[at]
		}
	}
	field.Rows = w.batch
	field.Lambda = float64(t.Lambda * float64(t.Examples()) / float64(len(w.batch)))
	copy(w.surrogate.Theta, p.Theta)
	if err := field.Evaluate(ctx, &w.surrogate); err != nil {
		return 0, err
	}
	return len(w.batch), w.leapfrog(ctx, &field, &w.surrogate, &w.surrogate, plain, m.size(t), max(1, m.Steps))
}
