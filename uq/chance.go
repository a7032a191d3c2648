package uq

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// LogChance bounds how probable it is that as many events as k happen, or as few, when event i happens with probability p[i],
// independently of the others. It returns the logarithm of Chernoff's bound,
//
//	ln P ≤ min_t Σ_i ln(1 − p_i + p_i e^t) − t k,
//
// on P(number ≥ k) if k is above the mean Σ p_i, and on P(number ≤ k) if it is below. It is 0 at the mean, and −Inf where k cannot
// happen. The true probability is never larger, so a test by it has at most the false-alarm rate that it states. For equal p it is
// −n times the Kullback-Leibler divergence of k/n from p. NaN if a probability is.
func LogChance(p []float64, k int) float64 {
	mean := 0.0
	for _, x := range p {
		mean += x
	}
	if math.IsNaN(mean) {
		return math.NaN()
	}
	if float64(k) < mean { // count what does not happen
		not := make([]float64, len(p))
		for i, x := range p {
			not[i] = 1 - x
		}
		p, k = not, len(p)-k
	}
	possible, all := 0, 0.0 // events that may happen, and ln of the probability that they all do
	for _, x := range p {
		if x > 0 {
			possible++
			all += rng.Log(x)
		}
	}
	switch {
	case k > possible:
		return math.Inf(-1)
	case k == possible:
		return min(all, 0)
	}
	low, high := 0.0, 1.0 // t, by bisection: the derivative rises with it
	for slope(p, high) < float64(k) && high < 512 {
		high *= 2
	}
	for range 50 {
		if t := (low + high) / 2; slope(p, t) < float64(k) {
			low = t
		} else {
			high = t
		}
	}
	e, bound := rng.Exp(low), float64(-low*float64(k))
	for _, x := range p {
		bound += rng.Log(1 - x + float64(x*e))
	}
	return min(bound, 0)
}

// slope is the derivative of Σ ln(1 − p + p e^t) by t.
func slope(p []float64, t float64) float64 {
	e, sum := rng.Exp(t), 0.0
	for _, x := range p {
		sum += float64(x*e) / (1 - x + float64(x*e))
	}
	return sum
}

// ECEByChance returns the calibration errors that a calibrated network with these confidences would show, in ascending order: each is
// the ECE where every answer is right with the probability of its confidence, drawn anew. Draws are the same for the same confidences.
func ECEByChance(confidence []float64, bins, draws int) []float64 {
	of := make([]int, len(confidence))
	empty := make([]Bin, bins)
	for i, c := range confidence {
		of[i] = bin(c, bins)
		empty[of[i]].Count++
		empty[of[i]].Confidence += c
	}
	for k := range empty {
		empty[k].Confidence /= max(float64(empty[k].Count), 1)
	}
	errors := make([]float64, draws)
	for d := range errors {
		stream, b := rng.Key{Purpose: rng.Synthetic, Iteration: d}.Stream(), slices.Clone(empty)
		for i, c := range confidence {
			if stream.Float64() < c {
				b[of[i]].Accuracy++
			}
		}
		for k := range b {
			b[k].Accuracy /= max(float64(b[k].Count), 1)
		}
		errors[d] = ECE(b)
	}
	slices.Sort(errors)
	return errors
}
