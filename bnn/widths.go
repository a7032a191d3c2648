package bnn

import (
	"cmp"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Width is what was learned of the standard deviation 1/√τ of a tensor's components, where the prior learns it.
type Width struct {
	Tensor    string    `json:"tensor"`    // its name in posterior.safetensors
	Prior     Quantiles `json:"prior"`     // of the prior
	Posterior Quantiles `json:"posterior"` // of the posterior
}

// Quantiles are those of 5, 50 and 95 %.
type Quantiles struct {
	At5  uq.Number `json:"5"`
	At50 uq.Number `json:"50"`
	At95 uq.Number `json:"95"`
}

// precisions is a mixture of gamma distributions of a precision τ, of one shape.
type precisions struct {
	shape float64
	parts []precision
}

// precision is a part of a mixture: its rate, and its weight.
type precision struct{ rate, weight float64 }

// widths describes the width of every tensor that learns it. Given θ_j, τ has a gamma distribution (Precision). So the posterior of τ is
// their mixture over the particles j, with their weights, which is less noisy than a draw of τ for each particle.
func (p *ScaleMixture) widths(e *Ensemble) (widths []Width, err error) {
	prior := precisions{p.shape, []precision{{p.rate, 1}}}.widths()
	offset := 0
	for _, t := range p.tensors {
		if t.Kind != nn.Own {
			norms := make([]float64, e.Size())
			if err := e.norms(offset, t.Size, norms); err != nil {
				return nil, err
			}
			var m precisions
			for j, norm := range norms {
				var one precision
				m.shape, one.rate = p.Precision(t.Size, norm)
				if one.weight = rng.Exp(e.LogWeights[j]); one.weight > 0 {
					m.parts = append(m.parts, one)
				}
			}
			widths = append(widths, Width{t.Name, prior, m.condensed().widths()})
		}
		offset += t.Size
	}
	return widths, nil
}

// norms sets norms[j] to Σ θ_i² over size components of particle j, from offset on.
func (e *Ensemble) norms(offset, size int, norms []float64) error {
	few := max(1, reading/size)
	rows := make([]float32, min(few, len(norms))*size)
	for first := 0; first < len(norms); first += few {
		n := min(few, len(norms)-first)
		if err := e.parameters(first, n, offset, size, rows); err != nil {
			return err
		}
		for j := range n {
			for _, x := range rows[j*size : (j+1)*size] {
				norms[first+j] += float64(float64(x) * float64(x))
			}
		}
	}
	return nil
}

// mostParts is about how many parts a condensed mixture has at most.
const mostParts = 200

// condensed joins parts of neighbouring rates, each half a percent of the mixture, so that quantiles take no longer for many particles.
func (m precisions) condensed() precisions {
	slices.SortStableFunc(m.parts, func(a, b precision) int { return cmp.Compare(a.rate, b.rate) })
	out := precisions{shape: m.shape}
	var open precision // its rate is a sum, weighted
	for i, one := range m.parts {
		open.rate += float64(one.weight * one.rate)
		if open.weight += one.weight; open.weight >= 1./mostParts || i == len(m.parts)-1 {
			out.parts = append(out.parts, precision{open.rate / open.weight, open.weight})
			open = precision{}
		}
	}
	return out
}

// widths are quantiles of 1/√τ.
func (m precisions) widths() Quantiles {
	return Quantiles{m.width(0.05), m.width(0.5), m.width(0.95)}
}

// below is the probability that 1/√τ is below e^logSD: that τ is above e^(−2 logSD).
func (m precisions) below(logSD float64) (p float64) {
	least := rng.Exp(-2 * logSD)
	for _, one := range m.parts {
		p += float64(one.weight * rng.GammaTail(m.shape, float64(one.rate*least)))
	}
	return p
}

// width is a quantile of 1/√τ, found by bisection of its logarithm; +Inf beyond e^350.
func (m precisions) width(level float64) uq.Number {
	low, high := -1.0, 1.0
	for m.below(low) > level {
		low *= 2
	}
	for m.below(high) < level {
		if high *= 2; high > 350 {
			return uq.Number(math.Inf(1))
		}
	}
	for high-low > 1e-6 {
		if middle := low + float64((high-low)/2); m.below(middle) < level {
			low = middle
		} else {
			high = middle
		}
	}
	return uq.Number(rng.Exp(low + float64((high-low)/2)))
}
