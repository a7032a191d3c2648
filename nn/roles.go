package nn

import (
	"errors"
	"iter"

	"github.com/starling-smc/starling/internal/numeral"
)

// checkRandom refuses a network without random tensors.
func (n *Net) checkRandom() error {
	switch {
	case len(n.tensors) == 0:
		return errors.New("the network has no parameters")
	case n.dim == 0:
		return errors.New("no tensor of the network is random")
	}
	return nil
}

// markScales marks the values that begin at 0: in the layer that gives the outputs, the rows of those that are scales. Nothing is
// marked where the outputs are not the units of one layer, as behind a layer that consists of others.
func (n *Net) markScales() {
	scales, at := n.lik.scales(n.Outputs()), len(n.nodes)-1
	for at > 0 && len(n.nodes[at].params) == 0 && n.nodes[at].inner == nil {
		at--
	}
	for _, i := range n.nodes[at].params {
		if t := &n.tensors[i]; t.Shape[0] == n.Outputs() && t.Kind != Updates {
			t.Zero = scales * (t.Size / t.Shape[0])
		}
	}
}

// Size says how many parameters the network has: "9,541 parameters, 4,050 of them random".
func (n *Net) Size() string {
	size := numeral.Several(n.Parameters(), "parameter")
	if n.Partly() {
		size += ", " + numeral.Count(n.dim) + " of them random"
	}
	return size
}

// Split divides the parameters of Whole into θ and ψ, and leaves out those that are frozen.
func (n *Net) Split(whole []float64) (theta, psi []float64) {
	theta, psi = make([]float64, n.dim), make([]float64, n.learned)
	for t, part := range n.Places(whole) {
		if t.Role.moves() {
			copy(t.in(theta, psi), part)
		}
	}
	return theta, psi
}

// Join is the inverse of Split: frozen parameters have their values.
func (n *Net) Join(theta, psi []float64) (whole []float64) {
	whole = make([]float64, n.Parameters())
	for t, part := range n.Places(whole) {
		if t.Role.moves() {
			copy(part, t.in(theta, psi))
			continue
		}
		for i, x := range n.constants[t.Offset:][:t.Size] {
			part[i] = float64(x)
		}
	}
	return whole
}

// Places are the tensors that are parameters, each with its part of whole, the parameters of Whole.
func (n *Net) Places(whole []float64) iter.Seq2[Tensor, []float64] {
	return func(yield func(Tensor, []float64) bool) {
		for _, t := range n.tensors {
			if t.Role == RoleFixed {
				continue
			}
			if !yield(t, whole[:t.Size]) {
				return
			}
			whole = whole[t.Size:]
		}
	}
}

// in returns the tensor's part of θ or ψ.
func (t Tensor) in(theta, psi []float64) []float64 {
	if t.Role == RoleRandom {
		return theta[t.Offset:][:t.Size]
	}
	return psi[t.Offset:][:t.Size]
}

// SharedName names ψ_i, as in "2.weight[0, 3]".
func (n *Net) SharedName(i int) string { return n.name(i, RoleLearned) }

// RandomName names θ_i likewise.
func (n *Net) RandomName(i int) string { return n.name(i, RoleRandom) }

func (n *Net) name(i int, role Role) string {
	for _, t := range n.tensors {
		if t.Role == role && i >= t.Offset && i < t.Offset+t.Size {
			return t.Element(i - t.Offset)
		}
	}
	panic("nn: no parameter has this index")
}
