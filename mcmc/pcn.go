package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// PCN is the preconditioned Crank–Nicolson move (Cotter, Roberts, Stuart, White 2013; scalable-bayesian-monte-carlo,
// section 3.2) for a Gaussian prior N(m, Σ):
//
//	θ' = m + √(1−b²)·(θ−m) + b·ξ,  ξ ~ N(0, Σ),   accepted with probability min(1, exp(λ(l(θ') − l(θ))))
//
// The proposal is reversible for the prior, so only the likelihood decides. It needs no gradient: one value a move.
// b is adapted after every move by logit b += .2·(A − target), where A is the mean acceptance probability; it starts at b =
// .2.
type PCN struct {
	Step   float64 `yaml:"step" words:"adapted=0"` // b, fixed, in (0, 1]; 0: adapted
	Accept float64 `yaml:"accept,omitempty"`       // acceptance to adapt to; 0: .25
	Freeze float64 `yaml:"-"`                      // share of the run's budget after which b is frozen, for chains; 0: never

	Mutations Mutations `yaml:"mutations,omitempty"` // number of moves in an iteration
}

func (PCN) String() string { return "pCN" }

// Invariant is true.
func (PCN) Invariant() bool { return true }

// Needs is nothing.
func (PCN) Needs() Needs { return Needs{} }

// Repeats is Mutations.
func (m PCN) Repeats() Mutations { return m.Mutations }

// Aim is Accept, or its default, if b is adapted.
func (m PCN) Aim() float64 {
	switch {
	case m.Step != 0:
		return 0
	case m.Accept != 0:
		return m.Accept
	}
	return 0.25
}

// Subsample is 0.
func (PCN) Subsample() int { return 0 }

// Scratch is 0.
func (PCN) Scratch() int { return 0 }

// ForChains adapts b to acceptance .25 in the first half of a run.
func (m PCN) ForChains() Move {
	def(&m.Accept, m.Aim())
	m.Freeze = 0.5
	return m
}

// ForPopulation adapts b to acceptance .25, and makes 10 mutations.
func (m PCN) ForPopulation() Move {
	def(&m.Accept, m.Aim())
	m.Mutations = m.Mutations.forPopulation()
	return m
}

// CheckForChains refuses mutations.
func (m PCN) CheckForChains(f *config.Faults) { checkNoMutations(f, m.Mutations) }

// Check notes impossible settings.
func (m PCN) Check(f *config.Faults) {
	f.If(!(m.Step >= 0 && m.Step <= 1), "step", "want a number above 0, at most 1, have %.12g", m.Step)
	f.If(!(m.Accept >= 0 && m.Accept < 1), "accept", "want a number above 0 and below 1, have %.12g", m.Accept)
	f.If(!(m.Freeze >= 0 && m.Freeze <= 1), "", "Freeze %v is not between 0 and 1", m.Freeze)
}

// Evaluations is 1.
func (PCN) Evaluations() int { return 1 }

// Tuning returns logit b.
func (m PCN) Tuning(t *Target) ([]float64, error) {
	if _, ok := t.Prior.(GaussianPrior); !ok {
		return nil, errors.New("pCN: needs a Gaussian prior; take HMC")
	}
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("pCN: %w", err)
	}
	b := m.Step
	if b == 0 {
		b = 0.2
	}
	return []float64{rng.Log(b) - rng.Log(1-b)}, nil // +Inf for b = 1, independent draws from the prior
}

// Mutate is one move of every particle.
func (m PCN) Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now StepContext) (Outcome, error) {
	w.Fit(p)
	prior, q := t.Prior.(GaussianPrior), &w.Proposal
	b := 1 / (1 + rng.Exp(-tuning[0]))
	keep := math.Sqrt(1 - float64(b*b))
	p.each(t.Pool, func(j int) {
		k := now.Key
		k.Purpose, k.Particle = rng.Proposal, j
		to, from := q.row(q.Theta, j), p.row(p.Theta, j)
		k.Stream().Normals(to)
		for i, xi := range to {
			centre := prior.Mean(i)
			to[i] = centre + float64(keep*(from[i]-centre)) + float64(b*prior.SD(i)*xi)
		}
		q.LP[j] = prior.LogDensity(to, nil)
	})
	if err := t.logLik(ctx, q); err != nil {
		return Outcome{}, err
	}
	for j := range p.J {
		w.outcome.Energy[j] = p.LogLik(t.Lambda, t.Mu, j) - q.LogLik(t.Lambda, t.Mu, j)
	}
	out := w.metropolis(t.Pool, p, now.Key, func(j int) bool { return isFinite(q.LogLik(t.Lambda, t.Mu, j)) })
	out.Step = b
	out.took(0, t.Examples())
	if m.Step == 0 && (m.Freeze == 0 || now.Progress < m.Freeze) {
		tuning[0] += float64(0.2 * (mean(out.Probability) - m.Aim()))
	}
	return out, nil
}
