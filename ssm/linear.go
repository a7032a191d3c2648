package ssm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
)

// LinearGaussian is the model of a Kalman filter, with many measurements a scan (spec 3.1):
//
//	x_k = A x_{k−1} + N(0, Q),   z_k^i = H x_k + N(0, R),   i = 1 … M
//
// The state has d numbers and a measurement w; both may be 1. A, Q and R are square, H is w×d. A step of n intervals has the
// transition A^n with the covariance Σ_{i<n} A^i Q A^iᵀ. With Rates a step may have any length.
type LinearGaussian struct {
	Interval float64     `yaml:"interval"`        // seconds of one step of A and Q, before the first scan, and between simulated scans; default 1
	A        [][]float64 `yaml:"a,omitempty"`     // rows of A: the state after one interval has mean A x
	Q        [][]float64 `yaml:"q,omitempty"`     // covariance of the noise of one interval: positive semidefinite, so that it may be singular
	Rates    *Rates      `yaml:"rates,omitempty"` // in place of a and q: the same per second, which gives steps of any length
	H        [][]float64 `yaml:"h,required"`      // rows of H: a measurement has mean H x
	R        [][]float64 `yaml:"r,required"`      // positive definite
	// Initial is the law of the state one interval before the first scan. Without it (nil), it is the stationary law N(0, P),
	// P = A P Aᵀ + Q, which exists where all eigenvalues of A are smaller than 1 in absolute value; of rates, where their real parts
	// are below 0.
	Initial *Initial `yaml:"start,omitempty"`
	Returns int      `yaml:"returns"` // number of measurements of a simulated scan; default 1
}

// Defaults implements config.Defaulter.
func (m *LinearGaussian) Defaults() {
	m.Interval, m.Returns = cmp.Or(m.Interval, 1), cmp.Or(m.Returns, 1)
}

// Check implements config.Checker.
func (m LinearGaussian) Check(f *config.Faults) {
	checkInterval(f, m.Interval)
	checkReturns(f, m.Returns)
	d, w := m.Dim(), len(m.H)
	good, stepwise := true, m.A != nil || m.Q != nil
	switch {
	case !stepwise && m.Rates == nil:
		f.Add("", "needs a and q, of one interval, or rates: {a: …, q: …}, which hold for steps of any length")
		return
	case stepwise && m.Rates != nil:
		f.Conflict([]string{"a", "q", "rates"}, "want either a and q, of one interval, or rates")
	}
	if stepwise {
		good = checkMatrix(f, "a", m.A, d, d)
		good = checkNoise(f, "q", m.Q, d) && good
	}
	if m.Rates != nil {
		good = m.Rates.check(f.In("rates"), d) && good
	}
	checkMatrix(f, "h", m.H, w, d)
	checkCovariance(f, "r", m.R, w)
	switch {
	case m.Initial != nil:
		names := make([]string, d)
		for i := range names {
			names[i] = fmt.Sprintf("x%d", i+1)
		}
		m.Initial.check(f.In("start"), names...)
	case good:
		_, ok := m.stationary()
		f.If(!ok, "start", "needs mean and sd: with this matrix a there is no stationary law to start from")
	}
}

// checkNoise wants a symmetric, positive semidefinite d×d matrix. It reports whether m is one.
func checkNoise(f *config.Faults, field string, m [][]float64, d int) bool {
	if !checkSymmetric(f, field, m, d) {
		return false
	}
	_, ok := dense.NewSemidefinite(slices.Concat(m...), d)
	f.If(!ok, field, "want a positive semidefinite matrix: a covariance without an eigenvalue below 0")
	return ok
}

// checkCovariance wants a symmetric, positive definite d×d matrix. It reports whether m is one.
func checkCovariance(f *config.Faults, field string, m [][]float64, d int) bool {
	if !checkSymmetric(f, field, m, d) {
		return false
	}
	ok := dense.Cholesky(slices.Concat(m...), d)
	f.If(!ok, field, "want a positive definite matrix: a covariance whose eigenvalues are above 0")
	return ok
}

func (m LinearGaussian) String() string {
	return fmt.Sprintf("linear Gaussian model with %d coordinates", m.Dim())
}

// Dim implements Model.
func (m LinearGaussian) Dim() int {
	if m.Rates != nil {
		return len(m.Rates.A)
	}
	return len(m.A)
}

// Period implements Timed.
func (m LinearGaussian) Period() float64 { return cmp.Or(m.Interval, 1) }

// Observed implements Observed: a measurement is a coordinate and noise where the one row of H is 0 but for a 1.
func (m LinearGaussian) Observed() int {
	coordinate := -1
	for _, row := range m.H {
		for i, h := range row {
			if h == 1 && coordinate < 0 && len(m.H) == 1 {
				coordinate = i
			} else if h != 0 {
				return -1
			}
		}
	}
	return coordinate
}

// StartMoments implements Linear.
func (m LinearGaussian) StartMoments() (mean, cov []float64) {
	if m.Initial != nil {
		return m.Initial.moments()
	}
	cov, ok := m.stationary()
	if !ok {
		panic("ssm: LinearGaussian without Initial and without a stationary law: call config.Check first")
	}
	return make([]float64, m.Dim()), cov
}

// stationary is the covariance of the stationary law; ok is false if there is none.
func (m LinearGaussian) stationary() (p []float64, ok bool) {
	a, q := m.moments(m.Period(), 1)
	return stationary(a, q, m.Dim())
}

// moments returns A and Q of a step of dt seconds, which are n intervals; rates do not need n.
func (m LinearGaussian) moments(dt float64, n uint64) (a, q []float64) {
	if m.Rates != nil {
		return m.Rates.over(dt, m.Dim())
	}
	return steps(slices.Concat(m.A...), slices.Concat(m.Q...), m.Dim(), n)
}

// Start implements Model.
func (m LinearGaussian) Start(s *Stream, x []float64) {
	if m.Initial != nil {
		m.Initial.draw(s, x)
		return
	}
	_, cov := m.StartMoments()
	law, err := newGaussian(make([]float64, len(cov)), cov, len(x))
	if err != nil {
		panic("ssm: the stationary law of a LinearGaussian: " + err.Error())
	}
	law.Sample(s, make([]float64, len(x)), x)
}

// Observation implements Linear.
func (m LinearGaussian) Observation() (h, r []float64) {
	return slices.Concat(m.H...), slices.Concat(m.R...)
}

// Transition implements Model: without rates, dt is a whole multiple of the interval, to a millionth of dt.
func (m LinearGaussian) Transition(dt float64) (Transition, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("linear Gaussian model: %w", err)
	}
	n := math.Round(dt / m.Period())
	switch whole := n >= 1 && n <= 1<<53 && math.Abs(dt-float64(n*m.Period())) <= 1e-6*dt; {
	case !(dt > 0) || !isFinite(dt):
		return nil, fmt.Errorf("linear Gaussian model: a step of %.12g s: want a time above 0", dt)
	case m.Rates == nil && !whole:
		return nil, fmt.Errorf("linear Gaussian model: a step of %.12g s is no whole multiple of the model's interval, %.12g s: "+
			"give rates: {a: …, q: …}, per second, in place of a and q, and steps may have any length; "+
			"or set interval to a time that divides all steps, and a and q to those of that interval", dt, m.Period())
	}
	a, q := m.moments(dt, uint64(n))
	t, err := newGaussian(a, q, m.Dim())
	if err != nil {
		return nil, fmt.Errorf("linear Gaussian model: a step of %.12g s: %w", dt, err)
	}
	return t, nil
}

// steps returns A^n and Σ_{i<n} A^i Q A^iᵀ for n ≥ 1, by doubling.
func steps(a, q []float64, d int, n uint64) (an, qn []float64) {
	for {
		if n&1 == 1 {
			if an == nil {
				an, qn = a, q
			} else {
				an, qn = then(an, qn, a, q, d)
			}
		}
		if n >>= 1; n == 0 {
			return an, qn
		}
		a, q = then(a, q, a, q, d)
	}
}

// then is the transition N(A₂ A₁ x, A₂ Q₁ A₂ᵀ + Q₂): first A₁ and Q₁, then A₂ and Q₂.
func then(a1, q1, a2, q2 []float64, d int) (a, q []float64) {
	a, q = make([]float64, d*d), make([]float64, d*d)
	dense.Mul(a, a2, q1, d)
	dense.MulT(q, a, a2, d)
	for i, v := range q2 {
		q[i] += v
	}
	dense.Symmetrise(q, d)
	dense.Mul(a, a2, a1, d)
	return a, q
}

// stationary solves P = A P Aᵀ + Q by doubling: after j rounds P is the sum of the first 2^j terms A^i Q A^iᵀ (Anderson and Moore
// 1979, section 6.7). It returns ok false if the sum does not converge: A has an eigenvalue of absolute value 1 or more.
func stationary(a, q []float64, d int) (p []float64, ok bool) {
	p = q
	for range 64 {
		nextA, nextP := then(a, p, a, p, d)
		if slices.Equal(nextP, p) {
			return p, !slices.ContainsFunc(p, func(v float64) bool { return !isFinite(v) })
		}
		a, p = nextA, nextP
	}
	return nil, false
}
