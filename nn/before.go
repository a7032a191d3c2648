package nn

import (
	"fmt"
	"slices"
	"strings"
)

// Before is a network whose outputs are the inputs of a layer: the layers before it. The layer is named as in Random, by its name, its place,
// first or last. Its parameters are the first of Whole, and it has their constants. All are random, and there is nothing to learn: its
// targets are none. Dropout layers are left out, as they are the identity outside training. The inputs of dense layers and of their updates are flat.
//
// Of a layer inside a residual only the whole residual can be named, by its place. An error names the nearest layer.
func (n *Net) Before(layer string) (*Net, error) {
	whole := n.Whole()
	at, err := whole.layerOf(layer)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(whole.tensors, func(t Tensor) bool { return t.Layer == at })
	if first == 0 {
		return nil, fmt.Errorf("no layer with parameters stands before %s: its inputs are those of the network itself", layer)
	}
	before := slices.DeleteFunc(slices.Clone(whole.layers[:at]), func(l Layer) bool { _, drops := l.(Dropout); return drops })
	switch whole.layers[at].(type) {
	case Dense, LoRA:
		before = append(before, Flatten{})
	}
	net, err := New(whole.input, before, Gaussian{SD: 1})
	if err != nil {
		panic("nn: " + err.Error()) // whole begins with the same layers
	}
	if whole.constants != nil && net.numConstants > 0 {
		net.constants = whole.constants[:net.numConstants]
	}
	return net, nil
}

// layerOf returns the place in Layers of the one layer that a name finds.
func (n *Net) layerOf(name string) (at int, err error) {
	modules, places := n.modules()
	found, err := Random{name}.find(name, modules, places)
	if err != nil {
		return 0, err
	}
	at = -1
	for _, t := range n.tensors {
		module, _, _ := strings.Cut(t.Place, ".")
		switch {
		case t.Layer < 0 || !slices.Contains(found, t.module()):
		case module != t.Place && module != name:
			return 0, fmt.Errorf("%q stands inside layer %s, which is a %s: name that one", name, module, kind(n.layers[t.Layer]))
		case at < 0:
			at = t.Layer
		case t.Layer != at:
			return 0, fmt.Errorf("%q is several layers (%s): name one of them", name, listed(found))
		}
	}
	return at, nil
}

// Output is the shape of the outputs of one example.
func (n *Net) Output() []int { return slices.Clone(n.output) }
