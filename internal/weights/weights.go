// Package weights normalises log-weights (float64, natural logarithms) and draws the ancestors of resampled particles by them. −Inf is
// the weight 0 of a dead particle. NaN, +Inf and weights that are all 0 are errors: nothing is repaired silently.
package weights

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Normalise subtracts log Σ_j exp(logw_j) from every log-weight and returns that sum and the effective sample size
// 1/Σ_j W_j² of the normalised weights. what names a weighted item in errors, as in "particle". After an error logw is
// unchanged.
func Normalise(logw []float64, what string) (logSum, ess float64, err error) {
	if len(logw) == 0 {
		return 0, 0, errors.New("no " + what + "s")
	}
	top := math.Inf(-1)
	for j, l := range logw {
		if math.IsNaN(l) || math.IsInf(l, 1) {
			return 0, 0, fmt.Errorf("%s %d has log-weight %v", what, j, l)
		}
		top = max(top, l)
	}
	if math.IsInf(top, -1) {
		return 0, 0, fmt.Errorf("all %d %ss are dead: every log-weight is -Inf", len(logw), what)
	}
	var sum, square float64
	for _, l := range logw {
		w := rng.Exp(l - top)
		sum += w
		square += float64(w * w)
	}
	sum, ess = rng.Log(sum), sum*sum/square
	for j := range logw {
		logw[j] = logw[j] - top - sum // subtract top first: top + sum could round to top, and sum would be lost
	}
	return top + sum, ess, nil
}

// Exp sets w to the weights of normalised log-weights.
func Exp(logw, w []float64) {
	for j, l := range logw {
		w[j] = rng.Exp(l)
	}
}
