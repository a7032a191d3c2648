package nn

import "github.com/starling-smc/starling/internal/lanes"

// poolOp is a max or mean over windows of any size, by a table of the inputs of each output.
//
//	max   y(p) = max_k x(s p + k − pad)            dx(q) = Σ_{p: q is the first maximum of p} dy(p)
//	mean  y(p) = Σ_k x(s p + k − pad) / (kh kw)    dx(q) = Σ_{p: q in p's window} dy(p) / (kh kw)
type poolOp struct {
	in, out *value
	window
	max     bool
	windows *lanes.Windows
	args    int // start in tape.args
}

// pool appends the op of a pooling layer.
func (c *compiler) pool(w window, maximum bool, n *node, v *value) *value {
	out := c.output(n)
	out.tight = true
	c.emit(n.stage, &poolOp{in: v, out: out, window: w, max: maximum})
	return out
}

// area is the number of values in a window.
func (p *poolOp) area() int { return p.size[0] * p.size[1] }

func (p *poolOp) plan(c *compiler) {
	in, out := p.in, p.out
	taps := make([]int32, 0, out.c*out.h*out.w*p.area()) // −1 is padding
	for ch := range out.c {
		for y := range out.h {
			for x := range out.w {
				for ky := range p.size[0] {
					for kx := range p.size[1] {
						tap := int32(-1)
						if qy, qx := y*p.stride[0]+ky-p.pad[0], x*p.stride[1]+kx-p.pad[1]; qy >= 0 && qy < in.h && qx >= 0 && qx < in.w {
							tap = int32(ch*in.plane() + in.pixel(qy, qx))
						}
						taps = append(taps, tap)
					}
				}
			}
		}
	}
	var err error
	if p.windows, err = lanes.NewWindows(taps, p.area()); err != nil {
		panic("nn: " + err.Error()) // a plan of ours that lanes refuses is a bug here
	}
	if p.max {
		p.args = c.argSize
		c.argSize += out.groups() * out.size()
	}
}

func (p *poolOp) inputs() []**value { return []**value{&p.in} }

func (p *poolOp) output() *value { return p.out }

func (p *poolOp) groupArgs(t *tape, g int) []int32 {
	n := p.out.size()
	return t.args[p.args+p.out.place(g)*n:][:n]
}

func (p *poolOp) forward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		x, y := t.out(p.in, g, 0), t.out(p.out, g, 0)
		if p.max {
			p.windows.Max(x, y, p.groupArgs(t, g))
		} else {
			p.windows.Sum(x, 1/float32(p.area()), y)
		}
	}
}

func (p *poolOp) backward(t *tape, g0, g1 int) {
	if !t.needs(p.in) {
		return
	}
	for g := g0; g < g1; g++ {
		dy, dx := t.dy(p.out, g, 0), t.dy(p.in, g, 0)
		clear(dx)
		if p.max {
			p.windows.MaxBackward(dy, p.groupArgs(t, g), dx)
		} else {
			p.windows.SumBackward(dy, 1/float32(p.area()), dx)
		}
		if p.in.relu {
			lanes.ReLUBackward(t.out(p.in, g, 0), dx, dx)
		}
	}
}

func (p *poolOp) finish(*tape) {}

// tangent is the move of the largest value, or the mean of the moves.
func (p *poolOp) tangent(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		x, y := t.move(p.in, g), t.move(p.out, g)
		if p.max {
			p.windows.Pick(x, p.groupArgs(t, g), y)
		} else {
			p.windows.Sum(x, 1/float32(p.area()), y)
		}
	}
}
