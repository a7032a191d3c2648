package nn

import (
	"slices"

	"github.com/starling-smc/starling/internal/lanes"
)

// compiler builds a program layer by layer.
type compiler struct {
	*program
	net    *Net
	values []*value

	readers map[*value]int // the ops that read a value, before separate
	apart   bool           // no op computes a layer behind its own
	at      *node          // the layer whose ops are appended
	still   *node          // as in compileApart
}

// compile turns the layers of a network into ops. Outside training dropout layers are left out.
func compile(net *Net, training bool) *program {
	nodes := net.nodes
	if !training {
		nodes = withoutDropout(nodes)
	}
	return compileNodes(net, nodes, goesByGroup(nodes))
}

// compileApart is compile outside training for one particle, with an op for each layer: none computes a layer behind its own, so that each has
// the values and the gradients of its own output. still is the first layer of the particles that has an op without tangent, nil if none has.
func compileApart(net *Net) (p *program, still *node) {
	nodes := withoutDropout(net.nodes)
	c := newCompiler(net, nodes, goesByGroup(nodes))
	c.apart, c.batch = true, 1
	p = c.compile(nodes)
	return p, c.still
}

func compileNodes(net *Net, nodes []node, byGroup bool) *program {
	return newCompiler(net, nodes, byGroup).compile(nodes)
}

func newCompiler(net *Net, nodes []node, byGroup bool) *compiler {
	return &compiler{program: &program{dim: net.dim, outputs: net.Outputs(), batch: passParticles(nodes), byGroup: byGroup, chunk: chunkOf(net)}, net: net}
}

func (c *compiler) compile(nodes []node) *program {
	c.in = c.value(c.net.input, origin{})
	c.out = c.withoutBorder(c.chain(nodes, c.in))
	c.parameters()
	newPlaces(c.program, c.values, nil).level()
	c.derivatives()
	c.separate()
	c.allocate()
	c.plan()
	return c.program
}

// goesByGroup reports whether a group of 16 examples goes forward and back through all layers of the particles before the next group of the
// tile begins. Then activations and gradients are those of one group, in place of four. The price is paid by the dense layers, which load
// each weight and each sum of its gradient for 16 examples in place of 64, and take up to twice the time. So networks go by group whose
// dense layers have little of the arithmetic. Layers that particles share always take the whole tile: their values must last for all
// particles of a task.
func goesByGroup(nodes []node) bool {
	const little = 1. / 32 // of the multiply-adds
	convolutions, dense := 0, 0
	walk(nodes, func(n *node) {
		switch n.stage {
		case stageConv:
			convolutions += n.count
		case stageDense:
			dense += n.count
		}
	})
	return float64(dense) < little*float64(convolutions)
}

// chunkOf is how many tiles a chunk has. A chunk is the least that a thread works on alone, since its sums are float32. Where an example takes much
// work in convolutions, a chunk is one tile, so that several threads find work in a batch of 128: to add its sums to float64 ones costs little
// beside. A dense layer has one multiply-add for each weight: there it costs a share of the work that counts.
func chunkOf(net *Net) int {
	const much = 16e6 // floating-point operations
	if goesByGroup(net.nodes) && net.Flops() > much {
		return 1
	}
	return chunkTiles
}

// passParticles is how many particles share a pass over a tile: one where ops run group by group, else as many as keep the
// activations of all particles in the cache, 64 at most.
func passParticles(nodes []node) int {
	size, groups := 0, false
	walk(nodes, func(n *node) {
		groups = groups || n.stage == stageConv
		if !n.stage.shared() {
			size += 2 * 4 * tileExamples * volume(n.out...)
		}
	})
	if groups {
		return 1
	}
	return max(1, min(64, 256<<10/max(1, size)))
}

// chain appends the ops of a sequence of layers and returns its output.
func (c *compiler) chain(chain []node, v *value) *value {
	outer := c.at
	for len(chain) > 0 {
		c.at = &chain[0]
		if chain[0].inner == nil {
			v = c.input(&chain[0], v)
		}
		out, used := chain[0].layer.compile(c, chain, v)
		v, chain = out, chain[used:]
	}
	c.at = outer
	return v
}

// input returns what a layer's op reads in place of v. Where the op belongs to the particles, and v is shared by all of them but
// depends on ψ, that is a value with the same activation whose gradient each particle has for itself. The gradient of v is the
// weighted sum of these:
//
//	dv = Σ_b W_b dv_b
//
// A layer that consists of other layers calls input for each value that its own op reads.
func (c *compiler) input(n *node, v *value) *value {
	if n.stage.shared() || !v.stage.shared() || v.grad < 0 {
		return v
	}
	if v.tight = true; n.stage == stageDense {
		v = c.withoutBorder(v)
	}
	own := *v
	own.origin, own.spread, own.source, own.relu, own.inner = origin{n.stage, true}, true, v, false, c.byGroup
	c.values = append(c.values, &own)
	c.spreads = append(c.spreads, v)
	c.emit(n.stage, &collect{from: &own, to: v})
	return &own
}

// emit appends an op to the ops of its stage.
func (c *compiler) emit(s stage, o op) {
	c.ops[s] = append(c.ops[s], o)
	if _, ok := o.(tangential); !ok && !s.shared() && o.output() != nil && c.still == nil {
		c.still = c.at
	}
}

// output makes the value that a layer computes.
func (c *compiler) output(n *node) *value { return c.value(n.out, n.origin) }

// value makes a value of the given shape. A value that depends neither on θ nor on ψ needs no gradient.
func (c *compiler) value(shape []int, from origin) *value {
	v := &value{c: shape[0], h: 1, w: 1, origin: from, transposed: -1}
	if len(shape) == 3 {
		v.h, v.w = shape[1], shape[2]
	}
	if v.shared() && !v.learned {
		v.grad = -1
	}
	v.brief = c.byGroup && !v.shared()
	v.inner = v.brief
	c.values = append(c.values, v)
	return v
}

// withBorder returns the value, or a copy of it, with zeros around its planes.
func (c *compiler) withBorder(v *value, pad [2]int) *value {
	if v.border(pad[0], pad[0], pad[1], pad[1]) {
		return v
	}
	out := c.copyOf(v)
	out.border(pad[0], pad[0], pad[1], pad[1])
	return out
}

// withoutBorder returns the value, or a copy of it, as one run of vectors.
func (c *compiler) withoutBorder(v *value) *value {
	if v.top+v.bottom+v.left+v.right > 0 {
		v = c.copyOf(v)
	}
	v.tight = true
	return v
}

// copyOf appends an op that copies a value's planes to planes with other borders. Values of the dense stage have no borders.
func (c *compiler) copyOf(v *value) *value {
	out := c.value([]int{v.c, v.h, v.w}, v.origin)
	out.relu = v.relu
	c.emit(v.stage, &reborder{v, out})
	return out
}

// param reserves room for the gradient of a tensor of the network, as rows×cols of the given pitch.
func (c *compiler) param(tensor, rows, cols, pitch int) param {
	t := &c.net.tensors[tensor]
	p := param{role: t.Role, at: t.Offset}
	if t.Role == RoleFixed {
		p.at += c.net.Shared()
	}
	switch t.Role {
	case RoleRandom:
		p.grad = c.own.add(t.Offset, rows, cols, pitch)
	case RoleLearned:
		p.grad = c.psi.add(t.Offset, rows, cols, pitch)
	}
	return p
}

// add reserves room for rows×cols of the given pitch, which belong to a vector at the given offset.
func (l *layout) add(at, rows, cols, pitch int) (grad int) {
	grad = l.size
	l.rows = append(l.rows, gradRows{at, grad, rows, cols, pitch})
	l.size += (rows*pitch + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
	return grad
}

// parameters finds the likelihood's own parameters, which are the last of their vector. Their gradients are no sums over ops: those that are
// sums over examples have room for them, and any other is one parameter alone.
func (c *compiler) parameters() {
	names := c.net.lik.Parameters()
	if c.net.lik.summed() {
		for k := range names {
			c.summed = append(c.summed, c.param(len(c.net.tensors)-len(names)+k, 1, 1, 1))
		}
		return
	}
	if len(names) > 0 {
		t := c.net.tensors[len(c.net.tensors)-1]
		c.likelihood = param{role: t.Role, at: t.Offset}
	}
}

// laneSums reserves n lane vectors that are zero when a pass begins.
func (c *compiler) laneSums(n int) int {
	at := c.laneSize
	c.laneSize += n * lanes.Lanes
	return at
}

// scratch reserves at least n floats in tape.tmp.
func (c *compiler) scratch(n int) { c.tmpSize = max(c.tmpSize, n) }

// transpose reserves room for the transposed tile of a value that all particles share. The tile lasts for all passes
// over it, so that each value has room of its own.
func (c *compiler) transpose(v *value, pitch int) {
	if v.transposed < 0 {
		v.transposed = c.sharedSize
		c.sharedSize += tileExamples * pitch
	}
}

// planner is an op that builds tables when the borders of the values are known.
type planner interface{ plan(c *compiler) }

// placer is an op that leaves something for the way back. readers is the number of ops that read its input.
type placer interface {
	place(c *compiler, readers int)
}

// derivatives tells the ops that leave something for the way back how many ops read their input.
func (c *compiler) derivatives() {
	c.readers = map[*value]int{}
	for _, ops := range c.ops {
		for _, o := range ops {
			for _, in := range o.inputs() {
				c.readers[*in]++
			}
			if o, ok := o.(*collect); ok {
				c.readers[o.to]++ // the layer that reads o.from, whose activation it is
			}
		}
	}
	for _, ops := range c.ops {
		for _, o := range ops {
			if p, ok := o.(placer); ok {
				p.place(c, c.readers[*o.inputs()[0]])
			}
		}
	}
}

// allocate places the values, whose borders are known now.
func (c *compiler) allocate() {
	c.markInner()
	places := newPlaces(c.program, c.values, c.readers)
	places.ofActivations()
	places.ofGradients()
}

// markInner marks the values that ops of the conv stages read: their gradients are consumed group by group. A value with a
// gradient has one reader at this point.
func (c *compiler) markInner() {
	for _, s := range []stage{stageSharedConv, stageConv} {
		for _, o := range c.ops[s] {
			for _, in := range o.inputs() {
				(*in).inner = true
			}
		}
	}
}

// plan lets the ops build their tables.
func (c *compiler) plan() {
	for _, ops := range c.ops {
		for _, o := range ops {
			if o, ok := o.(planner); ok {
				o.plan(c)
			}
		}
	}
	in := c.in
	at := make([]int32, 0, in.c*in.h*in.w)
	for ch := range in.c {
		for y := range in.h {
			for x := range in.w {
				at = append(at, int32(ch*in.plane()+in.pixel(y, x)))
			}
		}
	}
	var err error
	if c.load, err = lanes.NewLoad(at); err != nil {
		panic("nn: " + err.Error()) // a plan that lanes refuses is a bug of this package
	}
}

// separate lets a value have several readers. In the backward pass the reader whose op comes last sets the value's gradient,
// as a single reader does. Every other reader gets a value with the same activation and a gradient of its own, which an
// accumulate op adds as soon as the reader has set it. (No op reads the network's output, whose gradient the loss sets.)
func (c *compiler) separate() {
	set := map[*value]bool{}
	for s := stageDense; s > stagePre; s-- {
		var back []op // in the order of the backward pass
		for _, o := range slices.Backward(c.ops[s]) {
			back = append(back, o)
			if o, ok := o.(*collect); ok {
				set[o.to] = true
			}
			for _, in := range o.inputs() {
				v := *in
				if v.grad < 0 {
					continue
				}
				if set[v] {
					own := *v
					own.source = v
					c.values = append(c.values, &own)
					*in = &own
					back = append(back, &accumulate{from: &own, to: v})
				}
				set[v] = true
			}
		}
		slices.Reverse(back)
		c.ops[s] = back
	}
}
