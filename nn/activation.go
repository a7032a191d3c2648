package nn

import "github.com/starling-smc/starling/internal/lanes"

// Activation is a layer that applies a function to each value. The function maps 0 to 0, so that borders of zeros stay zero.
type Activation interface {
	Layer
	apply(x, y []float32)                  // y = f(x)
	applyWithDerivative(x, y, d []float32) // y = f(x), d = f′(x); d may be x
}

// activation appends the op of an activation. (A ReLU behind a dense or convolution layer is part of that layer's op.)
func (c *compiler) activation(f Activation, n *node, v *value) *value {
	out := c.output(n)
	c.emit(n.stage, &activationOp{f: f, in: v, out: out})
	return out
}

// activationOp is y = f(x), dx = f′(x) dy. A pass that wants gradients computes f′(x) along with f(x), which share an
// exponential, and leaves it for the way back. It takes the place of x, which nobody needs then: see place.
type activationOp struct {
	f       Activation
	in, out *value
	d       *value // f′(x); nil if the input needs no gradient
}

// place finds a place for the derivative: the input's, unless other ops read the input as well, its op has set a part of it for good, or
// the gradient of a ReLU is gated by it.
func (a *activationOp) place(c *compiler, readers int) {
	switch {
	case a.in.grad < 0:
	case readers > 1 || a.in.relu || a.in.kept:
		own := *a.in
		own.grad = -1
		c.values = append(c.values, &own)
		a.d = &own
	default:
		a.d = a.in
	}
}

func (a *activationOp) inputs() []**value { return []**value{&a.in} }

func (a *activationOp) output() *value { return a.out }

func (a *activationOp) forward(t *tape, g0, g1 int) {
	t.each(a.in, g0, g1, func(g, b int) {
		x, y := t.out(a.in, g, b), t.out(a.out, g, b)
		switch {
		case t.needs(a.in):
			d := t.out(a.d, g, b)
			a.in.runs(a.out, func(i, j, n int) { a.f.applyWithDerivative(x[i:i+n], y[j:j+n], d[i:i+n]) })
		case a.in.alike(a.out):
			a.f.apply(x, y)
		default:
			a.in.runs(a.out, func(i, j, n int) { a.f.apply(x[i:i+n], y[j:j+n]) })
		}
	})
}

func (a *activationOp) backward(t *tape, g0, g1 int) {
	if !t.needs(a.in) {
		return
	}
	t.each(a.in, g0, g1, func(g, b int) {
		d, dy, dx := t.out(a.d, g, b), t.dy(a.out, g, b), t.dy(a.in, g, b)
		if a.in.alike(a.out) {
			lanes.MultiplyDerivative(d, dy, dx)
		} else {
			a.in.runs(a.out, func(i, j, n int) { lanes.MultiplyDerivative(d[i:i+n], dy[j:j+n], dx[i:i+n]) })
		}
		if a.in.relu { // only where another activation follows a ReLU
			lanes.ReLUBackward(t.out(a.in, g, b), dx, dx)
		}
	})
}

func (a *activationOp) finish(*tape) {}

// tangent is ẏ = f′(x) ẋ.
func (a *activationOp) tangent(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		d, x, y := t.out(a.d, g, 0), t.move(a.in, g), t.move(a.out, g)
		a.in.runs(a.out, func(i, j, n int) { lanes.MultiplyDerivative(d[i:i+n], x[i:i+n], y[j:j+n]) })
	}
}
