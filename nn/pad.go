package nn

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/internal/lanes"
)

// Pad is the shortcut without parameters of a residual whose body has more channels (option A of He et al. 2016): every other
// pixel where the body halves the planes, and channels of zeros, as many before the input's as behind them (one more behind them if
// their number is odd).
//
//	y[o+first](p) = x[o](s p),  first = ⌊(channels of the body − channels of x)/2⌋,  s = 1 or 2
type Pad struct{}

// Title implements Layer.
func (Pad) Title() string { return "" }

func (Pad) derive(b *builder, n *node) error {
	if b.target == nil {
		return errors.New("stands in the shortcut of a residual alone, as in {residual: {body: […], shortcut: pad}}")
	}
	if err := n.planes(); err != nil {
		return err
	}
	n.out = b.target
	return Pad{}.leads(n.in, n.out)
}

// leads says why the layer cannot lead from planes to the output of a body.
func (Pad) leads(in, out []int) error {
	half := [2]int{(in[1] + 1) / 2, (in[2] + 1) / 2}
	switch {
	case len(out) != 3:
		return fmt.Errorf("gives planes, and the body gives %v", out)
	case out[0] < in[0]:
		return fmt.Errorf("the body gives %v and the input is %v: pad would drop channels, so give the shortcut a convolution", out, in)
	case [2]int{out[1], out[2]} != [2]int{in[1], in[2]} && [2]int{out[1], out[2]} != half:
		return fmt.Errorf("the body gives %v and the input is %v: pad keeps the size of the planes or halves it to %v, so give the shortcut a convolution",
			out, in, half)
	}
	return nil
}

func (Pad) compile(c *compiler, chain []node, v *value) (*value, int) {
	n := &chain[0]
	p := &padOp{in: v, out: c.output(n), step: 1}
	if p.out.h < v.h || p.out.w < v.w {
		p.step = 2
	}
	p.first, p.out.kept = (p.out.c-v.c)/2, true
	c.emit(n.stage, p)
	return p.out, 1
}

// padOp copies every step-th pixel to the channels from first on. The others hold zeros: nothing is ever written there.
type padOp struct {
	in, out     *value
	step, first int
}

func (p *padOp) inputs() []**value { return []**value{&p.in} }

func (p *padOp) output() *value { return p.out }

// pixels calls f for each pixel of the output that is one of the input: their offsets.
func (p *padOp) pixels(f func(out, in int)) {
	for ch := range p.in.c {
		for y := range p.out.h {
			for x := range p.out.w {
				f((p.first+ch)*p.out.plane()+p.out.pixel(y, x), ch*p.in.plane()+p.in.pixel(p.step*y, p.step*x))
			}
		}
	}
}

func (p *padOp) forward(t *tape, g0, g1 int) {
	t.each(p.out, g0, g1, func(g, b int) {
		y, x := t.out(p.out, g, b), t.out(p.in, g, b)
		p.pixels(func(out, in int) { copy(y[out:][:lanes.Lanes], x[in:][:lanes.Lanes]) })
	})
}

func (p *padOp) backward(t *tape, g0, g1 int) {
	if !t.needs(p.in) {
		return
	}
	t.each(p.out, g0, g1, func(g, b int) {
		dy, dx := t.dy(p.out, g, b), t.dy(p.in, g, b)
		if p.step > 1 {
			clear(dx)
		}
		p.pixels(func(out, in int) { copy(dx[in:][:lanes.Lanes], dy[out:][:lanes.Lanes]) })
		if p.in.relu {
			lanes.ReLUBackward(t.out(p.in, g, b), dx, dx)
		}
	})
}

func (p *padOp) finish(*tape) {}

func (p *padOp) tangent(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		y, x := t.move(p.out, g), t.move(p.in, g)
		p.pixels(func(out, in int) { copy(y[out:][:lanes.Lanes], x[in:][:lanes.Lanes]) })
	}
}
