package nn

import "github.com/starling-smc/starling/internal/lanes"

// op is one step of a tile's way forward with the matching step back. Both work on groups g0 ≤ g < g1 of the tile
// and on the particles of the pass. backward adds to the weight gradients and sets its input's gradient; finish ends
// the sums of a pass that were kept by lane.
type op interface {
	forward(t *tape, g0, g1 int)
	backward(t *tape, g0, g1 int)
	finish(t *tape)
	ends() (in, out *value)
}

// program is a network compiled for tiles of 64 examples: three stages of ops and the sizes of the memory that they
// use. It is immutable; all that changes is in a tape.
type program struct {
	net   *Net
	batch int  // particles of one pass
	pre   []op // before the first parameters: once a tile for all particles, no way back
	conv  []op // before the first dense layer: a group of 16 examples at a time
	dense []op // the rest: all groups of the tile at once
	in    *value
	out   *value
	load  *lanes.Load // examples into in's planes
	rows  []gradRows

	actSize, dySize, laneSize, tmpSize, sharedSize, maskSize, argSize, gradSize int
}

// copies is how many particles a value holds.
func (p *program) copies(v *value) int {
	if v.shared {
		return 1
	}
	return p.batch
}

// gradRows says where a tensor's gradient stands: rows of a given pitch in the float32 sums, dense in θ.
type gradRows struct{ theta, grad, rows, cols, pitch int }

// compile turns the layers into ops.
func compile(net *Net) *program {
	p := &program{net: net, batch: 1}
	c := &compiler{program: p, stage: &p.pre}
	first := 0
	for first < len(net.layers) && len(net.params[first]) == 0 {
		first++
	}
	if first < len(net.layers) {
		if _, ok := net.layers[first].(Dense); ok {
			p.batch = passParticles(net, first)
		}
	}
	v := c.output(0)
	p.in = v
	for i := 0; i < len(net.layers); i++ {
		used := 1
		v, used = c.layer(i, v)
		i += used - 1
	}
	p.out = c.withoutBorder(v)
	c.allocate()
	return p
}

// passParticles is how many particles share a pass over a tile when the first layer is dense: as many as keep the
// activations near the core, 64 at most.
func passParticles(net *Net, first int) int {
	size := 0
	for _, s := range net.shapes[first+1:] {
		n := 1
		for _, d := range s {
			n *= d
		}
		size += 2 * 4 * tileExamples * n
	}
	return max(1, min(64, 256<<10/max(1, size)))
}

// compiler builds a program layer by layer.
type compiler struct {
	*program
	stage  *[]op
	values []*value
}

// layer appends the ops of layer i, whose input is v, and those of layers behind it that are fused into it; it
// returns the output and the number of layers consumed.
func (c *compiler) layer(i int, v *value) (*value, int) {
	layers := c.net.layers
	next := func(k int) Layer {
		if i+k < len(layers) {
			return layers[i+k]
		}
		return nil
	}
	switch l := layers[i].(type) {
	case Dense:
		c.stage = &c.dense
		v = c.withoutBorder(v)
		out := c.output(i + 1)
		out.tight = true
		used := 1
		if next(1) == ReLU {
			out.relu, used = true, 2
		}
		c.emit(newDense(c, i, v, out))
		return out, used
	case Conv:
		if c.stage == &c.pre {
			c.stage = &c.conv
		}
		l.Stride = ones(l.Stride)
		v = c.withBorder(v, l.Pad)
		taps := v.c * l.Kernel[0] * l.Kernel[1]
		if pool := poolBehind(next(1), next(2)); pool != nil && taps <= lanes.MaxTerms {
			// The masks of a mean hold the derivative of its ReLU; those of a maximum only say which pixel won, and its gradient
			// is stored gated.
			out := c.output(i + 3)
			_, out.relu = pool.(MaxPool)
			c.emit(newConvPool(c, i, l, pool, v, out))
			return out, 3
		}
		out := c.output(i + 1)
		used := 1
		if next(1) == ReLU {
			out.relu, used = true, 2
		}
		c.emit(newConv(c, i, l, v, out))
		return out, used
	case MaxPool, AvgPool, GlobalAvgPool:
		out := c.output(i + 1)
		out.tight = true
		c.emit(newPool(c, l, v, out))
		return out, 1
	case Activation:
		out := c.output(i + 1)
		out.top, out.bottom, out.left, out.right = v.top, v.bottom, v.left, v.right
		v.tight, out.tight = true, true
		out.relu = false // gated by the activation's own way back
		c.emit(&activation{l, v, out})
		return out, 1
	default: // Flatten: the order is the same
		return c.withoutBorder(v), 1
	}
}

// poolBehind is the 2×2 pool that a ReLU joins to the layer before: the maximum may stand on either side of it, the mean
// behind it. nil if the two layers are none.
func poolBehind(a, b Layer) Layer {
	if _, ok := a.(MaxPool); ok {
		a, b = b, a
	}
	switch b.(type) {
	case MaxPool, AvgPool:
	default:
		return nil
	}
	size, stride, pad := window(b)
	two := [2]int{2, 2}
	if a != ReLU || size != two || stride != two || pad != [2]int{} {
		return nil
	}
	return b
}

func (c *compiler) emit(o op) { *c.stage = append(*c.stage, o) }

// output makes a value of one of the shapes that New derived.
func (c *compiler) output(shape int) *value {
	v := &value{c: 1, h: 1, w: 1, shared: c.stage == &c.pre}
	if s := c.net.shapes[shape]; len(s) == 3 {
		v.c, v.h, v.w = s[0], s[1], s[2]
	} else {
		v.c = s[0]
	}
	if v.shared {
		v.grad = -1
	}
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

// copyOf appends an op that copies a value's planes into other borders. Only values before the first dense layer have
// any.
func (c *compiler) copyOf(v *value) *value {
	out := &value{c: v.c, h: v.h, w: v.w, shared: v.shared, relu: v.relu, grad: v.grad}
	c.values = append(c.values, out)
	stage := &c.conv
	if v.shared {
		stage = &c.pre
	}
	*stage = append(*stage, &reborder{v, out})
	return out
}

// gradTensor reserves room for a tensor's gradient as rows×cols of the given pitch and returns its offset.
func (c *compiler) gradTensor(theta, rows, cols, pitch int) int {
	at := c.gradSize
	c.rows = append(c.rows, gradRows{theta, at, rows, cols, pitch})
	c.gradSize += (rows*pitch + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
	return at
}

// laneSums reserves n lane vectors that are zero when a pass begins.
func (c *compiler) laneSums(n int) int {
	at := c.laneSize
	c.laneSize += n * lanes.Lanes
	return at
}

// scratch makes sure that an op finds n floats in tape.tmp.
func (c *compiler) scratch(n int) { c.tmpSize = max(c.tmpSize, n) }

// allocate lays the values out, now that all borders are known, and lets the ops build their tables.
func (c *compiler) allocate() {
	boundary := c.boundary()
	for _, v := range c.values {
		copies := c.copies(v)
		if !v.scratch {
			v.act = c.actSize
			c.actSize += tileGroups * copies * v.size()
		}
		if v.grad >= 0 {
			groups := tileGroups
			if v.inner = v.inner || boundary[v]; v.inner {
				groups = 1
			}
			v.grad = c.dySize
			c.dySize += groups * copies * v.size()
		}
	}
	for _, stage := range [][]op{c.pre, c.conv, c.dense} {
		for _, o := range stage {
			if o, ok := o.(interface{ plan(c *compiler) }); ok {
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
		panic("nn: " + err.Error()) // a plan of ours that lanes refuses is a bug here
	}
}

// boundary finds the values between two ops of the conv stage: their gradients are used up group by group.
func (c *compiler) boundary() map[*value]bool {
	inner := map[*value]bool{}
	for i, o := range c.conv {
		in, _ := o.ends()
		inner[in] = i > 0
	}
	return inner
}

func (p *program) forward(t *tape) {
	for g := range t.groups {
		for _, o := range p.conv {
			o.forward(t, g, g+1)
		}
	}
	for _, o := range p.dense {
		o.forward(t, 0, t.groups)
	}
}

func (p *program) backward(t *tape) {
	clear(t.lane)
	for i := len(p.dense) - 1; i >= 0; i-- {
		p.dense[i].backward(t, 0, t.groups)
	}
	for g := range t.groups {
		for i := len(p.conv) - 1; i >= 0; i-- {
			p.conv[i].backward(t, g, g+1)
		}
	}
	for _, o := range p.conv {
		o.finish(t)
	}
	for _, o := range p.dense {
		o.finish(t)
	}
}
