package nn

import "github.com/starling-smc/starling/internal/lanes"

// poolOp is a max or mean over windows of any size, by a table of the inputs of each output.
//
//	max   y(p) = max_k x(s p + k − pad)            dx(q) = Σ_{p: q is the first maximum of p} dy(p)
//	mean  y(p) = Σ_k x(s p + k − pad) / (kh kw)    dx(q) = Σ_{p: q in p's window} dy(p) / (kh kw)
type poolOp struct {
	in, out           *value
	max               bool
	size, stride, pad [2]int
	windows           *lanes.Windows
	args              int // start in tape.args
}

func newPool(c *compiler, l Layer, in, out *value) *poolOp {
	p := &poolOp{in: in, out: out}
	switch l.(type) {
	case GlobalAvgPool:
		p.size, p.stride = [2]int{in.h, in.w}, [2]int{1, 1}
	default:
		p.size, p.stride, p.pad = window(l)
		_, p.max = l.(MaxPool)
	}
	return p
}

func (p *poolOp) window() int { return p.size[0] * p.size[1] }

func (p *poolOp) plan(c *compiler) {
	in, out := p.in, p.out
	taps := make([]int32, 0, out.c*out.h*out.w*p.window()) // −1 is padding
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
	if p.windows, err = lanes.NewWindows(taps, p.window()); err != nil {
		panic("nn: " + err.Error()) // a plan of ours that lanes refuses is a bug here
	}
	if p.max {
		p.args = c.argSize
		c.argSize += tileGroups * out.size()
	}
}

func (p *poolOp) ends() (in, out *value) { return p.in, p.out }

func (p *poolOp) groupArgs(t *tape, g int) []int32 {
	n := p.out.size()
	return t.args[p.args+g*n:][:n]
}

func (p *poolOp) forward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		x, y := t.out(p.in, g, 0), t.out(p.out, g, 0)
		if p.max {
			p.windows.Max(x, y, p.groupArgs(t, g))
		} else {
			p.windows.Sum(x, 1/float32(p.window()), y)
		}
	}
}

func (p *poolOp) backward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		dy, dx := t.dy(p.out, g, 0), t.dy(p.in, g, 0)
		clear(dx)
		if p.max {
			p.windows.MaxBackward(dy, p.groupArgs(t, g), dx)
		} else {
			p.windows.SumBackward(dy, 1/float32(p.window()), dx)
		}
		if p.in.relu {
			lanes.ReLUBackward(t.out(p.in, g, 0), dx, dx)
		}
	}
}

func (p *poolOp) finish(*tape) {}

// reborder copies planes into other borders of zeros.
type reborder struct{ in, out *value }

func (r *reborder) ends() (in, out *value) { return r.in, r.out }

func (r *reborder) forward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		copyPlanes(t.out(r.out, g, 0), r.out, t.out(r.in, g, 0), r.in)
	}
}

func (r *reborder) backward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		copyPlanes(t.dy(r.in, g, 0), r.in, t.dy(r.out, g, 0), r.out)
	}
}

func (r *reborder) finish(*tape) {}

func copyPlanes(dst []float32, d *value, src []float32, s *value) {
	for ch := range d.c {
		for y := range d.h {
			n := d.w * lanes.Lanes
			copy(dst[ch*d.plane()+d.pixel(y, 0):][:n], src[ch*s.plane()+s.pixel(y, 0):])
		}
	}
}
