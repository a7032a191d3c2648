package uq

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// LogNormals is a mixture of log-normal distributions: the law of y = e^x, where x has the mixture of normals with these weights, means and
// standard deviations. It is the prediction for an amount whose logarithm the particles predict. Component j has the mean
// m_j = exp(μ_j + σ_j²/2). A component that is a Student-t has none: the mean is then +∞.
type LogNormals Normals

// logs is the mixture of ln y.
func (n *LogNormals) logs() *Normals { return (*Normals)(n) }

// Moments returns what Normals.Moments does, of y: the mean m = Σ W m_j, the standard deviation √(Σ W m_j² (e^σ² − 1)) of the noise, and that
// of the components' means, √(Σ W (m_j − m)²). By the law of total variance the squares of the last two add up to the variance of y.
func (n *LogNormals) Moments() (mean, aleatoric, epistemic float64) {
	top := math.Inf(-1) // a mean is e^top times a number of at most 1, whose square does not overflow
	for j, mu := range n.Mean {
		if n.logs().df(j) > 0 {
			return math.Inf(1), math.Inf(1), math.Inf(1)
		}
		top = max(top, mu+float64(n.SD[j]*n.SD[j]/2))
	}
	relative := Normals{Weights: n.Weights, Mean: make([]float64, len(n.Mean)), SD: make([]float64, len(n.Mean))}
	for j, mu := range n.Mean {
		variance := float64(n.SD[j] * n.SD[j])
		relative.Mean[j] = rng.Exp(mu + float64(variance/2) - top)
		relative.SD[j] = float64(relative.Mean[j] * math.Sqrt(lessOne(variance)))
	}
	mean, aleatoric, epistemic = relative.Moments()
	size := rng.Exp(top)
	return float64(mean * size), float64(aleatoric * size), float64(epistemic * size)
}

// lessOne is e^x − 1, also where it is small (Kahan).
func lessOne(x float64) float64 {
	e := rng.Exp(x)
	switch {
	case e == 1:
		return x
	case math.IsInf(e, 1):
		return e
	}
	return float64((e-1)*x) / rng.Log(e)
}

// CDF is the probability of a target at most y.
func (n *LogNormals) CDF(y float64) float64 {
	if y <= 0 {
		return 0
	}
	return n.logs().CDF(rng.Log(y))
}

// Quantile is the y at which the CDF is q, as Normals.Quantile.
func (n *LogNormals) Quantile(q float64) float64 { return rng.Exp(n.logs().Quantile(q)) }

// CRPS is the continuous ranked probability score of the mixture at y > 0, in the unit of y: Σ_j W_j E|Y_j − y| − ½ Σ_j Σ_k W_j W_k E|Y_j − Y_k|. With
// E[Y_j; Y_j < y] = m_j Φ(ω_j − σ_j) at ω_j = (ln y − μ_j)/σ_j, and E[Y_j; Y_j < Y_k] = m_j Φ((μ_k − μ_j − σ_j²)/√(σ_j² + σ_k²)), it is in closed form
//
//	Σ_j W_j (y (2 Φ(ω_j) − 1) − 2 m_j Φ(ω_j − σ_j)) + 2 Σ_j Σ_k W_j W_k m_j Φ((μ_k − μ_j − σ_j²)/√(σ_j² + σ_k²))
//
// (for one component, Baran and Lerch 2015). The time grows with the square of the number of particles.
func (n *LogNormals) CRPS(y float64) float64 {
	score, log := 0.0, rng.Log(y)
	for j, w := range n.Weights {
		mu, sd := n.Mean[j], n.SD[j]
		variance := float64(sd * sd)
		m := rng.Exp(mu + float64(variance/2))
		if n.logs().df(j) > 0 || math.IsInf(m, 1) {
			return math.Inf(1)
		}
		below := 0.0
		for k, mean := range n.Mean {
			below += float64(n.Weights[k] * lower(mean-mu-variance, both(sd, n.SD[k])))
		}
		score += float64(w * (float64(y*(2*lower(log-mu, sd)-1)) + float64(2*m*(below-lower(log-mu-variance, sd)))))
	}
	return score
}

// lower is Φ(x/sd), and for numbers without noise, sd 0, the mean of its limits from both sides: ½ at 0.
func lower(x, sd float64) float64 {
	if sd == 0 && x == 0 {
		return .5
	}
	return cdf(x, sd)
}
