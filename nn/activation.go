package nn

import "github.com/starling-smc/starling/internal/lanes"

// Activation is a layer that applies a function to each value. The function maps 0 to 0, so that borders of zeros stay zero.
type Activation interface {
	Layer
	apply(x, y []float32)            // y = f(x)
	gradient(x, y, dy, dx []float32) // dx = f′(x) dy
}

// activation appends the op of an activation. (A ReLU behind a dense or convolution layer is part of that layer's op.)
func (c *compiler) activation(f Activation, n *node, v *value) *value {
	out := c.output(n)
	out.top, out.bottom, out.left, out.right = v.top, v.bottom, v.left, v.right
	v.tight, out.tight = true, true
	c.emit(n.stage, &activationOp{f, v, out})
	return out
}

// activationOp is y = f(x), dx = f′(x) dy.
type activationOp struct {
	f       Activation
	in, out *value
}

func (a *activationOp) inputs() []**value { return []**value{&a.in} }

func (a *activationOp) forward(t *tape, g0, g1 int) {
	t.each(a.in, g0, g1, func(g, b int) { a.f.apply(t.out(a.in, g, b), t.out(a.out, g, b)) })
}

func (a *activationOp) backward(t *tape, g0, g1 int) {
	if !t.needs(a.in) {
		return
	}
	t.each(a.in, g0, g1, func(g, b int) {
		x, dx := t.out(a.in, g, b), t.dy(a.in, g, b)
		a.f.gradient(x, t.out(a.out, g, b), t.dy(a.out, g, b), dx)
		if a.in.relu { // only where another activation follows a ReLU
			lanes.ReLUBackward(x, dx, dx)
		}
	})
}

func (a *activationOp) finish(*tape) {}
