package uq

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// What an ensemble of weighted particles says of an example x, and how its doubt divides (Liang et al., Scalable
// Bayesian Monte Carlo, eq. (6)), with p_j = p(·|x, θ_j) and weights W_j that sum to 1:
//
//	p̄ = Σ_j W_j p_j        the prediction
//	H_tot = H(p̄)           total entropy, in nats
//	H_al  = Σ_j W_j H(p_j)  aleatoric: what each particle doubts
//	H_ep  = H_tot − H_al    epistemic: what they disagree on (the mutual information of label and parameters)
//
// with H(p) = −Σ_c p_c ln p_c and 0 ln 0 = 0. Bounds: 0 ≤ H_ep ≤ H_tot ≤ ln C, and H_ep ≤ ln(number of particles).

// Predictive is an ensemble's prediction for n examples.
type Predictive struct {
	Classes   int
	Probs     []float64 // p̄, [n, Classes]
	Total     []float64 // H_tot, [n], nats
	Aleatoric []float64 // H_al, [n]
	Epistemic []float64 // H_ep, [n]
	Energy    []float64 // Σ_j W_j E_j, [n], E = −ln Σ_c e^{z_c} of logits z: low where they are sure; nil if there are none
}

// Len is the number of examples n.
func (p *Predictive) Len() int { return len(p.Total) }

// Mixture averages the probabilities of weighted particles as they come; it holds n×classes numbers, however many
// particles there are.
type Mixture struct {
	classes   int
	particles int
	weight    float64   // Σ_j w_j
	probs     []float64 // Σ_j w_j p_j
	aleatoric []float64 // Σ_j w_j H(p_j)
}

// NewMixture returns an empty mixture for n examples.
func NewMixture(n, classes int) *Mixture {
	return &Mixture{classes: classes, probs: make([]float64, n*classes), aleatoric: make([]float64, n)}
}

// Add adds one particle: its weight, of any common scale, and its probabilities, [n, classes]. A particle of weight 0
// changes nothing. It panics on a negative or infinite weight, NaN, or the wrong number of probabilities.
func (m *Mixture) Add(weight float64, probs []float64) {
	if len(probs) != len(m.probs) {
		panic(fmt.Sprintf("uq: %d probabilities, want %d", len(probs), len(m.probs)))
	}
	if !(weight >= 0) || math.IsInf(weight, 1) {
		panic(fmt.Sprintf("uq: weight %v", weight))
	}
	if weight == 0 {
		return
	}
	m.particles++
	m.weight += weight
	for i, p := range probs {
		m.probs[i] += float64(weight * p)
	}
	for i := range m.aleatoric {
		m.aleatoric[i] += float64(weight * Entropy(probs[i*m.classes:(i+1)*m.classes]))
	}
}

// Predictive returns the weighted mean so far. It panics if no particle has weight.
//
// H_ep is a difference of two sums whose rounding errors are at most about (particles + classes)(1 + ln C) units in
// the last place of 1. Within twice that it is set to 0, so that particles which agree have no epistemic entropy at
// all, and an ensemble of one ranks no example before another. What lies further below 0 stays: it shows
// probabilities that do not sum to 1.
func (m *Mixture) Predictive() *Predictive {
	if m.weight == 0 {
		panic("uq: a mixture without particles")
	}
	n, c := len(m.aleatoric), m.classes
	p := &Predictive{
		Classes: c, Probs: make([]float64, n*c),
		Total: make([]float64, n), Aleatoric: make([]float64, n), Epistemic: make([]float64, n),
	}
	const ulp = 0x1p-52
	rounding := 2 * ulp * float64(m.particles+c) * (1 + rng.Log(float64(c)))
	for i, v := range m.probs {
		p.Probs[i] = v / m.weight
	}
	for i, v := range m.aleatoric {
		p.Total[i] = Entropy(p.Probs[i*c : (i+1)*c])
		p.Aleatoric[i] = v / m.weight
		if d := p.Total[i] - p.Aleatoric[i]; !(math.Abs(d) <= rounding) {
			p.Epistemic[i] = d
		}
	}
	return p
}

// Entropy is −Σ p ln p in nats, with 0 ln 0 = 0.
func Entropy(p []float64) float64 {
	h := 0.0
	for _, v := range p {
		if v != 0 {
			h -= float64(v * rng.Log(v))
		}
	}
	return h
}
