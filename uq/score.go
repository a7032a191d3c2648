package uq

import "github.com/starling-smc/starling/internal/rng"

// The scores of this file compare class probabilities p̄, [n, classes], with labels y, [n], 0 ≤ y < classes (Liang et al.,
// Scalable Bayesian Monte Carlo, section 3.7). Without examples a score is NaN. The functions panic if the sizes do not match.

// Accuracy is the share of examples whose most probable class is the label. Of several most probable classes the lowest
// counts.
func Accuracy(probs []float64, classes int, labels []int32) float64 {
	mustRows(len(probs), classes, classes*len(labels))
	right := 0
	for i, y := range labels {
		if Argmax(probs[i*classes:(i+1)*classes]) == int(y) {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}

// NLL is the mean of −ln p̄(y) in nats; infinite if a label has probability 0.
func NLL(probs []float64, classes int, labels []int32) float64 {
	mustRows(len(probs), classes, classes*len(labels))
	sum := 0.0
	for i, y := range labels {
		sum -= rng.Log(probs[i*classes+int(y)])
	}
	return sum / float64(len(labels))
}

// Brier is the mean over examples of Σ_c (p̄_c − 1{y = c})², between 0 and 2.
func Brier(probs []float64, classes int, labels []int32) float64 {
	mustRows(len(probs), classes, classes*len(labels))
	sum := 0.0
	for i, y := range labels {
		for c, p := range probs[i*classes : (i+1)*classes] {
			if c == int(y) {
				p -= 1
			}
			sum += float64(p * p)
		}
	}
	return sum / float64(len(labels))
}

// Argmax is the index of the largest value, the lowest index of several. It is −1 if a value is NaN or there is none.
func Argmax(p []float64) int {
	best := -1
	for c, v := range p {
		if v != v {
			return -1
		}
		if best < 0 || v > p[best] {
			best = c
		}
	}
	return best
}
