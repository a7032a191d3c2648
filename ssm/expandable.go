package ssm

// Expandable is a Likelihood whose terms l_i(x) = log p(z_i | x) have a Taylor series about a state x⁺ (sequential-mcmc-massive-data, section
// 2.2, eq. 15 and 16; the quadratic term is not in the paper). With δ = x − x⁺,
//
//	l_i(x) = l_i(x⁺) + g_i·δ [+ δᵀ H_i δ/2] + B_i(x)
//
// The series has order 1 or 2: the part in brackets is that of order 2. Its sums over all measurements cost one pass over them, once an x⁺.
// What is left of a step is a residual for each measurement, small and bounded near x⁺: a few of them decide on a proposal.
//
// Rows are numbered from 0 to Len − 1 in an order of the likelihood's own, which Expand does not change. A Counter counts neither passes nor
// residuals: the filter does.
type Expandable interface {
	Likelihood
	// Expand takes the series about a state and returns its sums. Residuals, Curvature and Near are about the series of the last call; at is
	// copied. ok is false if the log-likelihood or one of its derivatives is not finite there.
	Expand(at []float64, order int) (e Expansion, ok bool)
	// Residuals sets d[j] = l_i(to) − l_i(from) − [proxy_i(to) − proxy_i(from)] of row i = rows[j], where proxy_i(x) = g_i·δ [+ δᵀ H_i δ/2]. A
	// residual that is not finite says that one of the states could not have given the measurement.
	Residuals(from, to []float64, rows []int32, d []float64)
	// Curvature is a bound on the derivative of order + 1 of each l_i, i < Bounded, for all x with |x − x⁺| ≤ radius: on the spectral norm of its
	// Hessian (order 1), or on the largest value of its third derivative along three unit vectors (order 2). |·| is the Euclidean norm over the
	// coordinates that the likelihood depends on (Informed). +Inf: there is no bound.
	Curvature(order int, radius float64) float64
}

// Expansion holds the sums of a Taylor series over all measurements.
type Expansion struct {
	Value    float64   // LogLik(x⁺, nil)
	Gradient []float64 // Dim
	Hessian  []float64 // Dim × Dim, row-major, symmetric; nil for order 1
	Bounded  int       // the rows below it obey Curvature; each decision evaluates the others, Bounded … Len − 1
	Terms    int64     // of the likelihood that the pass evaluated
}

// Informed is a Likelihood that does not depend on all coordinates of the state, as measurements of positions do not on velocities.
type Informed interface {
	Likelihood
	Informed() []int // the coordinates that it depends on, rising
}

// Scaled is an Expandable whose coordinates have units of different size, so that a ball in units of its own has a far smaller bound than one in
// the state's.
type Scaled interface {
	Expandable
	// Scales returns a length above 0 for each coordinate, at the x⁺ of the last Expand.
	Scales() []float64
	// ScaledCurvature is Curvature where each coordinate is divided by its length: radius, |x − x⁺| and unit vectors.
	ScaledCurvature(order int, radius float64) float64
}

// Localised is an Expandable whose measurements depend on nearby targets alone.
type Localised interface {
	Expandable
	// Near returns what residuals can depend on while the block's coordinates, and all others, stay within radius of x⁺: for each coordinate
	// block of a target, the Euclidean norm over the coordinates of Informed.
	Near(block Block, radius float64) Neighbourhood
}

// Neighbourhood is the part of a scan that a block's moves change.
type Neighbourhood struct {
	Rows        [][2]int32 // ranges of rows below Bounded: from, and up to but not including to; the residuals of others are nothing
	Coordinates []int      // of the state, on which the residuals of these rows depend
	Curvature   [2]float64 // that of these rows, for the series of order 1 and 2
}
