package ssm

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
)

// Rates is a linear Gaussian model in continuous time (Särkkä and Solin 2019, section 6.2):
//
//	dx = A x dt + dβ,   β Brownian motion whose covariance grows by Q a second.
//
// Over T seconds, exactly,
//
//	x ← e^{AT} x + N(0, Q_T),   Q_T = ∫_0^T e^{As} Q e^{Aᵀs} ds.
type Rates struct {
	A [][]float64 `yaml:"a,required"` // rows of A, per second
	Q [][]float64 `yaml:"q,required"` // covariance of the noise that a second adds: positive semidefinite
}

// over returns e^{AT} and Q_T for a time T > 0.
//
// Van Loan (1978) has both in one exponential: with the 2d×2d matrix M = [A Q; 0 −Aᵀ] T,
//
//	e^M = [F G; 0 F⁻ᵀ],   e^{AT} = F,   Q_T = G Fᵀ.
//
// For a long T the exponential of a stable A has entries that are too large. So M is taken for h = T/2^n, short enough for a plain
// power series, and n doublings (then) lead from h to T. They are sums of positive semidefinite matrices, which lose no digits.
func (r Rates) over(t float64, d int) (a, q []float64) {
	rate, noise := slices.Concat(r.A...), slices.Concat(r.Q...)
	most := 0.0 // the scale of Q, which must not decide on h
	for _, v := range noise {
		most = max(most, math.Abs(v))
	}
	if most == 0 {
		most = 1
	}
	h, doublings := t, 0
	for norm := rowSums(rate, d); float64(norm*h) > 0.5 && !math.IsInf(norm, 1); h /= 2 {
		doublings++
	}
	w := 2 * d
	m := make([]float64, w*w)
	for i := range d {
		for j := range d {
			m[i*w+j] = rate[i*d+j] * h
			m[i*w+d+j] = noise[i*d+j] / most * h
			m[(d+i)*w+d+j] = -rate[j*d+i] * h
		}
	}
	e := series(m, w)
	a, q = make([]float64, d*d), make([]float64, d*d)
	g := make([]float64, d*d)
	for i := range d {
		copy(a[i*d:(i+1)*d], e[i*w:])
		copy(g[i*d:(i+1)*d], e[i*w+d:])
	}
	dense.MulT(q, g, a, d)
	for i := range q {
		q[i] *= most
	}
	dense.Symmetrise(q, d)
	for range doublings {
		a, q = then(a, q, a, q, d)
	}
	return a, q
}

// rowSums is the largest sum of absolute values in a row of a d×d matrix.
func rowSums(a []float64, d int) (most float64) {
	for i := range d {
		sum := 0.0
		for _, v := range a[i*d : (i+1)*d] {
			sum += math.Abs(v)
		}
		most = max(most, sum)
	}
	return most
}

// series is the exponential of a small d×d matrix M, Σ M^k/k!, until the terms do not change the sum.
func series(m []float64, d int) []float64 {
	sum, term, next := make([]float64, d*d), make([]float64, d*d), make([]float64, d*d)
	for i := range d {
		sum[i*d+i], term[i*d+i] = 1, 1
	}
	for k := 1; k < mostTerms; k++ {
		dense.Mul(next, term, m, d)
		term, next = next, term
		changed := false
		for i := range term {
			term[i] /= float64(k)
			was := sum[i]
			sum[i] += term[i]
			changed = changed || sum[i] != was
		}
		if !changed {
			break
		}
	}
	return sum
}

// mostTerms bounds the series: of a matrix whose rows sum to at most 1 about twenty terms are enough.
const mostTerms = 100

// check notes faults of the rates of a model with d coordinates. It reports whether there are none.
func (r Rates) check(f *config.Faults, d int) bool {
	good := checkMatrix(f, "a", r.A, d, d)
	return checkNoise(f, "q", r.Q, d) && good
}
