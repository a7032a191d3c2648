package smc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Restarting learns ψ, the parameters that all particles share, by a whole SMC run for each step of ψ (Zhao et al., On Feynman–Kac
// training of partial Bayesian neural networks; guided-open-horizon-smc, section 3.4). In step k the particles begin again at draws
// of the prior. The examples i_1 … i_n of the step then come in by blocks of b. The target after m of them is
//
//	log π_m(θ) = log q_0(θ) + Σ_{l ≤ m} log p(y_{i_l} | x_{i_l}, θ, ψ_{k−1}),
//
// the weight of a new block is its likelihood, and moves leave the last target invariant. ψ_k is a step of the optimiser up
//
//	g = Σ_j W_j ∇_ψ (1/n) Σ_{l ≤ n} log p(y_{i_l} | x_{i_l}, θ_j, ψ_{k−1})
//
// with the particles and the weights at the end of the run. With n = N this is SMC-pBNN. With mini-batches, n < N, it is SGSMC. The
// papers have N/n in place of 1/n, in the gradient alone: Learner says what that changes.
//
// With a move that leaves its target invariant, every iteration of a run weights the particles for its block, resamples them if it is
// time, and moves them on the target with that block. The first weights are those of Init. So the order is that of the papers, but for
// one more move at the end, on the target of the gradient. Another move is weighted by Momentum: it comes after resampling by the earlier
// weights, and before the weights of its block.
//
// GOHSMC and OHSMC (Sampler.Learn) have one iteration for each step of ψ in place of such a run. Restarting is their point of reference.
type Restarting struct {
	Model     mcmc.Partial
	Prior     mcmc.Prior  // q_0
	Move      mcmc.Kernel // with its own weighting; a step by rule is refused, as targets are not scaled to N examples
	Resample  Resampler   // zero: multinomial, when the effective sample size is below half the particles
	Particles int         // J
	Batch     int         // n; 0: all N examples
	Block     int         // b; 0: all n examples at once
	Learn     Learner     // must be set
	Seed      uint64
	Island    int        // runs with the same seed differ in it
	Pool      *mcmc.Pool // as in Sampler
}

// Restarts is everything that a Restarting needs to go on, as plain data. A program begins with ψ_0 and zeros.
type Restarts struct {
	K       int        // steps of ψ made
	Psi     []float64  // ψ_K
	Moments nn.Moments // of the optimiser

	Gradients int // evaluations so far, as in State
	Values    int
}

// Step makes a step of ψ and returns the last state of its run: the weighted particles, with ψ after the step. State.LogZ estimates the
// log-evidence of the step's examples at ψ before the step. Batches are consecutive parts of one random order of all examples, then of the
// next order; the one in which an order ends may hold an example twice. Within a run the order is random as well. The state shares the
// memory of ψ and its moments with st; later steps leave it unchanged. After an error st is unchanged.
func (r *Restarting) Step(ctx context.Context, st *Restarts) (*State, error) {
	if err := r.check(st); err != nil {
		return nil, err
	}
	end, err := r.run(ctx, st)
	if err != nil {
		return nil, fmt.Errorf("step %d of the learned parameters: %w", st.K, err)
	}
	*st = Restarts{
		K: st.K + 1, Psi: end.Psi, Moments: end.Moments,
		Gradients: st.Gradients + end.Gradients, Values: st.Values + end.Values,
	}
	return end, nil
}

// run is the SMC run of a step, with the step of ψ at its end.
func (r *Restarting) run(ctx context.Context, st *Restarts) (*State, error) {
	s := r.sampler(st)
	end, err := s.Init(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx, end, nil); err != nil {
		return nil, err
	}
	s.Learn = r.Learn // not before: ψ stays while the examples come in
	end.Moments.Copy(&st.Moments)
	return end, s.learn(ctx, end, s.target(end.Stage, end))
}

// sampler makes the sampler of a step. Its seed is the step's own, so that no draws are those of another step.
func (r *Restarting) sampler(st *Restarts) *Sampler {
	key := rng.Key{Seed: r.Seed, Purpose: rng.Restart, Island: r.Island, Iteration: st.K}
	s := &Sampler{
		Model: r.Model, Prior: r.Prior, Path: blocks(r.Block), Move: r.Move, Resample: r.Resample, Particles: r.Particles, Psi: st.Psi,
		Seed: key.Stream().Uint64(), Island: r.Island, Pool: r.Pool,
	}
	if n := r.Model.Examples(); r.Batch > 0 && r.Batch < n {
		all := Sampler{Model: r.Model, Seed: r.Seed, Island: r.Island} // whose order the batches follow
		s.Model = some{r.Model, all.rows(fresh(st.K, r.Batch, n))}
	}
	return s
}

// check refuses what the sampler of a step does not.
func (r *Restarting) check(st *Restarts) error {
	if r.Model == nil || r.Learn == nil {
		return errors.New("restarting: Model and Learn must be set")
	}
	f := faults{rng.Key{Island: r.Island, Iteration: st.K}.Check()}
	f.part("learn", r.Learn)
	f.add(r.Batch < 0, "restarting: batches of %d examples: want at least 1, or 0 for all", r.Batch)
	f.add(r.Block < 0, "restarting: blocks of %d examples: want at least 1, or 0 for all", r.Block)
	f.add(r.Model.Learned() == 0, "restarting: the model has no parameters that all particles share")
	for _, m := range [][]float64{st.Moments.First, st.Moments.Second} {
		f.add(len(m) != 0 && len(m) != len(st.Psi), "restarting: state of %d learned parameters with %d moments of them", len(st.Psi), len(m))
	}
	return errors.Join(f...)
}

// blocks is the path of iterated batch importance sampling (Chopin 2002): examples come in by blocks of this size, 0 being all, in the
// run's order. Their likelihood counts as it is, not scaled.
type blocks int

// rows are the examples of iteration k, of n.
func (b blocks) rows(k, n int) Rows {
	if b == 0 || int(b) >= n-k*int(b) { // the last block
		return Rows{0, n}
	}
	return Rows{0, (k + 1) * int(b)}
}

// Start is the first block's posterior.
func (b blocks) Start(n int) (Stage, bool) { return Stage{Lambda: 1, Rows: b.rows(0, n)}, true }

// Next is the posterior with one more block.
func (b blocks) Next(st *State) (Stage, error) {
	return Stage{Lambda: 1, Rows: b.rows(st.K, st.Examples)}, nil
}

// Done is true after an iteration with all examples.
func (b blocks) Done(st *State) bool { return st.K > 0 && st.Rows.To == st.Examples }

// Progress is the share of the examples that have come in.
func (b blocks) Progress(st *State) float64 {
	if st.K == 0 {
		return 0
	}
	return float64(st.Rows.To) / float64(st.Examples)
}

// Traits are the zero value: ψ is learned at the end, at the likelihood of all examples.
func (blocks) Traits() PathTraits { return PathTraits{} }

// some is a model of some examples of another.
type some struct {
	mcmc.Partial
	rows []int32
}

// Examples is n.
func (m some) Examples() int { return len(m.rows) }

// Name names coordinate i of θ, for errors.
func (m some) Name(i int) string { return parameterName(m.Partial, i) }

// At returns the model of these examples at ψ.
func (m some) At(psi []float64) mcmc.Model { return someAt{m.Partial.At(psi), m.rows} }

// LearnedGradient is that of the other model for the same examples.
func (m some) LearnedGradient(ctx context.Context, rows []int32, psi, theta, weights, grad []float64) error {
	return m.Partial.LearnedGradient(ctx, chosen(m.rows, rows), psi, theta, weights, grad)
}

// someAt is a some at a ψ.
type someAt struct {
	mcmc.Model
	rows []int32
}

// Examples is n.
func (m someAt) Examples() int { return len(m.rows) }

// Name names coordinate i of θ, for errors.
func (m someAt) Name(i int) string { return parameterName(m.Model, i) }

// parameterName is a model's name of coordinate i; its number, if the model has none.
func parameterName(model mcmc.Model, i int) string {
	if named, ok := model.(mcmc.Named); ok {
		return named.Name(i)
	}
	return strconv.Itoa(i)
}

// LogLik is that of the other model for the same examples.
func (m someAt) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	return m.Model.LogLik(ctx, chosen(m.rows, rows), theta, ll, grad)
}

// chosen returns the examples of the other model at positions among ours, nil for all.
func chosen(ours, positions []int32) []int32 {
	if positions == nil {
		return ours
	}
	rows := slices.Clone(positions)
	for i, p := range positions {
		rows[i] = ours[p]
	}
	return rows
}
