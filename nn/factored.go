package nn

import "slices"

// factored is an op whose weight has Kronecker factors.
type factored interface {
	op
	factor() factor

	// inputsAt is what the weight multiplies at a position of the examples of a group, [inputs][16]. to has room for that, and may be it.
	inputsAt(t *tape, g, position int, to []float32) []float32

	// gradientsAt is the gradient of the output there, [outputs][16].
	gradientsAt(t *tape, g, position int, to []float32) []float32
}

// factor says what a factored op's weight is.
type factor struct {
	weight             param
	bias               *param
	positions, in, out int
}

// factored are the ops whose weights are random and have Kronecker factors.
func (p *program) factored() (all []factored) {
	for _, ops := range p.ops {
		for _, o := range ops {
			if f, ok := o.(factored); ok && f.factor().weight.role == RoleRandom {
				all = append(all, f)
			}
		}
	}
	return all
}

// Unfactored are the random tensors that Model.Factors has no factors for: all but the likelihood's, and the weights and biases of dense layers,
// of convolutions and of low-rank updates.
func (n *Net) Unfactored() []Tensor {
	has := map[int]bool{} // by offset in θ
	for _, o := range n.apart().factored() {
		f := o.factor()
		has[f.weight.at] = true
		if f.bias != nil {
			has[f.bias.at] = true
		}
	}
	return slices.DeleteFunc(n.Random(), func(t Tensor) bool { return t.Kind == Own || has[t.Offset] })
}
