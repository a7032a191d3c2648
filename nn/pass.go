package nn

import "github.com/starling-smc/starling/internal/rng"

// Dropout reports whether the network has dropout layers.
func (n *Net) Dropout() bool { return len(n.drops) > 0 }

// Pass changes θ to the network of a pass of Monte Carlo dropout (Gal and Ghahramani 2016): the inputs of the dense layers behind
// dropout layers are masked. It draws one mask for each dropout layer, named by seed and k (0 ≤ k < MaxPasses), for all
// examples. So a pass is a network like any other: the mask is part of its weights.
func (n *Net) Pass(theta []float64, seed uint64, k int) {
	s := pass(seed, k)
	for _, d := range n.drops {
		t := n.tensors[d.weight]
		d.mask(theta[t.Offset:][:t.Size], s)
	}
}

// mask multiplies the columns of a dense layer's weights [units, values] by a mask of its inputs.
func (d *drop) mask(w []float64, s *rng.Stream) {
	var kept uint64
	for i := range d.size {
		if i%64 == 0 {
			kept = d.keep(s)
		}
		factor := 0.
		if kept>>(i%64)&1 == 1 {
			factor = d.scale()
		}
		for at := i; at < len(w); at += d.size {
			w[at] *= factor
		}
	}
}
