package nn

import (
	"errors"
	"fmt"
	"slices"
)

// New derives the shapes of a network whose input has shape [features] or [channels, height, width]. An error names
// the layer (counted from 0) that does not fit, and why.
func New(input []int, layers []Layer, lik Likelihood) (*Net, error) {
	return newNet(input, layers, lik, allRandom, RoleRandom)
}

// newNet is NewPartly where the likelihood's own parameters have the role own.
func newNet(input []int, layers []Layer, lik Likelihood, role func(module string) Role, own Role) (*Net, error) {
	if len(input) != 1 && len(input) != 3 {
		return nil, fmt.Errorf("input shape %v: want [features] or [channels, height, width]", input)
	}
	for _, d := range input {
		if d <= 0 {
			return nil, fmt.Errorf("input shape %v: every size must be positive", input)
		}
	}
	if volume(input...) > maxValues {
		return nil, fmt.Errorf("input shape %v: more than %d values an example", input, maxValues)
	}
	net := &Net{input: slices.Clone(input), layers: slices.Clone(layers), lik: lik, compiled: new(compiled)}
	b := &builder{net: net, kind: kind, role: role, names: map[string]bool{}}
	var err error
	if net.nodes, err = b.chain(net.layers, net.input, origin{}); err != nil {
		return nil, err
	}
	if err := net.checkRandom(); err != nil {
		return nil, err
	}
	net.output = net.nodes[len(net.nodes)-1].out
	if lik == nil {
		return nil, errors.New("the network has no likelihood")
	}
	if err := lik.checkOutputs(net.Outputs()); err != nil {
		return nil, err
	}
	for _, name := range lik.Parameters() {
		if !net.Partly() {
			own = RoleRandom
		}
		net.place(name, -1, own, Own, 0, 1)
	}
	net.markScales()
	return net, nil
}

// NewPartly is New for a network of which a part is random. role gives the role of the tensors of a module: a layer's name or,
// without one, its number in an nn.Sequential. Parameters of the likelihood are learned, unless all tensors are random.
func NewPartly(input []int, layers []Layer, lik Likelihood, role func(module string) Role) (*Net, error) {
	return newNet(input, layers, lik, role, RoleLearned)
}

func allRandom(string) Role { return RoleRandom }

// Whole is the same network with every parameter random: its θ is all parameters in the order of Tensors. It is n itself if n is
// such a network. What is never a parameter has the same values.
func (n *Net) Whole() *Net {
	if !n.Partly() {
		return n
	}
	return n.again(allRandom, RoleRandom)
}

// Frozen is the same network whose learned tensors are frozen, with no values yet.
func (n *Net) Frozen() *Net {
	if n.learned == 0 {
		return n
	}
	return n.replaced(RoleLearned, RoleFrozen)
}

// Thawed is the same network whose frozen tensors are learned.
func (n *Net) Thawed() *Net {
	if n.frozen == 0 {
		return n
	}
	return n.replaced(RoleFrozen, RoleLearned)
}

// replaced is the same network whose tensors of one role have another one.
func (n *Net) replaced(old, by Role) *Net {
	of := map[string]Role{}
	for _, t := range n.tensors {
		if role := t.Role; role != RoleFixed && t.Layer >= 0 {
			if role == old {
				role = by
			}
			of[t.module()] = role
		}
	}
	return n.again(func(module string) Role { return of[module] }, by)
}

// again is the same network with other roles. Its constants have values if all of them have values in n.
func (n *Net) again(role func(module string) Role, own Role) *Net {
	again, err := newNet(n.input, n.layers, n.lik, role, own)
	if err != nil {
		panic("nn: " + err.Error()) // n has the same layers
	}
	constants, old := make([]float32, again.numConstants), n.Constants()
	for _, t := range again.Constants() {
		i := slices.IndexFunc(old, func(o Tensor) bool { return o.Name == t.Name })
		if i < 0 || n.constants == nil {
			return again
		}
		copy(constants[t.Offset:][:t.Size], n.constants[old[i].Offset:])
	}
	again.constants = constants
	return again
}
