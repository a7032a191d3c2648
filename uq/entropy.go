package uq

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// The prediction of an ensemble of weighted particles for an example x, and the parts of its uncertainty (Liang et al.,
// Scalable Bayesian Monte Carlo, eq. (6)), with p_j = p(·|x, θ_j) and weights W_j that sum to 1:
//
//	p̄ = Σ_j W_j p_j        the prediction
//	H_tot = H(p̄)           total entropy, in nats
//	H_al  = Σ_j W_j H(p_j)  aleatoric: the particles' mean entropy
//	H_ep  = H_tot − H_al    epistemic: their disagreement (the mutual information of label and parameters)
//
// with H(p) = −Σ_c p_c ln p_c and 0 ln 0 = 0. Bounds: 0 ≤ H_ep ≤ H_tot ≤ ln C, and H_ep ≤ ln(number of particles).

// Predictive is an ensemble's prediction for n examples.
type Predictive struct {
	Classes   int
	Probs     []float64 // p̄, [n, Classes]
	Total     []float64 // H_tot, [n], nats
	Aleatoric []float64 // H_al, [n]
	Epistemic []float64 // H_ep, [n]
	Energy    []float64 // Σ_j W_j E_j, [n], E = −ln Σ_c e^{z_c} of logits z: low where certain; nil without logits

	// MeanLogits is the energy of the mean logits, −ln Σ_c e^{z̄_c} with z̄ = Σ_j W_j z_j, [n]. It is at least Energy, since E is
	// concave. Nil without one logit for each class.
	MeanLogits []float64

	Tops *Tops // of the particles' answers; nil unless the mixture was asked for them (Mixture.WatchTops)
}

// Len is the number of examples n.
func (p *Predictive) Len() int { return len(p.Total) }

// Confidence is the probability of the most probable class of each row, [n]. It is NaN where a probability is NaN.
func Confidence(probs []float64, classes int) []float64 {
	confidence := make([]float64, len(probs)/classes)
	for i := range confidence {
		p := probs[i*classes : (i+1)*classes]
		if c := Argmax(p); c >= 0 {
			confidence[i] = p[c]
		} else {
			confidence[i] = math.NaN()
		}
	}
	return confidence
}

// Rows is the prediction for some of the examples, in the order of rows.
func (p *Predictive) Rows(rows []int) *Predictive {
	q := &Predictive{Classes: p.Classes}
	for _, i := range rows {
		q.Probs = append(q.Probs, p.Probs[i*p.Classes:(i+1)*p.Classes]...)
		q.Total = append(q.Total, p.Total[i])
		q.Aleatoric = append(q.Aleatoric, p.Aleatoric[i])
		q.Epistemic = append(q.Epistemic, p.Epistemic[i])
	}
	q.Energy, q.MeanLogits, q.Tops = some(p.Energy, rows), some(p.MeanLogits, rows), p.Tops.some(rows)
	return q
}

// some is the values of some of the examples; nil stays nil.
func some(values []float64, rows []int) []float64 {
	if values == nil {
		return nil
	}
	picked := make([]float64, 0, len(rows))
	for _, i := range rows {
		picked = append(picked, values[i])
	}
	return picked
}

// Mixture averages the predictions of weighted particles, which are added one at a time. It holds n×classes numbers for any
// number of particles.
type Mixture struct {
	classes   int
	particles int
	weight    float64   // Σ_j w_j
	probs     []float64 // Σ_j w_j p_j
	aleatoric []float64 // Σ_j w_j H(p_j)
	energy    []float64 // Σ_j w_j E_j; nil once a particle has none
	logits    []float64 // Σ_j w_j z_j; likewise
	tops      *tops     // nil unless asked for
}

// NewMixture returns an empty mixture for n examples.
func NewMixture(n, classes int) *Mixture {
	return &Mixture{
		classes: classes, probs: make([]float64, n*classes), aleatoric: make([]float64, n),
		energy: make([]float64, n), logits: make([]float64, n*classes),
	}
}

// WatchTops asks for the moments of the particles' answers, before the first particle is added.
func (m *Mixture) WatchTops() { m.tops = newTops(len(m.aleatoric), m.classes) }

// Add adds one particle: its weight, on any scale common to all, and its prediction. A particle of weight 0 changes nothing.
// Add panics on a weight that is negative, infinite or NaN, and on the wrong number of examples or classes.
func (m *Mixture) Add(weight float64, p *Member) {
	if len(p.Probs) != len(m.probs) || p.classes != m.classes {
		panic(fmt.Sprintf("uq: %d probabilities of %d classes, want %d of %d", len(p.Probs), p.classes, len(m.probs), m.classes))
	}
	if !(weight >= 0) || math.IsInf(weight, 1) {
		panic(fmt.Sprintf("uq: weight %v", weight))
	}
	if weight == 0 {
		return
	}
	m.particles++
	m.weight += weight
	add := func(sum, values []float64) {
		for i, v := range values {
			sum[i] += float64(weight * v)
		}
	}
	add(m.probs, p.Probs)
	add(m.aleatoric, p.Entropy)
	if p.Energy == nil {
		m.energy = nil
	}
	if m.energy != nil {
		add(m.energy, p.Energy)
	}
	if p.Logits == nil {
		m.logits = nil
	}
	if m.logits != nil {
		add(m.logits, p.Logits)
	}
	if m.tops != nil {
		m.tops.add(weight, weight/m.weight, p.Probs)
	}
}

// Predictive returns the weighted mean so far. It panics if no particle has weight.
//
// H_ep is a difference of two sums whose rounding errors are at most about (particles + classes)(1 + ln C) units in
// the last place of 1. Within twice that it is set to 0, so that particles which agree have an epistemic entropy of
// exactly 0, and an ensemble of one ranks all examples equal. Values further below 0 stay: they show probabilities that
// do not sum to 1.
func (m *Mixture) Predictive() *Predictive {
	if m.weight == 0 {
		panic("uq: a mixture without particles")
	}
	n, c := len(m.aleatoric), m.classes
	mean := func(sum []float64) []float64 {
		x := make([]float64, len(sum))
		for i, v := range sum {
			x[i] = v / m.weight
		}
		return x
	}
	p := &Predictive{Classes: c, Probs: mean(m.probs), Total: make([]float64, n), Aleatoric: mean(m.aleatoric), Epistemic: make([]float64, n)}
	if m.energy != nil {
		p.Energy = mean(m.energy)
	}
	if m.logits != nil {
		for z := range slices.Chunk(mean(m.logits), c) {
			p.MeanLogits = append(p.MeanLogits, Energy(z))
		}
	}
	if m.tops != nil {
		p.Tops = m.tops.moments(m.weight)
	}
	const ulp = 0x1p-52
	rounding := 2 * ulp * float64(m.particles+c) * (1 + rng.Log(float64(c)))
	for i, aleatoric := range p.Aleatoric {
		p.Total[i] = Entropy(p.Probs[i*c : (i+1)*c])
		if d := p.Total[i] - aleatoric; !(math.Abs(d) <= rounding) {
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
