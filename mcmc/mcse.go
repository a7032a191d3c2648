package mcmc

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// MeanError judges the mean of one chain's states x_1 … x_n. ess is the number of independent draws that the mean is worth, n/τ with the
// τ of IACT, and at most n log10 n, as in BulkESS. mcse is the Monte Carlo standard error of the mean, s/√ess, with s² the variance
// divided by n. A chain that stands still is worth one draw, whose error is unknown: mcse is NaN, as it is for a series that has a
// value which is not finite.
func MeanError(x []float64) (ess, mcse float64) {
	c, ok := centred(x)
	if !ok {
		return 1, math.NaN()
	}
	n := float64(len(x))
	tau, _ := IACT(x)
	ess = min(n/max(tau, 1e-300), n*max(1, rng.Log(n)/math.Ln10))
	return ess, math.Sqrt(autocovariance(c, 0) / ess)
}
