package mcmc

import (
	"context"

	"github.com/starling-smc/starling/internal/rng"
)

// Model scores parameter vectors against examples; it owns its parallelism.
type Model interface {
	Dim() int      // D, length of a parameter vector
	Examples() int // N

	// LogLik sets ll[j] = Σ_{i in rows} log p(y_i | x_i, θ_j) in nats for J = len(ll) particles and, if grad is not
	// nil, grad[j·D:(j+1)·D] to its gradient. theta and grad are row-major J×D. rows are indices of examples in the
	// order of summation, nil for all. A value outside the support is −Inf; NaN is allowed for a θ where the model
	// breaks down and counts as a rejected proposal. An error means that no particle could be scored (cancelled
	// context, a broken data source), and stops the run.
	LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error
}

// Prior is a distribution of one parameter vector.
type Prior interface {
	Dim() int
	// Sample sets theta, of length D, to a draw.
	Sample(s *rng.Stream, theta []float64)
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
