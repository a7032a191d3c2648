package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Guided draws give the evidence. A draw (a, x) of all coordinates from the guide about the last x⁺ has the density
//
//	Π_g c⁺_g(a_g)/Σ_j c⁺_g(j) · Π_k p(x_k | f(a)) exp(q(x_k | rest))/c_k(a | rest),   Σ_k q(x_k | rest) = q(x),
//
// with the blocks k of coupled groups drawn one after another: the rest is at their draws for those before, and at x⁺ for those after. So with
//
//	log w = log p(z | x) − q(x) + Σ_k log c_k(a | rest) − Σ_g log c⁺_g(a_g),
//	log p(z_k | z_1:k−1) ≈ Σ_g log (1/N) Σ_j c⁺_g(j) + log (1/n) Σ w.
//
// The estimate is without bias for the prediction by the filter's particles. With ancestors: target that is the one that forgets how targets depend
// on each other. The filters' estimates are averaged, and their spread is the standard error: it has the errors of their particles, too. One filter
// has that of its own weights alone.

const (
	weighed   = 64 // draws of each filter
	weighedAt = 4  // the field Mutation of their stream
)

// evidence is an estimate of an evidence: e^log, with a relative standard error.
type evidence struct{ log, se float64 }

// weigh estimates the evidence of the scan by the prediction of one filter. It comes after the last step: it moves the state of the likelihood.
func (c *chain) weigh(filter int) {
	key := c.key
	key.Purpose, key.Mutation, key.Particle = rng.Predict, weighedAt, filter
	t, s, all := c.guide, key.Stream(), ssm.Block{From: 0, To: len(c.y)}
	c.like.Set(t.origin)
	base := c.like.LogLik(t.origin, nil)
	for _, l := range t.mean {
		base += l
	}
	logw := make([]float64, weighed)
	for i := range logw {
		copy(c.y, t.origin)
		for k, together := range t.coupled {
			for g := together.From; g < together.To; g++ {
				a := t.tables[g].draw(s)
				c.take(c.other, g, a)
				logw[i] -= t.logC[g][a]
			}
			logw[i] += t.at(k, c.other, c.y)
			t.sample(s, k, c.y)
		}
		logw[i] += orNever(c.try(all)) - t.quadratic.at(c.y)
	}
	c.evidence = averaged(logw, false)
	c.evidence.log += base
}

// averaged is the mean of estimates that are given by their logarithms. Their spread is that of few filters, or of many draws.
func averaged(logs []float64, few bool) evidence {
	top, n, mean, square := math.Inf(-1), float64(len(logs)), 0.0, 0.0
	for _, l := range logs {
		top = max(top, l)
	}
	if math.IsInf(top, -1) {
		return evidence{top, math.NaN()}
	}
	for _, l := range logs {
		mean += rng.Exp(l-top) / n
	}
	for _, l := range logs {
		dev := rng.Exp(l-top)/mean - 1
		square += float64(dev*dev) / (n - 1)
	}
	if few {
		square *= student(n)
	}
	return evidence{top + rng.Log(mean), math.Sqrt(square / n)}
}

// weigh adds to an Info what the filters' estimates say together.
func (info *Info) weigh(chains []*chain) {
	all := chains[0].evidence
	if len(chains) > 1 {
		var logs []float64
		for _, c := range chains {
			logs = append(logs, c.evidence.log)
		}
		all = averaged(logs, true)
	}
	info.LogEvidence, info.LogEvidenceSE = all.log, all.se
}
