package mcmc

import (
	"context"
	"math"
	"sync"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
)

// Kernel is a Markov kernel that moves a whole population. It is a plain value: the caller keeps its tuned values and the
// momenta of particles. A program's own move needs these methods only.
//
// A Kernel may also have methods of Move. A sampler uses one of them if it is there: Repeats, for several moves in an
// iteration.
type Kernel interface {
	// Needs lists the values that populations must carry.
	Needs() Needs

	// Invariant reports whether the move leaves its target invariant, as accept/reject does. If not, weights correct its
	// error.
	Invariant() bool

	// Evaluations is the largest number of evaluations of the model that one mutation makes for a particle.
	Evaluations() int

	// Tuning returns the values that the move adapts, before the first mutation: any number of them, shared by the
	// population. The caller keeps them. The error names a wrong setting, or a property that the target lacks.
	Tuning(t *Target) ([]float64, error)

	// Mutate moves every particle of p once and adapts tuning. After an error p and tuning are undefined.
	Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now StepContext) (Outcome, error)
}

// Move is a row of the table Moves. It has the further methods that package method, configs and reports need.
type Move interface {
	Kernel

	// String is the move's title, as in "HMC (80 leapfrogs)".
	String() string

	// Repeats is the number of times that the move is made in one iteration of a sampler.
	Repeats() Mutations

	// Aim is the acceptance that the step size is adapted to; 0 if the step size is fixed.
	Aim() float64

	// Subsample is the number of examples in the mini-batch for a trajectory's gradients; 0: the gradients are the target's.
	Subsample() int

	// Scratch is the number of J×D matrices that the move holds in addition to two populations and the momenta.
	Scratch() int

	// ForChains and ForPopulation return the move with defaults applied: chains make long moves on the posterior, populations
	// short moves on every target.
	ForChains() Move
	ForPopulation() Move

	// CheckForChains notes the settings that chains cannot have.
	CheckForChains(f *config.Faults)
}

// StepContext is the step context of a move: its random key, and the budget of the run.
type StepContext struct {
	Key      rng.Key // seed, island, iteration, mutation; the move adds purpose and particle
	Progress float64 // share of the run's budget that is spent, 0…1; 0 if there is none
	Left     int     // evaluations a particle that the budget has left; 0 if there is no budget
}

// Outcome is the result of a mutation. Its slices have length J and are valid until the next mutation.
type Outcome struct {
	Energy      []float64 // ΔH of every proposal, also of rejected ones
	Probability []float64 // min(1, e^−ΔH), or 0 where the proposal's energy is NaN or infinite
	Divergent   int       // number of such proposals
	Step        float64   // step size, without jitter
	Gradients   []int     // evaluations of value and gradient of each particle, in examples
	Values      []int     // evaluations of the value alone, likewise
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
}

// Fit allocates memory for moves of populations like p.
func (w *Work) Fit(p *Population) {
	if w.Proposal.Like(p) {
		return
	}
	w.Proposal = p.Blank()
	w.momentum = make([]float64, p.J*p.D)
	w.kinetic = make([]float64, p.J)
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
		if !finite(j) {
			out.Divergent++
		}
	}
	return out
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
