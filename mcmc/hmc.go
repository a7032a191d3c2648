package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// HMC is Hamiltonian Monte Carlo with accept/reject (Duane et al. 1987; scalable-bayesian-monte-carlo, section 3.2):
// momenta p ~ N(0, I) are drawn anew, S leapfrogs of size h lead to (θ', p'), and θ' is taken with probability
//
//	min(1, exp(−ΔH)),   H = −log π(θ) + p'p/2.
//
// A proposal whose energy is NaN or infinite (divergent) is rejected with probability 1 and counted. A move costs S gradients.
//
// The step size is the same for all particles and is adapted after every move: log h += gain·(A − target), where A is the
// mean of min(1, exp(−ΔH)) over them, not the count of acceptances. It starts at
//
//	h = 1.65 · sd · D^(−1/6)   for S = 1 and for runs in phases
//	h = 1.65 · sd · D^(−1/4)   else
//
// where sd is the smallest standard deviation of the Gaussian prior's components.
type HMC struct {
	Steps  int     `yaml:"steps"`                  // S, leapfrogs a move; 0: 1
	Step   float64 `yaml:"step" words:"adapted=0"` // h, fixed; 0: adapted
	Start  float64 `yaml:"-"`                      // h before adaptation; 0: by the rule above
	Accept float64 `yaml:"accept,omitempty"`       // acceptance to adapt to; 0: .574 for S = 1 (optimal for Langevin moves), .65 for more
	Jitter float64 `yaml:"jitter,zero"`            // every move multiplies h by a uniform number from 1 − Jitter to 1 + Jitter
	Phases []Phase `yaml:"-"`                      // for runs with a budget; nil: those of chains if Chain, else S leapfrogs with gain .2 throughout
	Chain  bool    `yaml:"-"`                      // an adapted step follows the phases of chains: ChainPhases or, with one leapfrog, HalfPhases

	Mutations Mutations `yaml:"mutations,omitempty"` // number of moves in an iteration
}

// Phase is an interval of a run with its own number of leapfrogs and gain.
type Phase struct {
	Until float64 // share of the run's budget at which the phase ends
	Steps int     // S, leapfrogs a move
	Gain  float64 // of the adaptation; 0: h stays as it is
}

// ChainPhases returns the phases of long chains (scalable-bayesian-monte-carlo, section 7b). In the first tenth, moves of at
// most 5 leapfrogs with gain .2 find the step size. Up to the half, moves have S leapfrogs with gain .1. Then h is frozen,
// because a kernel that adapts to its past leaves no distribution invariant.
func ChainPhases(steps int) []Phase {
	steps = max(1, steps)
	return []Phase{{0.1, min(5, steps), 0.2}, {0.5, steps, 0.1}, {1, steps, 0}}
}

// HalfPhases returns the phases of short chains (section 3.3): adaptation in the first half, then a frozen step size.
func HalfPhases(steps int) []Phase {
	steps = max(1, steps)
	return []Phase{{0.5, steps, 0.2}, {1, steps, 0}}
}

func (m HMC) String() string {
	if m.Steps <= 1 {
		return "HMC (1 leapfrog)"
	}
	return fmt.Sprintf("HMC (%d leapfrogs)", m.Steps)
}

// Invariant is true: accept/reject corrects the discretisation error.
func (HMC) Invariant() bool { return true }

// Needs is the gradient.
func (HMC) Needs() Needs { return Needs{Gradient: true} }

// Repeats is Mutations.
func (m HMC) Repeats() Mutations { return m.Mutations }

// Aim is Accept, or its default, if the step size is adapted.
func (m HMC) Aim() float64 {
	switch {
	case m.Step != 0:
		return 0
	case m.Accept != 0:
		return m.Accept
	}
	return aim(m.Steps, populationAim)
}

// populationAim is the acceptance that several leapfrogs of a population are adapted to.
const populationAim = 0.65

// aim is the acceptance that moves are adapted to where nothing is said: .574 for one leapfrog, which is optimal for Langevin
// moves.
func aim(steps int, several float64) float64 {
	if max(1, steps) == 1 {
		return 0.574
	}
	return several
}

// Subsample is 0.
func (HMC) Subsample() int { return 0 }

// Scratch is 0.
func (HMC) Scratch() int { return 0 }

// ForChains applies the defaults of chains: 80 leapfrogs, acceptance .75 and a jitter of .2; with one leapfrog, acceptance
// .574 and no jitter. A step is adapted in the phases of ChainPhases, with one leapfrog in those of HalfPhases.
func (m HMC) ForChains() Move {
	def(&m.Steps, 80)
	m.Chain = true
	return m.complete(0.75, 0.2)
}

// phases returns the phases of a run with a budget; nil: there is one phase. They are not kept in Phases, so that a program may
// change Steps of a completed move.
func (m HMC) phases() []Phase {
	switch {
	case m.Phases != nil || !m.Chain || m.Step != 0:
		return m.Phases
	case m.Steps > 1:
		return ChainPhases(m.Steps)
	}
	return HalfPhases(m.Steps)
}

// ForPopulation applies the defaults of populations: 1 leapfrog, acceptance .574 (.65 with more leapfrogs), no jitter and 10
// mutations.
func (m HMC) ForPopulation() Move {
	def(&m.Steps, 1)
	m = m.complete(populationAim, 0)
	m.Mutations = m.Mutations.forPopulation()
	return m
}

// complete applies defaults: the given values if there is more than one leapfrog, else those of one leapfrog.
func (m HMC) complete(accept, jitter float64) HMC {
	if m.Step == 0 {
		def(&m.Accept, aim(m.Steps, accept))
	}
	if m.Steps > 1 {
		def(&m.Jitter, jitter)
	}
	return m
}

// CheckForChains refuses mutations.
func (m HMC) CheckForChains(f *config.Faults) { checkNoMutations(f, m.Mutations) }

// Check notes impossible settings.
func (m HMC) Check(f *config.Faults) {
	f.If(m.Steps < 0, "steps", "want at least 1, have %d", m.Steps)
	f.If(!(m.Step >= 0) || math.IsInf(m.Step, 0), "step", "want a number above 0, have %.12g", m.Step)
	f.If(!(m.Start >= 0) || math.IsInf(m.Start, 0), "", "first step size %v", m.Start)
	f.If(m.Step > 0 && m.Start > 0, "", "Start is for an adapted step, Step fixes it: set one of them")
	f.If(!(m.Accept >= 0 && m.Accept < 1), "accept", "want a number above 0 and below 1, have %.12g", m.Accept)
	f.If(!(m.Jitter >= 0 && m.Jitter < 1), "jitter", "want 0 or a number below 1, have %.12g", m.Jitter)
	last := 0.0
	for i, p := range m.Phases {
		f.If(!(p.Until > last), "", "phase %d ends at %v, which is not after %v", i, p.Until, last)
		f.If(p.Steps < 1, "", "phase %d has %d leapfrogs a move", i, p.Steps)
		f.If(!(p.Gain >= 0), "", "phase %d has gain %v", i, p.Gain)
		last = p.Until
	}
	f.If(m.Phases != nil && last != 1, "", "the phases end at %v, not at 1", last)
}

// Evaluations is S, the largest of all phases.
func (m HMC) Evaluations() int {
	most := max(1, m.Steps)
	for _, p := range m.phases() {
		most = max(most, p.Steps)
	}
	return most
}

// Tuning returns log h.
func (m HMC) Tuning(t *Target) ([]float64, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("HMC: %w", err)
	}
	h := max(m.Step, m.Start)
	if h == 0 {
		prior, ok := t.Prior.(GaussianPrior)
		if !ok {
			return nil, errors.New("HMC: the prior is not Gaussian, so there is no rule for the first step size: set Start or Step")
		}
		sd := math.Inf(1)
		for i := range prior.Dim() {
			sd = min(sd, prior.SD(i))
		}
		power := 1.0 / 4
		if max(1, m.Steps) == 1 || m.phases() != nil {
			power = 1.0 / 6
		}
		h = 1.65 * sd * rng.Exp(-power*rng.Log(float64(prior.Dim())))
	}
	return []float64{rng.Log(h)}, nil
}

// phase returns the phase of the given progress.
func (m HMC) phase(progress float64) Phase {
	phases := m.phases()
	for _, p := range phases {
		if progress < p.Until {
			return p
		}
	}
	if phases != nil {
		return phases[len(phases)-1]
	}
	return Phase{1, max(1, m.Steps), 0.2}
}

// Mutate is one move of every particle.
func (m HMC) Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now StepContext) (Outcome, error) {
	w.Fit(p)
	phase := m.phase(now.Progress)
	steps := phase.Steps
	if now.Left > 0 {
		steps = min(steps, now.Left)
	}
	size := rng.Exp(tuning[0])
	p.each(t.Pool, func(j int) { w.drawMomentum(p, j, now.Key) })
	if err := w.leapfrog(ctx, t, p, &w.Proposal, size*m.jitter(now.Key), steps); err != nil {
		return Outcome{}, err
	}
	energy := w.outcome.Energy
	p.each(t.Pool, func(j int) {
		arrival := Kinetic(p.row(w.momentum, j)) - t.LogDensity(&w.Proposal, j)
		energy[j] = arrival - (w.kinetic[j] - t.LogDensity(p, j))
		w.kinetic[j] = arrival
	})
	out := w.metropolis(t.Pool, p, now.Key, func(j int) bool { return isFinite(w.kinetic[j]) })
	out.Step = size
	out.took(steps*t.Examples(), 0)
	if m.Step == 0 {
		tuning[0] += float64(phase.Gain * (mean(out.Probability) - m.Aim()))
	}
	return out, nil
}

// jitter returns the factor of h.
func (m HMC) jitter(key rng.Key) float64 {
	if m.Jitter == 0 {
		return 1
	}
	key.Purpose = rng.Jitter
	return 1 + float64(m.Jitter*(float64(2*key.Stream().Float64())-1))
}
