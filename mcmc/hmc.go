package mcmc

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// HMC is Hamiltonian Monte Carlo with accept/reject (Duane et al. 1987; scalable-bayesian-monte-carlo, section 3.2):
// momenta p ~ N(0, I) are drawn anew, S leapfrogs of size h lead to (θ', p'), and θ' is taken with probability
//
//	min(1, exp(−ΔH)),   H = −log π(θ) + p'p/2.
//
// A proposal whose energy is NaN or infinite is rejected with probability 1. It is counted as divergent, as those are whose ΔH is
// above MostEnergyRise. A move costs S gradients. All particles share h and S, and a population's have the
// scale of the coordinates that belongs to their fold (scale.go, folds.go).
//
// An adapted h is found by trial trajectories when a stage begins (find.go). Then a population adapts it after every move, by
// log h += .2·(A − aim) with A the mean of min(1, exp(−ΔH)) over the particles, not the count of acceptances. A run with a
// budget is one of chains, which learn in their first halves only (chain.go). S is given, or follows from the length of a
// trajectory, h·S (length.go).
type HMC struct {
	Steps  int     `yaml:"steps,omitempty,nonzero"`                  // S, leapfrogs of a move. 0: Length and the step say how many
	Length float64 `yaml:"length,omitempty,nonzero" words:"auto=-1"` // length of a trajectory, in place of Steps: the step size times the leapfrogs, where every coordinate is scaled by its spread. auto, the default: by rule
	Most   int     `yaml:"most,omitempty,nonzero"`                   // leapfrogs of a trajectory at most, where a rule says how many; 0: 1,000 for chains, 64 for populations
	Step   float64 `yaml:"step" words:"adapted=0"`                   // h, the step size, fixed. adapted: it is found while the run goes on
	Start  float64 `yaml:"-"`                                        // h where the search for an adapted step begins; 0: by rule
	Scale  Scaling `yaml:"scale,omitempty"`                          // scales of the steps: none (all are 1), tensor (one for each tensor), diagonal (one for each parameter) or dense (a covariance); default: by rule, none where Step is given
	Accept float64 `yaml:"accept,omitempty"`                         // share of accepted moves that the step is adapted to; higher is a smaller step. By default .75 for chains, and for populations .9 by length and .65 with Steps; for both .574 with one leapfrog
	Jitter float64 `yaml:"jitter,zero"`                              // every move multiplies h by a uniform number from 1 − Jitter to 1 + Jitter

	Mutations Mutations `yaml:"mutations,omitempty"` // number of moves in an iteration
}

func (m HMC) String() string {
	switch {
	case m.Steps > 0:
		return fmt.Sprintf("HMC (%s)", numeral.Several(m.Steps, "leapfrog"))
	case m.Length > 0:
		return fmt.Sprintf("HMC (length %.4g)", m.Length)
	}
	return "HMC"
}

// Traits say that the number of evaluations varies where S follows from a length, and so from the step that is found. Costs is S, or the
// largest number of leapfrogs that a length is divided into: the move before which a chain ascends, once, makes more. Fewest is the budget
// whose first window has moves enough for a scale, where S follows from a length; given leapfrogs can do with less.
func (m HMC) Traits() Traits {
	t := Traits{
		Needs: Needs{Gradient: true}, Costs: cmp.Or(max(0, m.given()), max(0, m.Most), mostLeapfrogs), Repeats: m.Mutations,
		Varies: m.given() == 0, Aim: m.aim(),
	}
	if !(m.Steps > 0 || m.Step > 0) {
		t.Fewest = int(math.Ceil(fewPoints * briefMoves / windows[0]))
	}
	return t
}

// aim is Accept, or the default of populations, if the step size is adapted.
func (m HMC) aim() float64 {
	switch {
	case m.Step != 0:
		return 0
	case m.Accept != 0:
		return m.Accept
	}
	return m.usualAim(false)
}

// usualAim is the acceptance that moves are adapted to by default:
//
//	               populations   chains
//	one leapfrog      .574        .574    optimal for Langevin moves (Roberts and Rosenthal 1998)
//	more, given       .65         .75
//	by length         .9          .75     a population makes few such moves, and each particle has to leave its copies
func (m HMC) usualAim(chains bool) float64 {
	switch {
	case m.Steps == 1:
		return 0.574
	case chains:
		return 0.75
	case m.Steps > 1:
		return 0.65
	}
	return 0.9
}

const usualJitter = 0.2

// Memory is the step and the scale, and the copies of particles that trials move: five vectors each; and an ascent's of a chain.
func (m HMC) Memory(particles, d int) (tuned, scratch int) {
	kind, err := m.Scale.resolve(d, m.Step != 0)
	if err != nil {
		return 0, 0 // Tuning will say so
	}
	if m.Step == 0 {
		scratch = 5 * copiesOf(particles, false) * d
		if particles == 1 {
			scratch += ascentNumbers(kind, d)
		}
	}
	return sizeOf(kind, d, kind.folds(particles)), scratch
}

// ForChains applies the defaults of chains: the length by rule, acceptance .75 and a jitter of .2; with one leapfrog,
// acceptance .574 and no jitter.
func (m HMC) ForChains() Move {
	if m.Step == 0 {
		def(&m.Accept, m.usualAim(true))
	}
	if m.Steps != 1 {
		def(&m.Jitter, usualJitter)
	}
	return m.byLength()
}

// ForPopulation applies the defaults of populations: the length by rule, acceptance .9 and a jitter of .2; with given steps,
// acceptance .65 (.574 for one) and no jitter.
func (m HMC) ForPopulation(repeats Mutations, _ bool) Move {
	if m.Step == 0 {
		def(&m.Accept, m.usualAim(false))
	}
	if m.Steps == 0 {
		def(&m.Jitter, usualJitter)
	}
	def(&m.Mutations, repeats)
	m.Mutations.Defaults()
	return m.byLength()
}

func (m HMC) byLength() HMC {
	if m.Steps == 0 {
		def(&m.Length, AutoLength)
	}
	return m
}

// CheckWith refuses dense scales that are too large.
func (m HMC) CheckWith(_, d int, f *config.Faults) {
	if _, err := m.Scale.resolve(d, m.Step != 0); err != nil {
		f.Add("scale", "%v", err)
	}
}

// Check notes impossible settings.
func (m HMC) Check(f *config.Faults) {
	f.If(m.Steps < 0, "steps", "want at least 1, have %d", m.Steps)
	f.If(m.Length != AutoLength && !(m.Length >= 0) || math.IsInf(m.Length, 0), "length", "want a number above 0 or auto, have %.12g", m.Length)
	f.If(m.Steps > 0 && m.Length != 0, "length", "steps and length both say where a trajectory ends: want one of them")
	f.If(m.Most < 0, "most", "want at least 1, have %d", m.Most)
	f.If(m.Most > 0 && (m.Steps > 0 || m.Length > 0), "most", "is for length: auto alone: leave it out, as the other settings say where a trajectory ends")
	f.If(!(m.Step >= 0) || math.IsInf(m.Step, 0), "step", "want a number above 0, have %.12g", m.Step)
	f.If(!(m.Start >= 0) || math.IsInf(m.Start, 0), "", "first step size %v", m.Start)
	f.If(m.Step > 0 && m.Start > 0, "", "Start is for an adapted step, Step fixes it: set one of them")
	f.If(!(m.Accept >= 0 && m.Accept < 1), "accept", "want a number above 0 and below 1, have %.12g", m.Accept)
	f.If(!(m.Jitter >= 0 && m.Jitter < 1), "jitter", "want 0 or a number below 1, have %.12g", m.Jitter)
}

// Forecaster is a Move whose number of evaluations varies, and which can say how many to expect.
type Forecaster interface {
	// Shortest is the least number of evaluations that a chain's move can be expected to take on a model of D parameters when its
	// step is found.
	Shortest(d int) int
}

var _ Forecaster = HMC{}

// Shortest is the leapfrogs of a length at the step that suits D independent normals in scaled coordinates (usualStep). The posterior of a
// network is less smooth, and its step is smaller.
func (m HMC) Shortest(d int) int {
	length, most := m.trajectory(StepContext{Left: 1})
	return divide(length, usualStep(d, 1, false), most)
}

// Tuning returns what the move learns: the step, and the scale.
func (m HMC) Tuning(t *Target, particles int) ([]float64, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("HMC: %w", err)
	}
	kind, err := m.Scale.resolve(t.Prior.Dim(), m.Step != 0)
	if err != nil {
		return nil, fmt.Errorf("HMC: %w", err)
	}
	learnt := newLearner(t, kind, kind.folds(particles))
	h := max(m.Step, m.Start)
	if h == 0 {
		h = learnt.firstStep(t, m.Steps == 1)
	}
	learnt.restart(rng.Log(h))
	return learnt.tuning, nil
}

// reads is the view of values that Tuning made.
func (m HMC) reads(t *Target, tuning []float64) learner {
	kind, _ := m.Scale.resolve(t.Prior.Dim(), m.Step != 0) // Tuning has checked it
	l := view(tuning, kind, t.Prior.Dim())
	l.usual = m.Scale == ""
	return l
}

// Begin learns the scale of a population from its weighted particles, and finds the step. The scale of a chain that begins is the
// prior's.
func (m HMC) Begin(ctx context.Context, w *Work, t *Target, p *Population, weights, tuning []float64, now StepContext) (Trials, error) {
	learnt := m.reads(t, tuning)
	var trials Trials
	switch {
	case p.J > 1 && now.Left == 0:
		trials.Kept = !learnt.fromPopulation(t, p, weights, now)
	case now.Progress == 0:
		learnt.fromPrior(t, p)
	}
	if m.Step != 0 {
		return trials, nil
	}
	if err := m.find(ctx, w, t, p, weights, learnt, now, &trials); err != nil {
		return trials, err
	}
	return trials, m.fits(learnt.step(), now.Left)
}

// Mutate is one move of every particle.
func (m HMC) Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now StepContext) (Outcome, error) {
	w.Fit(p)
	learnt := m.reads(t, tuning)
	chain, ascended, searched := now.Left > 0, 0, 0
	if chain {
		var err error
		if ascended, searched, err = m.ascend(ctx, w, t, p, learnt, &now); err != nil {
			return Outcome{}, err
		}
		learnt.advance(t, p.J, m.aim(), now.Progress)
	}
	size := learnt.step()
	steps := m.leapfrogs(size, now)
	p.each(t.Pool, func(j int) { w.drawMomentum(p, j, now.Key, rng.Momentum) })
	if err := w.leapfrog(ctx, t, p, &w.Proposal, learnt.scales, size*m.jitter(now.Key), steps); err != nil {
		return Outcome{}, err
	}
	w.energies(t, p)
	out := w.metropolis(t.Pool, p, now.Key, func(j int) bool { return isFinite(w.kinetic[j]) })
	out.Step, out.Leapfrogs = size, steps
	out.took(steps*t.Examples(), 0)
	for j := range out.Gradients {
		out.Gradients[j] += (shareOf(ascended, j, p.J) + shareOf(searched, j, p.J)) * t.Examples()
	}
	switch a := mean(out.Probability); {
	case chain:
		learnt.observe(w, p, a, m.aim(), now.Progress)
	case m.Step == 0:
		learnt.tuning[logStep] = min(m.largest(learnt), learnt.tuning[logStep]+float64(0.2*(a-m.aim())))
	}
	return out, nil
}

// energies sets the energy errors of the proposals, and kinetic to the energies where they arrive.
func (w *Work) energies(t *Target, p *Population) {
	p.each(t.Pool, func(j int) {
		arrival := Kinetic(p.row(w.momentum, j)) - t.LogDensity(&w.Proposal, j)
		w.outcome.Energy[j] = arrival - (w.kinetic[j] - t.LogDensity(p, j))
		w.kinetic[j] = arrival
	})
}

// jitter returns the factor of h.
func (m HMC) jitter(key rng.Key) float64 {
	if m.Jitter == 0 {
		return 1
	}
	key.Purpose = rng.Jitter
	return 1 + float64(m.Jitter*(float64(2*key.Stream().Float64())-1))
}
