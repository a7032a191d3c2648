package mcmc

import "math"

// Autocorrelation returns ρ_0 … ρ_lags of a series x_1 … x_n, where
//
//	ρ_t = c_t/c_0,   c_t = (1/n) Σ_{i=1}^{n−t} (x_i − x̄)(x_{i+t} − x̄).
//
// Every c_t is divided by n, so that the c_t are a positive definite sequence (Priestley 1981, section 5.3.3); ρ_t is 0 for
// t ≥ n. All are NaN for a series that is empty or constant, or that has a value that is not finite.
func Autocorrelation(x []float64, lags int) []float64 {
	rho := make([]float64, lags+1)
	c, ok := centred(x)
	if !ok {
		for t := range rho {
			rho[t] = math.NaN()
		}
		return rho
	}
	variance := autocovariance(c, 0)
	for t := range rho {
		rho[t] = autocovariance(c, t) / variance
	}
	return rho
}

// IACT estimates the integrated autocorrelation time of a stationary chain, in states: how many of its states are worth one
// independent draw, when a mean is estimated:
//
//	τ = 1 + 2 Σ_{t≥1} ρ_t,
//
// with the ρ_t of Autocorrelation. The sum ends by the rule of the initial positive sequence (Geyer 1992, section 3.3): the
// ρ_{2t} + ρ_{2t+1} of a reversible chain are positive, so terms are added pair by pair until the first pair that is not. A
// chain that swings from side to side has a τ below 1, down to 0.
//
// enough is n ≥ 50 τ (scalable-bayesian-monte-carlo, section 4). A shorter chain may not have seen its own autocorrelation: τ
// is then too small rather than too large. τ is NaN and enough is false where Autocorrelation has no values.
func IACT(x []float64) (tau float64, enough bool) {
	c, ok := centred(x)
	if !ok {
		return math.NaN(), false
	}
	variance, sum := autocovariance(c, 0), 0.0
	for t := 0; t < len(c); t += 2 {
		pair := (autocovariance(c, t) + autocovariance(c, t+1)) / variance
		if !(pair > 0) {
			break
		}
		sum += pair
	}
	tau = 2*sum - 1
	return tau, float64(len(x)) >= 50*tau
}

// centred returns x minus its mean; ok is false where x has no autocorrelation.
func centred(x []float64) (c []float64, ok bool) {
	if allSame(x) {
		return nil, false
	}
	m := mean(x)
	c = make([]float64, len(x))
	for i, v := range x {
		c[i] = v - m
	}
	variance := autocovariance(c, 0)
	return c, variance > 0 && !math.IsInf(variance, 1)
}

// autocovariance is c_t of a series whose mean is 0.
func autocovariance(c []float64, t int) float64 {
	sum := 0.0
	for i := t; i < len(c); i++ {
		sum += float64(c[i] * c[i-t])
	}
	return sum / float64(len(c))
}

// allSame reports whether no value differs from the first. The variance cannot tell: rounding of the mean leaves one.
func allSame(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}
