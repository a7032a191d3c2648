package smc

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Weights are log-weights in float64, natural logarithms. −Inf is a dead particle. NaN and +Inf are errors, and so is a
// population without a living particle: nothing is ever mended silently.

// Normalise subtracts log Σ_j exp(logw_j) from every log-weight and returns that sum and the effective sample size
// 1/Σ_j W_j² of the normalised weights. After an error logw is as it was; the error names the particle.
func Normalise(logw []float64) (logSum, ess float64, err error) {
	if len(logw) == 0 {
		return 0, 0, errors.New("no particles")
	}
	top := math.Inf(-1)
	for j, l := range logw {
		if math.IsNaN(l) || math.IsInf(l, 1) {
			return 0, 0, fmt.Errorf("particle %d has log-weight %v", j, l)
		}
		top = max(top, l)
	}
	if math.IsInf(top, -1) {
		return 0, 0, fmt.Errorf("all %d particles are dead: every log-weight is -Inf", len(logw))
	}
	var sum, square float64
	for _, l := range logw {
		w := rng.Exp(l - top)
		sum += w
		square += float64(w * w)
	}
	sum, ess = rng.Log(sum), sum*sum/square
	for j := range logw {
		logw[j] = logw[j] - top - sum // the largest first: top + sum may be top, and the sum of the weights lost
	}
	return top + sum, ess, nil
}

// logVariance is the variance of the log-weights of the living, which count alike: 0 if there is one.
func logVariance(logw []float64) float64 {
	var s spread
	for _, l := range logw {
		s.add(l)
	}
	return s.variance()
}

// dead counts the log-weights that are −Inf.
func dead(logw []float64) (n int) {
	for _, l := range logw {
		if math.IsInf(l, -1) {
			n++
		}
	}
	return n
}
