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
// b is found by trials when a stage begins (find.go). Then a population adapts it after every move by logit b += .2·(A − aim), where
// A is the mean acceptance probability. Chains adapt it by dual averaging in their warm-up, and then take its average.
type PCN struct {
	Step   float64 `yaml:"step" words:"adapted=0"` // b, fixed, in (0, 1]; 0: adapted
	Accept float64 `yaml:"accept,omitempty"`       // acceptance to adapt to; 0: .25

	Mutations Mutations `yaml:"mutations,omitempty"` // number of moves in an iteration
}

func (PCN) String() string { return "pCN" }

// Traits say that proposals are draws of the prior, shrunk.
func (m PCN) Traits() Traits { return Traits{Gaussian: true, Repeats: m.Mutations, Aim: m.aim()} }

// aim is Accept, or its default, if b is adapted.
func (m PCN) aim() float64 {
	switch {
	case m.Step != 0:
		return 0
	case m.Accept != 0:
		return m.Accept
	}
	return 0.25
}

// Memory is what dual averaging keeps, and the copies of particles that trials move: three vectors each.
func (m PCN) Memory(particles, d int) (tuned, scratch int) {
	if m.Step == 0 {
		scratch = 3 * copiesOf(particles, false) * d
	}
	return averagingNumbers, scratch
}

// ForChains adapts b to acceptance .25.
func (m PCN) ForChains() Move {
	def(&m.Accept, m.aim())
	return m
}

// ForPopulation adapts b to acceptance .25.
func (m PCN) ForPopulation(repeats Mutations, _ bool) Move {
	def(&m.Accept, m.aim())
	def(&m.Mutations, repeats)
	m.Mutations.Defaults()
	return m
}

// Check notes impossible settings.
func (m PCN) Check(f *config.Faults) {
	f.If(!(m.Step >= 0 && m.Step <= 1), "step", "want a number above 0, at most 1, have %.12g", m.Step)
	f.If(!(m.Accept >= 0 && m.Accept < 1), "accept", "want a number above 0 and below 1, have %.12g", m.Accept)
}

// Tuning returns the numbers of dual averaging, for logit b.
func (m PCN) Tuning(t *Target, _ int) ([]float64, error) {
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
	tuning := make([]float64, averagingNumbers)
	logit := rng.Log(b) - rng.Log(1-b) // +Inf for b = 1, independent draws from the prior
	dualAveraging(tuning).restart(logit, logit)
	return tuning, nil
}

// Begin finds b.
func (m PCN) Begin(ctx context.Context, w *Work, t *Target, p *Population, weights, tuning []float64, now StepContext) (Trials, error) {
	var trials Trials
	if m.Step != 0 {
		return trials, nil
	}
	trial := w.copies(p, weights, now)
	key := now.Key
	key.Purpose = rng.Search
	most := mostTrials
	if now.Left > 0 {
		most = min(most, int(float64(now.Left*p.J)*trialShare)/trial.J)
	}
	best, err := search(tuning[logStep], m.aim(), most, func(float64) bool { return false }, func(logit float64) (float64, error) {
		if err := m.propose(ctx, w.trials, t, &trial, logit, key); err != nil {
			return 0, err
		}
		trials.Values += trial.J * t.Examples()
		sum := 0.0
		for j := range trial.J {
			if energy := w.trials.outcome.Energy[j]; !math.IsNaN(energy) {
				sum += min(1, rng.Exp(-energy))
			}
		}
		return sum / float64(trial.J), nil
	})
	if err == nil {
		dualAveraging(tuning).restart(best, best)
	}
	return trials, err
}

// propose evaluates proposals in w.Proposal and sets their energy errors.
func (m PCN) propose(ctx context.Context, w *Work, t *Target, p *Population, logit float64, key rng.Key) error {
	prior, q := t.Prior.(GaussianPrior), &w.Proposal
	b := 1 / (1 + rng.Exp(-logit))
	keep := math.Sqrt(1 - float64(b*b))
	p.each(t.Pool, func(j int) {
		k := key
		k.Particle = j
		to, from := q.row(q.Theta, j), p.row(p.Theta, j)
		k.Stream().Normals(to)
		for i, xi := range to {
			centre := prior.Mean(i)
			to[i] = centre + float64(keep*(from[i]-centre)) + float64(b*prior.SD(i)*xi)
		}
		q.LP[j] = prior.LogDensity(to, nil)
	})
	if err := t.logLik(ctx, q); err != nil {
		return err
	}
	for j := range p.J {
		w.outcome.Energy[j] = p.LogLik(t.Lambda, t.Mu, j) - q.LogLik(t.Lambda, t.Mu, j)
	}
	return nil
}

// Mutate is one move of every particle.
func (m PCN) Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now StepContext) (Outcome, error) {
	w.Fit(p)
	key := now.Key
	key.Purpose = rng.Proposal
	steps, chain := dualAveraging(tuning), now.Left > 0
	if chain && m.Step == 0 && now.Progress >= WarmUp {
		steps[logStep] = steps[logStepMean]
	}
	if err := m.propose(ctx, w, t, p, steps[logStep], key); err != nil {
		return Outcome{}, err
	}
	q := &w.Proposal
	out := w.metropolis(t.Pool, p, now.Key, func(j int) bool { return isFinite(q.LogLik(t.Lambda, t.Mu, j)) })
	out.Step = 1 / (1 + rng.Exp(-steps[logStep]))
	out.took(0, t.Examples())
	switch a := mean(out.Probability); {
	case m.Step != 0 || now.Progress >= WarmUp:
	case chain:
		steps.learn(a, m.aim(), relaxationOf(p.J))
	default:
		steps[logStep] += float64(0.2 * (a - m.aim()))
	}
	return out, nil
}
