package nn

import (
	"errors"
	"fmt"
	"slices"
)

// New derives the shapes of a network whose input has shape [features] or [channels, height, width]. An error names
// the layer (counted from 0) that does not fit, and why.
func New(input []int, layers []Layer, lik Likelihood) (*Net, error) {
	return newNet(input, layers, lik, allRandom)
}

func newNet(input []int, layers []Layer, lik Likelihood, role func(module string) Role) (*Net, error) {
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
	net.settle()
	net.markScales()
	return net, nil
}

// NewPartly is New for a network of which a part is random. role gives the role of the tensors of a module: a layer's name or,
// without one, its number in an nn.Sequential. Parameters of the likelihood are learned, unless all tensors are random.
func NewPartly(input []int, layers []Layer, lik Likelihood, role func(module string) Role) (*Net, error) {
	return newNet(input, layers, lik, role)
}

func allRandom(string) Role { return RoleRandom }

// Whole is the same network with every tensor random: its θ is all parameters in the order of Tensors. It is n itself if n is
// such a network. It has the same statistics.
func (n *Net) Whole() *Net {
	if !n.Partly() {
		return n
	}
	whole, err := New(n.input, n.layers, n.lik)
	if err != nil {
		panic("nn: " + err.Error()) // n has the same layers
	}
	whole.statistics = n.statistics
	return whole
}
