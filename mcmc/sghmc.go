package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// SGHMC is stochastic gradient Hamiltonian Monte Carlo (Chen, Fox, Guestrin 2014, eq. 15; guided-open-horizon-smc, section 3.5):
// for every mini-batch
//
//	v ← (1−a) v + η g(θ) + N(0, 2aη I),   θ ← θ + v,   g = ∇log p(θ) + λ (N/n) Σ ∇log p(y_i | x_i, θ)
//
// with the sum over the n examples of the mini-batch, the friction a and the step η. The velocity v lasts from step to step and from
// move to move. The noise of the mini-batches is estimated by 0, so all of 2aη is injected. One move is an epoch: a
// random permutation of the examples is divided into the fewest mini-batches of at most Batch, whose sizes differ by one at most. It
// costs one gradient of all examples. After it the log-likelihood of all examples is evaluated, for diagnostics alone
// (Outcome.Shown). Particles of a population share the mini-batches.
//
// There is no accept step and no weight: the draws are biased. For a normal target of precision c and full batches, the equations
// for the stationary E x², E xv and E v² have the solution
//
//	Var x = (1/c) / (1 − ηc/(4−2a)),   E xv = E v²/2,   E v² = 4η / (4−2a−ηc)   where ηc < 4−2a.
//
// So the relative bias of the variance is ηc/(4−2a) + O(η²): it falls linearly with η, and as the square of h = √η, which takes
// the place of a leapfrog's step. If each mini-batch adds independent noise of variance V to g, the noise of a step is
// 2aη(1 + ηV/2a), and Var x grows by the factor 1 + ηV/2a: this bias is linear in η too, and larger for less friction.
//
// The population's kept momentum is u = v/η. In u the step without noise is SGD with momentum 1−a and rate η, with the same bits
// (nn.SGD on −log π):
//
//	u ← (1−a) u + g + √(2a/η) ξ,   θ ← θ + η u.
//
// A state of likelihood 0, or that is not finite, is an error: the step is too large, and nothing would reject it.
type SGHMC struct {
	Batch    int     `yaml:"batch,nonzero"`    // n, examples of a mini-batch, at most; must be set
	Step     float64 `yaml:"step,nonzero"`     // η, must be set
	Friction float64 `yaml:"friction,nonzero"` // a, above 0 and at most 1; 0: .1
}

const usualFriction = 0.1

func (m SGHMC) String() string {
	if m.Batch == 1 {
		return "SGHMC (batches of 1 example)"
	}
	return "SGHMC (batches of " + numeral.Grouped(strconv.Itoa(m.Batch)) + " examples)"
}

// Traits say that nothing corrects the move, and that its gradients are those of mini-batches, of which an epoch has all examples.
func (m SGHMC) Traits() Traits {
	return Traits{
		Corrected: ByNothing, Needs: Needs{Momentum: true}, Blind: true, Subsample: m.Batch,
		Alone: "belongs to mcmc: it has no accept step, and no weight corrects its errors; take hmc, or on a path of batches leapfrog",
	}
}

// Memory is nothing: gradients lie where other moves have their momenta.
func (SGHMC) Memory(int, int) (tuned, scratch int) { return 0, 0 }

// ForChains applies the default friction, .1.
func (m SGHMC) ForChains() Move {
	def(&m.Friction, usualFriction)
	return m
}

// ForPopulation returns m unchanged: populations cannot have the move.
func (m SGHMC) ForPopulation(Mutations, bool) Move { return m }

// Check notes impossible settings.
func (m SGHMC) Check(f *config.Faults) {
	f.If(m.Batch == 0, "batch", "needs a batch, as in {batch: 100, step: 2e-5}")
	f.If(m.Batch < 0, "batch", "want at least 1, have %d", m.Batch)
	f.If(m.Step == 0, "step", "needs a step, as in {batch: 100, step: 2e-5}: without accept or reject there is nothing to adapt it to")
	f.If(!(m.Step >= 0) || math.IsInf(m.Step, 0), "step", "want a number above 0, have %.12g", m.Step)
	f.If(!(m.Friction >= 0 && m.Friction <= 1), "friction", "want a number above 0, at most 1, have %.12g", m.Friction)
}

// Tuning is nothing.
func (m SGHMC) Tuning(t *Target, _ int) ([]float64, error) {
	err := config.Check(m)
	if err == nil && t.Annealed != nil {
		err = errors.New("mini-batches cannot be used where examples have different powers: take a path that anneals no examples in")
	}
	if err != nil {
		return nil, fmt.Errorf("SGHMC: %w", err)
	}
	return nil, nil
}

// Begin scales the first momenta, which a sampler draws from N(0, I), so that v ~ N(0, ηI): the stationary law of small steps. They
// last from target to target.
func (m SGHMC) Begin(_ context.Context, _ *Work, _ *Target, p *Population, _, _ []float64, now StepContext) (Trials, error) {
	if now.Key.Iteration > 0 {
		return Trials{}, nil
	}
	root := math.Sqrt(m.Step)
	for i, u := range p.Momentum {
		p.Momentum[i] = u / root
	}
	return Trials{}, nil
}

// Mutate is one epoch of every particle.
func (m SGHMC) Mutate(ctx context.Context, w *Work, t *Target, p *Population, _ []float64, now StepContext) (Outcome, error) {
	def(&m.Friction, usualFriction)
	return m.epoch(ctx, w, t, p, now, math.Sqrt(2*m.Friction/m.Step))
}

// epoch is Mutate with noise of a given standard deviation in u.
func (m SGHMC) epoch(ctx context.Context, w *Work, t *Target, p *Population, now StepContext, noise float64) (Outcome, error) {
	w.Fit(p)
	key, n := now.Key, t.Examples()
	key.Purpose = rng.Subset
	w.batch = key.Stream().Subset(w.batch, n, n)
	if t.Rows != nil {
		for i, at := range w.batch {
			w.batch[i] = t.Rows[at]
		}
	}
	key.Purpose = rng.Proposal
	streams := make([]*rng.Stream, p.J)
	for j := range streams {
		key.Particle = j
		streams[j] = key.Stream()
	}
	for i, batches := 0, (n-1)/m.Batch+1; i < batches; i++ {
		rows := w.batch[i*n/batches : (i+1)*n/batches]
		if err := ctx.Err(); err != nil {
			return Outcome{}, err
		}
		if err := t.Model.LogLik(ctx, rows, p.Theta, w.kinetic, w.momentum); err != nil {
			return Outcome{}, err
		}
		scale := float64(t.Lambda * float64(n) / float64(len(rows)))
		p.each(t.Pool, func(j int) { m.step(w, t, p, j, scale, noise, streams[j]) })
	}
	if err := t.Evaluate(ctx, p); err != nil {
		return Outcome{}, err
	}
	out := w.outcome
	for j := range p.J {
		if !isFinite(t.LogDensity(p, j)) {
			unit := "epoch"
			if t.Rows != nil { // a move is an epoch of the target's examples
				unit = "iteration"
			}
			broken := p.Broken(t.Model)
			if broken != "" {
				broken = ", and " + broken
			}
			return Outcome{}, diverged("SGHMC diverged in %s %d: particle %d ends at log-likelihood %v and log-prior %v%s; try a smaller step than %.4g",
				unit, now.Key.Iteration+1, j, p.LL[j], p.LP[j], broken, m.Step)
		}
		out.Energy[j], out.Probability[j] = 0, math.NaN()
	}
	out.took(n, n)
	out.Step, out.Shown = m.Step, n
	return out, nil
}

// step moves particle j by the gradients of a mini-batch, which lie in w.momentum.
func (m SGHMC) step(w *Work, t *Target, p *Population, j int, scale, noise float64, s *rng.Stream) {
	spare := w.spare.Get().(*[]float64)
	defer w.spare.Put(spare)
	theta, u, x := p.row(p.Theta, j), p.row(p.Momentum, j), (*spare)[:p.D]
	keep := 1 - m.Friction
	t.Prior.LogDensity(theta, x)
	for i, g := range p.row(w.momentum, j) {
		u[i] = float64(keep*u[i]) + (float64(scale*g) + x[i])
	}
	if noise > 0 {
		s.Normals(x)
		for i, xi := range x {
			u[i] += float64(noise * xi)
		}
	}
	for i, v := range u {
		theta[i] += float64(m.Step * v)
	}
}
