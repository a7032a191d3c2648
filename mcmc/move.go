package mcmc

import (
	"context"
	"math"
	"sync"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
)

// Move is a Markov kernel for a whole population: how a particle travels.
type Move interface {
	// NeedsGradient says whether populations must carry gradients.
	NeedsGradient() bool

	// Evaluations is the largest number of evaluations of the model that one mutation makes for a particle.
	Evaluations() int

	// Tuning returns what the move adapts, as it is before the first mutation: one number for the population. The
	// caller keeps it, so that a move is a plain value. The error says which setting is wrong, or what the target
	// lacks.
	Tuning(t *Target) ([]float64, error)

	// Mutate moves every particle of p once and adapts tuning. After an error p and tuning are undefined.
	Mutate(ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now Moment) (Outcome, error)
}

// Moment is when in a run a mutation takes place.
type Moment struct {
	Key      rng.Key // seed, island, iteration, mutation; the move adds purpose and particle
	Progress float64 // share of the run's budget that is spent, 0…1; 0 if there is none
	Left     int     // evaluations a particle that the budget has left; 0 if there is no budget
}

// Outcome is what a mutation did; its slices, of length J, are valid until the next.
type Outcome struct {
	Energy      []float64 // ΔH of every proposal, also of the rejected
	Probability []float64 // min(1, e^−ΔH), or 0 where the proposal's energy is NaN or infinite
	Broken      int       // number of such proposals
	Step        float64   // step size, without jitter
	Gradients   int       // evaluations of value and gradient a particle, in examples
	Values      int       // evaluations of the value alone a particle, in examples
}

// Work is a move's scratch memory, reused from call to call. The zero value is ready.
type Work struct {
	Proposal Population // where the particles would go; free for others between moves

	surrogate Population // where a trajectory with a gradient of its own is
	batch     []int32    // of that gradient
	momentum  []float64  // J×D
	kinetic   []float64  // J, at the start
	spare     *sync.Pool // of *[]float64, length D: a gradient of the prior for every thread that kicks
	outcome   Outcome
}

// Fit makes room for moves of populations like p.
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
}

// drawMomentum draws the momentum of particle j of p anew, from N(0, I), and notes its kinetic energy.
func (w *Work) drawMomentum(p *Population, j int, key rng.Key) {
	key.Purpose, key.Particle = rng.Momentum, j
	momentum := p.row(w.momentum, j)
	key.Stream().Normals(momentum)
	w.kinetic[j] = Kinetic(momentum)
}

// metropolis accepts each proposal with probability min(1, e^−ΔH) and reports. finite says whether the proposal of a
// particle has a finite energy: if not it is rejected, whatever ΔH.
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
			out.Broken++
		}
	}
	return out
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
