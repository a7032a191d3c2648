package nn

import (
	"errors"
	"slices"

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

// settle gives the likelihood's parameters a role, and all tensors that are not random their offsets: ψ comes first in φ, and statistics
// have offsets of their own.
func (n *Net) settle() {
	role := RoleRandom
	for _, t := range n.tensors {
		if t.Role == RoleLearned || t.Role == RoleFrozen {
			role = RoleLearned
		}
	}
	for _, name := range n.lik.Parameters() {
		n.place(name, -1, role, Own, 0, 1)
	}
	for i := range n.tensors {
		if t := &n.tensors[i]; t.Role == RoleFrozen {
			t.Offset += n.learned
		}
	}
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

// Split divides the parameters of Whole into θ and φ.
func (n *Net) Split(whole []float64) (theta, phi []float64) {
	theta, phi = make([]float64, n.dim), make([]float64, n.Shared())
	at := 0
	for _, t := range n.parameters() {
		copy(t.in(theta, phi), whole[at:at+t.Size])
		at += t.Size
	}
	return theta, phi
}

// Join is the inverse of Split.
func (n *Net) Join(theta, phi []float64) (whole []float64) {
	for _, t := range n.parameters() {
		whole = append(whole, t.in(theta, phi)...)
	}
	return whole
}

// parameters are the tensors of θ and φ, without statistics.
func (n *Net) parameters() []Tensor {
	return slices.DeleteFunc(n.Tensors(), func(t Tensor) bool { return t.Role == RoleFixed })
}

// in returns the tensor's part of θ or φ.
func (t Tensor) in(theta, phi []float64) []float64 {
	if t.Role == RoleRandom {
		return theta[t.Offset:][:t.Size]
	}
	return phi[t.Offset:][:t.Size]
}

// SharedName names φ_i, as in "2.weight[0, 3]".
func (n *Net) SharedName(i int) string { return n.name(i, true) }

// RandomName names θ_i likewise.
func (n *Net) RandomName(i int) string { return n.name(i, false) }

func (n *Net) name(i int, shared bool) string {
	for _, t := range n.parameters() {
		if shared == (t.Role != RoleRandom) && i >= t.Offset && i < t.Offset+t.Size {
			return t.Element(i - t.Offset)
		}
	}
	panic("nn: no parameter has this index")
}
