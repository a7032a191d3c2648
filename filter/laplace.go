package filter

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// Laplace is the Laplace filter: one normal law a scan, about the mode of the posterior (Koyama, Castellanos Pérez-Bolde, Shalizi and Kass
// 2010, of first order). From N(m, P) it predicts as the Kalman filter, m⁻ = A m and P⁻ = A P Aᵀ + Q = B Bᵀ, and finds the mode x̂ of
// p(z | x) N(x; m⁻, P⁻) by Newton's method (newton.go). With the negative Hessian Λ of log p(z | x) there,
//
//	m = x̂,   P = B (I + Bᵀ Λ B)⁻¹ Bᵀ,   log p(z_k | z_1:k−1) ≈ log p(z | x̂) − |w|²/2 − log det(I + Bᵀ Λ B)/2,   x̂ = m⁻ + B w.
//
// P⁻ may be singular. On a linear Gaussian model this is the Kalman filter. It is good where the measurements make the posterior nearly normal:
// it knows one mode, and no skew. Where I + Bᵀ Λ B is not positive definite, which is no curvature of a mode, eigenvalues of Λ below 0 count as 0, and
// Info.Repairs counts it.
//
// A target that explains fewer than half of its measurements at the mode is also sought where they are densest, as the start of a chain is
// (starts.go): the best mode counts.
type Laplace struct{ normal }

// Title implements Method.
func (Laplace) Title() string { return "a Laplace filter" }

// Suits implements Method.
func (Laplace) Suits(m ssm.Model) error {
	if _, ok := m.(ssm.GaussianStart); !ok {
		return errors.New("a Laplace filter needs the mean and covariance of the model's start (ssm.GaussianStart): take smcmc or bootstrap for this one")
	}
	if !normalSteps(m) {
		return errors.New("a Laplace filter needs transitions x ~ N(A x, Q) that say so (ssm.Gaussian): take smcmc or bootstrap for this one")
	}
	if hasSeries(m) != nil {
		return errors.New("a Laplace filter needs a likelihood with a Taylor series (ssm.Expandable): take smcmc or bootstrap for this one")
	}
	return nil
}

// Bytes implements Method.
func (Laplace) Bytes(dim int) int64 { return 128 * int64(dim) * int64(dim) }

// On implements Method.
func (m Laplace) On(job Job) (Filter, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	if err := m.Suits(job.Model); err != nil {
		return nil, err
	}
	if job.Pool == nil {
		job.Pool = mcmc.NewPool(0)
	}
	return &laplace{job}, nil
}

type laplace struct{ Job }

// Init implements Filter.
func (f *laplace) Init(context.Context) (*State, error) {
	mean, cov := f.Model.(ssm.GaussianStart).StartMoments()
	return &State{Dim: f.Model.Dim(), Mean: append([]float64(nil), mean...), Cov: append([]float64(nil), cov...)}, nil
}

// enoughOfMode is the gain in nats below which a step to the mode is not made: it is 1e-3 standard deviations.
const enoughOfMode = 1e-6

// Step implements Filter.
func (f *laplace) Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error) {
	if err := given(ctx, st, scan); err != nil {
		return Info{}, err
	}
	if st.Mean == nil || st.Dim != f.Model.Dim() {
		return Info{}, errors.New("the state is not one of a Laplace filter of this model: begin with its own Init")
	}
	mean, cov, _, err := predict(f.Model, st, scan)
	if err != nil {
		return Info{}, err
	}
	like, err := bind(f.Model, scan, f.Pool)
	if err != nil {
		return Info{}, err
	}
	series, ok := seriesOf(like, st.Dim)
	if !ok {
		return Info{}, fmt.Errorf("the scan at %v s: the model's likelihood has no Taylor series (ssm.Expandable)", scan.Time)
	}
	n, ok := newNewton(series, mean, cov, nil)
	if !ok {
		return Info{}, fmt.Errorf("the scan at %v s: the covariance of the predicted state is not positive semidefinite: %v", scan.Time, cov)
	}
	n.enough = enoughOfMode
	best, found := n.climb(mean, mostPasses)
	finder, finds := own(like).(ssm.Finder)
	if finds && found {
		best = n.seek(finder, ssm.Blocks(f.Model), cov, best)
	}
	switch l := logLik(like, mean); {
	case math.IsInf(l, 1):
		return Info{}, infinite(scan, mean)
	case !found && math.IsInf(l, -1):
		return Info{}, impossible(like, scan, mean, "the mean of the prediction")
	case !found:
		return Info{}, fmt.Errorf("the scan at %v s: the log-likelihood has no derivatives at the mean of the predicted states, %v", scan.Time, mean)
	}
	info := noAcceptance()
	var logDet float64
	if st.Cov, logDet, info.Repairs, err = n.spread(best); err != nil {
		return Info{}, fmt.Errorf("the scan at %v s: %w", scan.Time, err)
	}
	st.Mean, st.K, st.Time = best.at, st.K+1, scan.Time
	if finds && finder.Len() > 0 {
		counts := make([]float64, len(ssm.Blocks(f.Model)))
		finder.Explained(st.Mean, counts)
		info.explain(finder.Expected(), counts)
	}
	info.LogEvidence = best.value - float64(0.5*logDet)
	st.LogZ += info.LogEvidence
	info.Passes, info.PassTerms, info.Evaluated, info.Dropped = n.passes, n.terms, n.terms, dropped(like)
	return info, nil
}

// spread is the covariance of the normal law about a mode, log det(I + Bᵀ Λ B), and whether Λ had to be repaired.
func (n *newton) spread(s spot) (cov []float64, logDet float64, repairs int, err error) {
	d, r := len(s.at), n.prior.Rank()
	_, precision := s.slope(n.factor)
	l, ok := tightened(n.root, precision, d, r)
	if !ok {
		repairs++
		clipped(precision, d)
		if l, ok = tightened(n.root, precision, d, r); !ok {
			return nil, 0, 0, errors.New("the curvature of the log-likelihood at its mode is too large for a float64")
		}
	}
	half := append([]float64(nil), n.root...) // B L⁻ᵀ, row by row
	for i := range d {
		dense.Forward(l, half[i*r:(i+1)*r])
	}
	cov = make([]float64, d*d)
	dense.MulT(cov, half, half, max(r, 1))
	dense.Symmetrise(cov, d)
	return cov, dense.LogDet(l, r), repairs, nil
}
