package nn

import "github.com/starling-smc/starling/internal/lanes"

// activation is an elementwise function y = f(x), dx = f′(x) dy; the definitions are those of the Activation
// constants. (A ReLU behind a dense or convolution layer never becomes an op: their kernels clip.)
type activation struct {
	kind    Activation
	in, out *value
}

func (a *activation) ends() (in, out *value) { return a.in, a.out }

func (a *activation) forward(t *tape, g0, g1 int) {
	f := [...]func(x, y []float32){lanes.ReLU, lanes.Tanh, lanes.GELU, lanes.Swish}[a.kind]
	a.each(t, g0, g1, func(g, b int) { f(t.out(a.in, g, b), t.out(a.out, g, b)) })
}

func (a *activation) backward(t *tape, g0, g1 int) {
	a.each(t, g0, g1, func(g, b int) {
		x, y, dy, dx := t.out(a.in, g, b), t.out(a.out, g, b), t.dy(a.out, g, b), t.dy(a.in, g, b)
		switch a.kind {
		case ReLU:
			lanes.ReLUBackward(y, dy, dx)
		case Tanh:
			lanes.TanhBackward(y, dy, dx)
		case GELU:
			lanes.GELUBackward(x, dy, dx)
		case Swish:
			lanes.SwishBackward(x, dy, dx)
		}
		if a.in.relu { // only where a ReLU is followed by another activation
			lanes.ReLUBackward(x, dx, dx)
		}
	})
}

func (a *activation) each(t *tape, g0, g1 int, f func(g, b int)) {
	particles := t.batch
	if a.in.shared {
		particles = 1
	}
	for g := g0; g < g1; g++ {
		for b := range particles {
			f(g, b)
		}
	}
}

func (a *activation) finish(*tape) {}
