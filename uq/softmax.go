// Package uq scores predictions and measures their uncertainty: arrays in, numbers out.
//
// Classification: Softmax and Sigmoid turn a network's outputs into the prediction of one particle, a Member. A Mixture
// averages the Members of weighted particles, one at a time, into a Predictive: mean probabilities, entropies and energy of
// each example. Evaluate scores it: accuracy, negative log-likelihood, Brier score, calibration error and risk–coverage. For
// each group of examples it gives the entropies, and how well these separate the group from the test set.
//
// Regression: Normals is the mixture that an ensemble predicts for one target, with its density, quantiles and CRPS. RMSE,
// R2 and Coverage score the predictions for many.
//
// All sums run over particles, classes and examples in their order, and exponentials and logarithms are those of
// package rng. So scores have the same bits on every machine. Logarithms are natural. A NaN in the input makes the score NaN
// and never counts as a right answer.
package uq

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Member is the prediction of one particle for n examples.
type Member struct {
	classes int
	Probs   []float64 // [n, classes]
	Entropy []float64 // [n], nats
	Energy  []float64 // [n], −ln Σ_c e^{z_c} of logits z; nil if there are only probabilities
	Logits  []float64 // [n, classes], z; nil without one logit for each class
}

// NewMember returns a Member of n examples, for Softmax or Sigmoid to fill.
func NewMember(n, classes int) *Member {
	return &Member{classes: classes, Probs: make([]float64, n*classes), Entropy: make([]float64, n), Energy: make([]float64, n)}
}

// Probabilities is the Member with given probabilities [n, classes], such as another program's. It refers to probs.
func Probabilities(probs []float64, classes int) *Member {
	mustRows(len(probs), classes, len(probs))
	m := &Member{classes: classes, Probs: probs, Entropy: make([]float64, len(probs)/classes)}
	m.entropies()
	return m
}

// Softmax fills m from its logits, [n, classes]: probabilities e^{z_c} / Σ_k e^{z_k}. The row's largest logit is subtracted
// first, so that no exponential overflows.
func Softmax[T float32 | float64](m *Member, logits []T) {
	mustRows(len(m.Probs), m.classes, len(logits))
	m.Logits = slices.Grow(m.Logits[:0], len(logits))
	for i := range m.Energy {
		p, z := m.row(i), logits[i*m.classes:(i+1)*m.classes]
		for _, v := range z {
			m.Logits = append(m.Logits, float64(v))
		}
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
		m.Energy[i] = -(top + rng.Log(sum))
	}
	m.entropies()
}

// Sigmoid fills m, of two classes, from one logit z for each example. The probabilities of classes 0 and 1 are 1/(1+e^z) and
// 1/(1+e^−z), as for the two logits 0 and z.
func Sigmoid[T float32 | float64](m *Member, logits []T) {
	mustRows(len(m.Probs), 2, 2*len(logits))
	m.Logits = nil
	for i, v := range logits {
		e := rng.Exp(-math.Abs(float64(v)))
		likely, other := 1/(1+e), e/(1+e)
		if v < 0 {
			likely, other = other, likely
		}
		p := m.row(i)
		p[0], p[1] = other, likely
		m.Energy[i] = -(max(float64(v), 0) + rng.Log(1+e))
	}
	m.entropies()
}

func (m *Member) row(i int) []float64 { return m.Probs[i*m.classes : (i+1)*m.classes] }

func (m *Member) entropies() {
	for i := range m.Entropy {
		m.Entropy[i] = Entropy(m.row(i))
	}
}

// mustRows panics unless the lengths are equal and a multiple of classes.
func mustRows(n, classes, m int) {
	if classes < 1 || n != m || n%classes != 0 {
		panic("uq: arrays of different sizes, or no multiple of the number of classes")
	}
}
