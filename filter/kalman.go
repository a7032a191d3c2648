package filter

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Kalman is the exact filter of a linear Gaussian model (ssm.Linear): x_k ~ N(A x_{k−1}, Q), and M measurements z_i ~ N(H x_k, R).
// It predicts, m⁻ = A m and P⁻ = A P Aᵀ + Q, and updates by the mean z̄ of the measurements, whose noise has covariance R/M:
//
//	C = H P⁻ Hᵀ + R/M,   K = P⁻ Hᵀ C⁻¹,   m = m⁻ + K (z̄ − H m⁻),   P = (I − K H) P⁻ (I − K H)ᵀ + K (R/M) Kᵀ.
//
// The form of P (Joseph) stays positive semidefinite under rounding. The deviations from the mean enter the evidence alone:
//
//	p(z_1 … z_M) = N(z̄; H m⁻, C) Π_i N(z_i; z̄, R) / N(0; 0, R/M).
//
// Measurements that lack the same of their numbers are one more update, with the rows of H and the block of R that are there.
type Kalman struct{ normal }

// Title implements Method.
func (Kalman) Title() string { return "a Kalman filter" }

// Suits implements Method.
func (Kalman) Suits(m ssm.Model) error {
	if _, ok := m.(ssm.Linear); !ok {
		return errors.New("a Kalman filter needs a linear Gaussian model: take smcmc or bootstrap for this one")
	}
	return nil
}

// Bytes implements Method.
func (Kalman) Bytes(dim int) int64 { return 64 * int64(dim) * int64(dim) }

// On implements Method.
func (m Kalman) On(job Job) (Filter, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	if err := m.Suits(job.Model); err != nil {
		return nil, err
	}
	return &kalman{job.Model.(ssm.Linear)}, nil
}

type kalman struct{ model ssm.Linear }

// Init implements Filter.
func (f *kalman) Init(context.Context) (*State, error) {
	mean, cov := f.model.StartMoments()
	return &State{Dim: f.model.Dim(), Mean: append([]float64(nil), mean...), Cov: append([]float64(nil), cov...)}, nil
}

// Step implements Filter.
func (f *kalman) Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error) {
	if err := given(ctx, st, scan); err != nil {
		return Info{}, err
	}
	if st.Mean == nil || st.Dim != f.model.Dim() {
		return Info{}, errors.New("the state is not one of a Kalman filter of this model: begin with its own Init")
	}
	mean, cov, _, err := predict(f.model, st, scan)
	if err != nil {
		return Info{}, err
	}
	like, err := bound(f.model, scan) // the measurements are checked there
	if err != nil {
		return Info{}, err
	}
	if math.IsInf(logLik(like, mean), 1) { // of no use here, but what other methods refuse is refused
		return Info{}, infinite(scan, mean)
	}
	h, r := f.model.Observation()
	logZ, square, err := update(mean, cov, h, r, scan)
	if err != nil {
		return Info{}, err
	}
	numbers := len(scan.Values)
	for _, p := range scan.Parts { // given the measurements before, each part is one more update
		if h, r, err = ssm.Observe(f.model, p.Columns); err != nil {
			return Info{}, &ssm.MeasurementError{Row: scan.Len(), Err: err}
		}
		more, further, err := update(mean, cov, h, r, &ssm.Scan{Width: len(p.Columns), Values: p.Values})
		if err != nil {
			return Info{}, err
		}
		logZ, square, numbers = logZ+more, square+further, numbers+len(p.Values)
	}
	st.Mean, st.Cov, st.K, st.Time = mean, cov, st.K+1, scan.Time
	st.LogZ += logZ
	info := noAcceptance()
	info.LogEvidence, info.Evaluated = logZ, int64(scan.Measured())
	if numbers > 0 { // of predicted scans the squared distance from their mean is χ² of as many degrees
		tail := rng.GammaTail(float64(numbers)/2, square/2)
		info.Surprise = &tail
	}
	return info, nil
}

// predict returns the moments of the state at the time of a scan, before its measurements, and the transition's A.
func predict(m ssm.Model, st *State, scan *ssm.Scan) (mean, cov, a []float64, err error) {
	tr, err := st.transition(m, scan)
	if err != nil {
		return nil, nil, nil, err
	}
	g, ok := tr.(ssm.Gaussian)
	if !ok {
		return nil, nil, nil, fmt.Errorf("the filter needs transitions x ~ N(A x, Q) that say so (ssm.Gaussian), not %T", tr)
	}
	mean, cov = ssm.Propagate(g, st.Mean, st.Cov)
	a, _ = g.Gaussian()
	return mean, cov, a, nil
}

// update takes the measurements z ~ N(H·x, R) of a scan into mean and cov. It returns the log evidence, and the squared distance of the
// measurements from what was predicted, in standard deviations.
func update(mean, cov, h, r []float64, scan *ssm.Scan) (logZ, square float64, err error) {
	m, w, d := scan.Len(), scan.Width, len(mean)
	if m == 0 {
		return 0, 0, nil
	}
	factor := append([]float64(nil), r...)
	if !dense.Cholesky(factor, w) {
		return 0, 0, errors.New("the covariance R of the measurements is not positive definite")
	}
	zbar := centre(scan)
	squares, dev := 0.0, make([]float64, w) // Σ (z − z̄)ᵀ R⁻¹ (z − z̄)
	for i := range m {
		for j, v := range scan.Row(i) {
			dev[j] = v - zbar[j]
		}
		dense.Forward(factor, dev)
		for _, v := range dev {
			squares += float64(v * v)
		}
	}
	many := float64(m)
	logZ = float64(-0.5*squares) - float64((many-1)/2*(float64(float64(w)*log2Pi)+dense.LogDet(factor, w))) - float64(float64(w)/2*rng.Log(many))

	// The update by z̄.
	hp, c := make([]float64, w*d), make([]float64, w*w)
	dense.Mul(hp, h, cov, d)
	dense.MulT(c, hp, h, d)
	for i, v := range r {
		c[i] += v / many
	}
	dense.Symmetrise(c, w)
	if !dense.Cholesky(c, w) {
		return 0, 0, errors.New("the covariance of the predicted measurement is not positive definite")
	}
	innovation := make([]float64, w)
	dense.MulVec(innovation, h, mean)
	for j := range innovation {
		innovation[j] = zbar[j] - innovation[j]
	}
	gain := make([]float64, d*w) // K = P Hᵀ C⁻¹, row by row, since C is symmetric
	for i := range d {
		row := gain[i*w : (i+1)*w]
		for j := range row {
			row[j] = hp[j*d+i]
		}
		dense.Solve(c, row)
		for j, v := range innovation {
			mean[i] += float64(row[j] * v)
		}
	}
	rest := make([]float64, d*d) // I − K H
	dense.Mul(rest, gain, h, w)
	for i, v := range rest {
		rest[i] = -v
	}
	for i := range d {
		rest[i*d+i]++
	}
	left, noise, kr := make([]float64, d*d), make([]float64, d*d), make([]float64, d*w)
	dense.Mul(left, rest, cov, d)
	dense.MulT(cov, left, rest, d)
	dense.Mul(kr, gain, r, w)
	dense.MulT(noise, kr, gain, w)
	for i, v := range noise {
		cov[i] += v / many
	}
	dense.Symmetrise(cov, d)
	dense.Forward(c, innovation)
	for _, v := range innovation {
		logZ -= float64(0.5 * float64(v*v))
		squares += float64(v * v)
	}
	return logZ - float64(0.5*(float64(float64(w)*log2Pi)+dense.LogDet(c, w))), squares, nil
}

// centre is the mean of a scan's measurements. Deviations from the first are added: far from the origin, values would lose digits.
func centre(scan *ssm.Scan) []float64 {
	sum, first := make([]float64, scan.Width), scan.Row(0)
	for i := range scan.Len() {
		for j, v := range scan.Row(i) {
			sum[j] += v - first[j]
		}
	}
	for j := range sum {
		sum[j] = first[j] + sum[j]/float64(scan.Len())
	}
	return sum
}

const log2Pi = 1.8378770664093454835606594728112
