package bnn

import (

	"github.com/starling-smc/starling/internal/rng"
)

// Width describes the standard deviation 1/√τ of a tensor's components that a prior has learned.
type Width struct {
	Tensor    string    // its name in posterior.safetensors
	Prior     Quantiles // of the prior
	Posterior Quantiles // of the posterior: of 1/√τ given θ, over the weighted particles
}

// Quantiles are those of 5, 50 and 95 %.
type Quantiles [3]float64

var levels = [...]float64{0.05, 0.5, 0.95}

// widths describes the widths of every tensor that has one. The posterior of τ is the mixture of its distributions given θ_j with the
// weights of the particles j, which is better known than by a draw of τ for each of them.
func (p *ScaleMixture) widths(e *Ensemble) (widths []Width, err error) {
	prior := p.quantiles(0, []float64{0}, []float64{1})
	weights, offset := make([]float64, e.Size()), 0
	for j, w := range e.LogWeights {
		weights[j] = rng.Exp(w)
	}
	for _, t := range p.tensors {
		if t.FanIn > 0 {
			norms := make([]float64, e.Size())
			if err := e.norms(offset, t.Size, norms); err != nil {
				return nil, err
			}
			widths = append(widths, Width{t.Name, prior, p.quantiles(t.Size, norms, weights)})
		}
		offset += t.Size
	}
	return widths, nil
}

// norms sets norms[j] to Σ θ_i² over size components of particle j, from offset on.
func (e *Ensemble) norms(offset, size int, norms []float64) error {
	few := max(1, reading/size)
	row := make([]float32, few*size)
	for first := 0; first < len(norms); first += few {
		n := min(few, len(norms)-first)
		if err := e.parameters(first, n, offset, size, row); err != nil {
			return err
		}
		for j := range n {
			for _, x := range row[j*size : (j+1)*size] {
				norms[first+j] += float64(float64(x) * float64(x))
			}
		}
	}
	return nil
}

// quantiles are those of 1/√τ for a mixture of Gamma(a + n/2, b + norm/2), found by bisection of its logarithm.
func (p *ScaleMixture) quantiles(n int, norms, weights []float64) (q Quantiles) {
	below := func(logSD float64) (share float64) { // probability that 1/√τ is below: that τ is above 1/sd²
		precision := rng.Exp(-2 * logSD)
		for j, w := range weights {
			if w > 0 {
				shape, rate := p.Precision(n, norms[j])
				share += float64(w * rng.GammaTail(shape, float64(rate*precision)))
			}
		}
		return share
	}
	for i, level := range levels {
		low, high := -1.0, 1.0
		for below(low) > level {
			low *= 2
		}
		for below(high) < level && high < 350 {
			high *= 2
		}
		for high-low > 1e-9 {
			if middle := low + (high-low)/2; below(middle) < level {
				low = middle
			} else {
				high = middle
			}
		}
		q[i] = rng.Exp(high)
	}
	return q
}

