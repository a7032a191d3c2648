package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// PCN is the preconditioned Crank–Nicolson move (Cotter, Roberts, Stuart, White 2013; scalable-bayesian-monte-carlo,
// section 3.2) for a Gaussian prior N(m, Σ):
//
//	θ' = m + √(1−b²)·(θ−m) + b·ξ,  ξ ~ N(0, Σ),   accepted with probability min(1, exp(λ(l(θ') − l(θ))))
//
// The proposal is reversible for the prior, so only the likelihood decides. It needs no gradient: one value a move.
// b follows every move, logit b += .2·(A − target) with A the mean of the acceptance probabilities, from b = .2.
type PCN struct {
	Step   float64 // b, fixed, in (0, 1]; 0: adapted
	Accept float64 // acceptance to adapt to; 0: .25
	Freeze float64 // share of the run's budget after which b stays, for chains; 0: never
}

var _ Move = PCN{}

// NeedsGradient is false.
func (PCN) NeedsGradient() bool { return false }

// Evaluations is 1.
func (PCN) Evaluations() int { return 1 }

// Tuning returns logit b.
func (m PCN) Tuning(t *Target) ([]float64, error) {
	if _, ok := t.Prior.(GaussianPrior); !ok {
		return nil, errors.New("pCN: needs a Gaussian prior; take HMC")
	}
	if !(m.Step >= 0 && m.Step <= 1) || !(m.Accept >= 0 && m.Accept < 1) || !(m.Freeze >= 0 && m.Freeze <= 1) {
		return nil, fmt.Errorf("pCN: step %v, acceptance %v and freeze %v must lie between 0 and 1", m.Step, m.Accept, m.Freeze)
	}
	b := m.Step
	if b == 0 {
		b = 0.2
	}
	return []float64{rng.Log(b) - rng.Log(1-b)}, nil // +Inf for b = 1, independent draws from the prior
}

// Mutate is one move of every particle.
func (m PCN) Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now Moment) (Outcome, error) {
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
	out.Step, out.Values = b, t.Examples()
	if m.Step == 0 && (m.Freeze == 0 || now.Progress < m.Freeze) {
		target := m.Accept
		if target == 0 {
			target = 0.25
		}
		tuning[0] += float64(0.2 * (mean(out.Probability) - target))
	}
	return out, nil
}
