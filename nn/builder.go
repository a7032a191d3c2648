package nn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// node is a layer at its place in a network.
type node struct {
	layer   Layer
	in, out []int    // shapes of one example
	from    origin   // of the input
	origin           // of the output; the stage is that of the layer's ops
	params  []int    // indices of its tensors in Net.tensors: weight, then bias if any
	drop    *drop    // of a dropout layer, else nil
	count   int      // multiply-adds of its forward pass for one example
	inner   [][]node // the chains of a layer that consists of other layers
}

// walk calls visit for the nodes of a chain in order, those inside a layer before the layer.
func walk(chain []node, visit func(n *node)) {
	for i := range chain {
		for _, inner := range chain[i].inner {
			walk(inner, visit)
		}
		visit(&chain[i])
	}
}

// builder derives the shapes and tensors of a network.
type builder struct {
	net    *Net
	kind   func(Layer) string // names a layer in errors as in configs; the table of layers is not known here
	role   func(module string) Role
	names  map[string]bool
	layer  int     // index of the layer that is being derived
	rest   []Layer // the layers behind it, in its chain
	prefix string  // prefix of the names of tensors, inside a layer that consists of other layers
	target []int   // shape of the output that a chain inside a layer should have; nil: any
	number int     // number of the next module of an nn.Sequential, where flattening is a module of its own
}

// chain derives a sequence of layers.
func (b *builder) chain(layers []Layer, shape []int, from origin) ([]node, error) {
	var chain []node
	for i, l := range layers {
		if b.prefix == "" {
			b.layer = i
		}
		fault := func(err error) error { return fmt.Errorf("layer %d (%s): %w", i, b.kind(l), err) }
		if l == nil {
			return nil, fault(errors.New("unknown kind of layer"))
		}
		n := node{layer: l, in: shape, out: shape, from: from, origin: from}
		b.rest = layers[i+1:]
		if err := l.derive(b, &n); err != nil {
			return nil, fault(err)
		}
		if volume(n.out...) > maxValues {
			return nil, fault(fmt.Errorf("gives %v, more than %d values an example", n.out, maxValues))
		}
		if b.net.Parameters() > maxParameters {
			return nil, fault(fmt.Errorf("brings the network to more than %d parameters", maxParameters))
		}
		b.number++
		shape, from = n.out, n.origin
		chain = append(chain, n)
	}
	b.feed(chain)
	return chain, nil
}

// feed tells the dropout layers of a chain the weights of the dense layers behind them.
func (b *builder) feed(chain []node) {
	for i := range chain {
		if chain[i].drop == nil {
			continue
		}
		next := i + 1
		for len(chain[next].params) == 0 {
			next++
		}
		chain[i].drop.weight = chain[next].params[0]
	}
}

// withoutDropout returns a chain without its dropout layers, which are never inside another layer. What is left has the same shapes.
func withoutDropout(chain []node) []node {
	return slices.DeleteFunc(slices.Clone(chain), func(n node) bool { return n.drop != nil })
}

// branch derives a chain of the layers inside the layer of n, from the same input, and returns the shape of its output. target is the
// shape that it should have, nil if it may have any. Its tensors are named as those of an nn.Sequential that is the attribute name of the
// layer's module. The layer's own ops run no earlier than those of the chain.
func (b *builder) branch(n *node, name string, layers []Layer, target []int) ([]int, error) {
	outer := *b
	b.prefix, b.number, b.target = b.prefix+strconv.Itoa(b.number)+"."+name+".", 0, target
	chain, err := b.chain(layers, n.in, n.from)
	b.prefix, b.number, b.target = outer.prefix, outer.number, outer.target
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	n.inner = append(n.inner, chain)
	if len(chain) == 0 {
		return n.in, nil
	}
	last := chain[len(chain)-1]
	n.stage, n.learned = max(n.stage, last.stage), n.learned || last.learned
	return last.out, nil
}

// module returns the name that the tensors of a layer begin with: the given one, which is the whole name also inside another layer, or
// if that is empty the layer's number in an nn.Sequential.
func (b *builder) module(name string) (string, error) {
	name = cmp.Or(name, b.prefix+strconv.Itoa(b.number))
	if b.names[name] {
		return "", fmt.Errorf("the name %q is taken by an earlier layer", name)
	}
	b.names[name] = true
	return name, nil
}

// weights adds the tensors weight, of the given shape, and bias, one number for each of the first dimension.
func (b *builder) weights(n *node, name string, noBias bool, fanIn int, shape ...int) error {
	name, role, err := b.own(n, name)
	if err != nil {
		return err
	}
	b.tensor(n, role, name+".weight", Weights, fanIn, shape...)
	if !noBias {
		b.tensor(n, role, name+".bias", Biases, fanIn, shape[0])
	}
	return nil
}

// own returns what the names of a layer's tensors begin with, and their role. It moves the layer, whose stage is that of a random layer, to an
// earlier stage if nothing up to there is random.
func (b *builder) own(n *node, name string) (module string, role Role, err error) {
	if module, err = b.module(name); err != nil {
		return "", 0, err
	}
	role = b.role(module)
	n.learned = n.learned || role == RoleLearned
	if role != RoleRandom && n.from.stage.shared() {
		n.stage = n.stage.beforeRandom()
	}
	return module, role, nil
}

// tensor appends one tensor of a layer to θ, to ψ or to the constants.
func (b *builder) tensor(n *node, role Role, name string, kind Kind, fanIn int, shape ...int) {
	n.params = append(n.params, len(b.net.tensors))
	b.net.place(name, b.layer, role, kind, fanIn, shape...)
	t := &b.net.tensors[len(b.net.tensors)-1]
	t.Place, t.Of = b.prefix+strconv.Itoa(b.number), b.kind(n.layer)
}

// multiplyAdds counts the multiply-adds of the forward product with a layer's k-th tensor, for one example. The gradient of the tensor takes
// the same number, if it is random, and so does that of the product's input, if anything before is random.
func (b *builder) multiplyAdds(n *node, k, count int, before bool) {
	n.count += count
	passes := 1
	if b.net.tensors[n.params[k]].Role == RoleRandom {
		passes++
	}
	if before {
		passes++
	}
	b.net.multiplyAdds += passes * count
}

// flat turns the input [c, h, w] of a layer into c·h·w features, like an nn.Flatten before the layer.
func (b *builder) flat(n *node) int {
	if len(n.in) == 3 {
		b.number++
	}
	return volume(n.in...)
}

// planes reports an input that is not [channels, height, width].
func (n *node) planes() error {
	if len(n.in) != 3 {
		return fmt.Errorf("needs an input of shape [channels, height, width], has %v", n.in)
	}
	return nil
}
