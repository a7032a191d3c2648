package mcmc

import (
	"context"
	"math"
	"sync"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
)

// Kernel is a Markov kernel that moves a whole population. It is a plain value: the caller keeps its tuned values and the
// momenta of particles. A program's own move needs these methods only; one that prepares for a stage is a Beginner, too.
type Kernel interface {
	// Traits are what the move says of itself.
	Traits() Traits

	// Tuning returns the values that the move adapts, before the first mutation: any number of them, shared by the
	// population of the given number of particles. The caller keeps them. The error names a wrong setting, or a property that the
	// target lacks.
	Tuning(t *Target, particles int) ([]float64, error)

	// Mutate moves every particle of p once and adapts tuning. After an error p and tuning are undefined.
	Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now StepContext) (Outcome, error)
}

// Beginner is a Kernel that prepares for a stage: a new target, or the first one.
type Beginner interface {
	// Begin learns from the weighted particles before they are resampled and move, and changes tuning. weights are normalised.
	// Positions and w.Proposal stay as they are. After an error tuning is undefined.
	Begin(ctx context.Context, w *Work, t *Target, p *Population, weights, tuning []float64, now StepContext) (Trials, error)
}

// Trials are the evaluations that a move makes before the first mutation of a stage, and what they found.
type Trials struct {
	Gradients int  // evaluations of value and gradient in examples, of all copies together
	Values    int  // evaluations of the value alone, likewise
	Kept      bool // the particles could teach no scale, so the last one is kept
}

// Move is a row of the table Moves. It has the further methods that package method, configs and reports need.
type Move interface {
	Kernel

	// String is the move's title, as in "HMC (80 leapfrogs)".
	String() string

	// Memory is what the move holds in addition to two populations and the momenta, in numbers of 8 bytes: for every population, the
	// values that it tunes, and, while moves are made, its scratch memory.
	Memory(particles, d int) (tuned, scratch int)

	// ForChains and ForPopulation return the move with defaults applied: chains make long moves on the posterior, populations
	// short moves on every target, by default repeats of them in an iteration. learns: parameters that the particles share are
	// learned while they move.
	ForChains() Move
	ForPopulation(repeats Mutations, learns bool) Move
}

// StepContext is the step context of a move: its random key, and the budget of the run.
type StepContext struct {
	Key      rng.Key // seed, island, iteration, mutation; the move adds purpose and particle
	Progress float64 // share of the run's budget that is spent, 0…1; 0 if there is none
	Left     int     // evaluations a particle that the budget has left; 0 if there is no budget
	Related  bool    // all particles descend from one of the first, and their last moves may not have parted them
	Chains   int     // m: particles j, j+m, j+2m… are the states of one chain, in its order; 0: they are not of chains
}

// MostEnergyRise is ΔH above which a trajectory has diverged, as in Stan: it met a part of the target that is too narrow for its
// step.
const MostEnergyRise = 1000

// Outcome is the result of a mutation. Its slices have length J and are valid until the next mutation.
type Outcome struct {
	Energy      []float64 // ΔH of every proposal, also of rejected ones; 0 where the move has none
	Probability []float64 // min(1, e^−ΔH), or 0 where the proposal's energy is NaN or infinite; NaN where the move has no ΔH
	Divergent   int       // number of such proposals, and of those whose ΔH is above MostEnergyRise
	Step        float64   // step size, without jitter
	Leapfrogs   int       // S; 0 where a move has none, or each particle its own
	Gradients   []int     // evaluations of value and gradient of each particle, in examples
	Values      []int     // evaluations of the value alone, likewise
	Shown       int       // of Values of a particle, those for diagnostics alone: no budget counts them
}

// Work is a move's scratch memory, reused from call to call. The zero value is ready.
type Work struct {
	Proposal Population // the proposed particles; between moves callers may use it as scratch memory

	surrogate Population // the particles on a trajectory with mini-batch gradients
	batch     []int32    // the mini-batch
	momentum  []float64  // J×D
	kinetic   []float64  // J, at the start
	spare     *sync.Pool // of *[]float64, length D: a gradient of the prior for each thread
	outcome   Outcome
	trials    *Work // of copies of some particles, when a stage begins; nil: none yet
	own       any   // what one kind of move keeps in addition
}

// Fit allocates memory for moves of populations like p.
func (w *Work) Fit(p *Population) {
	w.Shape(p)
	if len(w.momentum) != p.J*p.D {
		w.momentum, w.kinetic = make([]float64, p.J*p.D), make([]float64, p.J)
	}
}

// Shape is Fit without room for the momenta of all particles.
func (w *Work) Shape(p *Population) {
	if w.Proposal.Like(p) {
		return
	}
	w.Proposal = p.Blank()
	d := p.D
	w.spare = &sync.Pool{New: func() any { row := make([]float64, d); return &row }}
	w.outcome.Energy = make([]float64, p.J)
	w.outcome.Probability = make([]float64, p.J)
	w.outcome.Gradients = make([]int, p.J)
	w.outcome.Values = make([]int, p.J)
}

// metropolis accepts each proposal with probability min(1, e^−ΔH) and reports. finite reports whether the proposal of a
// particle has a finite energy; if not, the proposal is rejected, whatever ΔH.
func (w *Work) metropolis(workers *pool.Pool, p *Population, key rng.Key, finite func(j int) bool) Outcome {
	key.Purpose = rng.Accept
	p.each(workers, func(j int) {
		k, a := key, 0.0
		if finite(j) {
			a = min(1, rng.Exp(-w.outcome.Energy[j]))
		}
		w.outcome.Probability[j] = a
		k.Particle = j
		if k.Stream().Float64() < a {
			p.Set(j, &w.Proposal, j)
		}
	})
	out := w.outcome
	for j := range p.J {
		if !finite(j) || w.outcome.Energy[j] > MostEnergyRise {
			out.Divergent++
		}
	}
	return out
}

// alongside calls f for each of n particles, in parallel if there is enough work, with scratch memory of length D.
func (w *Work) alongside(workers *pool.Pool, n int, f func(j int, spare []float64)) {
	few := Population{J: n, D: w.Proposal.D}
	few.each(workers, func(j int) {
		spare := w.spare.Get().(*[]float64)
		defer w.spare.Put(spare)
		f(j, *spare)
	})
}

// took records the evaluations of every particle, in examples.
func (o *Outcome) took(gradients, values int) {
	for j := range o.Gradients {
		o.Gradients[j], o.Values[j] = gradients, values
	}
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// mean adds in the order of the particles.
func mean(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}
