// Package mcmc moves populations of parameter vectors by three kinds of moves. HMC, PCN, NUTS and Metropolis leave a target invariant.
// Unadjusted, Epoch and Walk have an error that a weight corrects (package smc). SGHMC and SVGD have an error that nothing corrects.
//
// A target is π(θ) ∝ exp(λ·l(θ))·p(θ): the likelihood to the power λ, the inverse temperature, times the prior. Model
// gives l, Prior gives p; their values and gradients are stored separately, so that a change of λ costs no evaluation. Some
// examples may be annealed in: they count with a power μ of their own, 1 or a scale, beside those of power λ. All particles
// advance together, one call of the Model for all of them. Each particle caches the values at its position (Population), so
// that the last gradient of a move is the first of the next.
//
// All numbers are float64, all randomness is keyed (internal/rng), and no result depends on the number of threads.
package mcmc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Model scores parameter vectors against examples; it owns its parallelism.
type Model interface {
	Dim() int      // D, length of a parameter vector
	Examples() int // N

	// LogLik sets ll[j] = Σ_{i in rows} log p(y_i | x_i, θ_j) in nats for J = len(ll) particles and, if grad is not
	// nil, grad[j·D:(j+1)·D] to its gradient. theta and grad are row-major J×D. rows are indices of examples in the
	// order of summation, nil for all. An error means that no particle could be scored (cancelled context, a broken
	// data source), and stops the run.
	//
	// A value outside the support is −Inf. NaN says that the model breaks down at θ, for example because θ itself is
	// infinite or NaN after a trajectory that diverged. NaN means −Inf wherever it comes from, and +Inf is never kept:
	//
	//	at a draw of the prior   NaN and −Inf: the particle has weight 0. If all have, or at +Inf: an error
	//	at a given start         the same, but a chain must start where the value is finite
	//	at a proposal            NaN, −Inf and +Inf are rejected; without accept or reject the particle is dead
	//	at a new batch           NaN, −Inf and +Inf: the particle is dead
	//
	// A log-prior that is NaN or infinite at the start is an error; at a proposal it is rejected likewise.
	LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error
}

// Augmented is a Model whose examples a move may see changed at random: images that are shifted and flipped. Only a move whose Traits say that
// it Augments asks for them, and for gradients alone: values, which weights and decisions compare, are those of the examples as they are.
type Augmented interface {
	Model

	// Augments reports whether there is anything to change; if not, LogLikAugmented is LogLik.
	Augments() bool

	// LogLikAugmented is LogLik of changed examples. seed names the changes: with one seed an example is changed in one way, in every batch.
	LogLikAugmented(ctx context.Context, seed uint64, rows []int32, theta, ll, grad []float64) error
}

// Partial is a Model with parameters ψ that all particles share. They are learned while the particles θ move
// (guided-open-horizon-smc, section 2).
type Partial interface {
	Model

	// Learned is the length of ψ.
	Learned() int

	// At returns the Model at ψ. It does not keep psi.
	At(psi []float64) Model

	// LearnedGradient sets grad to Σ_j weights[j] ∇_ψ Σ_{i in rows} log p(y_i | x_i, θ_j, ψ). rows and theta are as in LogLik,
	// weights are not negative. Particles whose share of the weights is below that of rounding errors may be left out.
	LearnedGradient(ctx context.Context, rows []int32, psi, theta, weights, grad []float64) error

	// LearnedName names ψ_i in errors, as in "2.weight[0, 3]".
	LearnedName(i int) string
}

// Stream is a stream of random numbers: Normal, Normals, Float64, Uint64 and more. A sampler hands it to Prior.Sample,
// keyed by seed, island and particle, so that a draw does not depend on the order of draws.
type Stream = rng.Stream

// Prior is a distribution of one parameter vector. It must be safe for concurrent use.
type Prior interface {
	Dim() int
	// Sample sets theta, of length D, to a draw.
	Sample(s *Stream, theta []float64)
	// LogDensity returns log p(θ), normalised, in nats and, if grad is not nil, sets grad to its gradient.
	LogDensity(theta, grad []float64) float64
}

// GaussianPrior is a prior of independent normal components, as preconditioned Crank–Nicolson and the first step
// size need it.
type GaussianPrior interface {
	Prior
	Mean(i int) float64
	SD(i int) float64
}

// LocalPrior is a prior without standard deviations, or with infinite ones, that has some at every θ, as a mixture of normals has. A
// chain begins with them as its scale.
type LocalPrior interface {
	Prior
	SDs(theta, sd []float64) // sets sd, of length D, to those at theta
}

// Target is the density exp(λ·l(θ) + μ·a(θ))·p(θ), not normalised: l is the log-likelihood summed over Rows, a the one
// summed over Annealed.
type Target struct {
	Model    Model
	Prior    Prior
	Rows     []int32 // nil: all examples
	Annealed []int32 // examples of another power, none of them in Rows; for populations with AnnealedLL
	Lambda   float64 // λ, power of the likelihood of Rows: an inverse temperature, or the scale N/n of a batch
	Mu       float64 // μ, power of the likelihood of Annealed: 1, or the scale
	Pool     *Pool
}

// Examples is the number of examples that one evaluation reads.
func (t *Target) Examples() int {
	if t.Rows == nil {
		return t.Model.Examples()
	}
	return len(t.Annealed) + len(t.Rows)
}

// Evaluate sets the log-likelihood and log-prior of every particle of p and, if p carries it, the likelihood's gradient. A
// log-likelihood that the Model gives as NaN is −Inf.
func (t *Target) Evaluate(ctx context.Context, p *Population) error {
	p.each(t.Pool, func(j int) { p.LP[j] = t.Prior.LogDensity(p.row(p.Theta, j), nil) })
	return t.logLik(ctx, p)
}

func (t *Target) logLik(ctx context.Context, p *Population) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.AnnealedLL != nil {
		if err := t.annealedLogLik(ctx, p); err != nil {
			return err
		}
	}
	err := t.Model.LogLik(ctx, t.Rows, p.Theta, p.LL, p.GradLL)
	impossible(p.LL)
	return err
}

func (t *Target) annealedLogLik(ctx context.Context, p *Population) error {
	if len(t.Annealed) == 0 {
		clear(p.AnnealedLL)
		clear(p.AnnealedGrad)
		return nil
	}
	err := t.Model.LogLik(ctx, t.Annealed, p.Theta, p.AnnealedLL, p.AnnealedGrad)
	impossible(p.AnnealedLL)
	return err
}

// impossible makes log-likelihoods that are NaN −Inf, as Model says.
func impossible(ll []float64) {
	for j, l := range ll {
		if math.IsNaN(l) {
			ll[j] = math.Inf(-1)
		}
	}
}

// LogDensity returns log π(θ_j) from the cache of p.
func (t *Target) LogDensity(p *Population, j int) float64 {
	return p.LogLik(t.Lambda, t.Mu, j) + p.LP[j]
}
