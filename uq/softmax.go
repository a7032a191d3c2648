// Package uq judges predictions: arrays in, numbers out.
//
// Softmax and Sigmoid turn a network's outputs into probabilities; a Mixture averages those of weighted particles,
// one particle at a time, into a Predictive: mean probabilities and entropies of each example. Evaluate scores it:
// accuracy, negative log-likelihood, Brier score, calibration error, and for groups of examples the entropies and how
// well they tell the group from the test set.
//
// All sums run over particles, classes and examples in their order, and exponentials and logarithms are those of
// package rng, so that figures have the same bits on every machine. Logarithms are natural. A NaN that goes in comes
// out as NaN: it never counts as a right answer.
package uq

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Softmax sets dst to the probabilities e^{z_c} / Σ_k e^{z_k} of each row of logits; both are [n, classes]. Logits are
// shifted by the row's largest, so that no exponential overflows.
func Softmax[T float32 | float64](dst []float64, logits []T, classes int) {
	mustRows(len(dst), classes, len(logits))
	for i := 0; i < len(dst); i += classes {
		p, z := dst[i:i+classes], logits[i:i+classes]
		top := math.Inf(-1)
		for _, v := range z {
			top = max(top, float64(v))
		}
		sum := 0.0
		for c, v := range z {
			p[c] = rng.Exp(float64(v) - top)
			sum += p[c]
		}
		for c := range p {
			p[c] /= sum
		}
	}
}

// Sigmoid sets each row of dst, [n, 2], to the probabilities of 0 and of 1 under one logit z: 1/(1+e^z), 1/(1+e^−z).
func Sigmoid[T float32 | float64](dst []float64, logits []T) {
	mustRows(len(dst), 2, 2*len(logits))
	for i, v := range logits {
		e := rng.Exp(-math.Abs(float64(v)))
		likely, other := 1/(1+e), e/(1+e)
		if v < 0 {
			likely, other = other, likely
		}
		dst[2*i], dst[2*i+1] = other, likely
	}
}

// mustRows panics unless the lengths are equal and a multiple of classes.
func mustRows(n, classes, m int) {
	if classes < 1 || n != m || n%classes != 0 {
		panic("uq: arrays of different sizes, or no multiple of the number of classes")
	}
}
