package nn

// Layer is one layer of a network, such as Dense{Units: 10} or ReLU: a plain value that knows nothing of its input.
// New derives the shapes, and the network's first model compiles the layers into ops. Each layer has a file of its
// own, with its settings, shapes, tensors and op.
//
// A layer may consist of chains of other layers. Its derive calls builder.branch for each chain, and its compile calls
// compiler.chain for each; a value may be the input of several ops.
type Layer interface {
	// Title names the layer in a line such as "conv 4 → pool → dense 8"; it is empty for layers that such a line leaves out.
	Title() string

	// derive completes n, whose layer, in, from, out and stage are set: out is in, and stage is from, until derive
	// changes them. It adds the layer's tensors and its multiply-adds to the network.
	derive(b *builder, n *node) error

	// compile appends the ops of chain[0], which is the layer itself, for the input v. It may compute layers behind it
	// in the same op: used is the number of layers that out is the output of.
	compile(c *compiler, chain []node, v *value) (out *value, used int)
}
