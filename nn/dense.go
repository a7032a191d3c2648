package nn

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// Dense is y = W x + b with W of shape [Units, inputs] (PyTorch's nn.Linear). An input of shape [c, h, w] is
// flattened first, in that order.
type Dense struct {
	Units  int    `yaml:"units,short"`           // number of outputs
	NoBias bool   `yaml:"bias,not,omitempty"`    // whether a bias is added (in Go: whether none is)
	Name   string `yaml:"name,beside,omitempty"` // how its tensors begin in files of weights: NAME.weight, NAME.bias; default: the layer's number, counted from 0 over all layers, as in PyTorch's nn.Sequential
}

// Check implements config.Checker.
func (d Dense) Check(f *config.Faults) {
	needSizes(f, "units", d.Units)
	checkName(f, d.Name)
}

// Title implements Layer.
func (d Dense) Title() string { return fmt.Sprintf("dense %d", d.Units) }

func (d Dense) derive(b *builder, n *node) error {
	if d.Units <= 0 {
		return fmt.Errorf("units must be positive, have %d", d.Units)
	}
	in := b.flat(n)
	n.out, n.stage = []int{d.Units}, stageDense
	if err := b.weights(n, d.Name, d.NoBias, in, d.Units, in); err != nil {
		return err
	}
	b.multiplyAdds(n, 0, d.Units*in, !n.from.stage.shared())
	return nil
}

func (d Dense) compile(c *compiler, chain []node, v *value) (*value, int) {
	v = c.withoutBorder(v)
	out, used := c.output(&chain[0]), 1
	if clips(chain[1:]) {
		out.relu, used = true, 2
	}
	c.emit(chain[0].stage, newDense(c, chain[0].params, v, out))
	return out, used
}

// denseOp is y = W x + b for W of [units, k], with a ReLU behind it if out.relu.
//
//	forward   y[u]    = b[u] + Σ_i W[u,i] x[i]            lanes are examples, N of the kernel are groups
//	backward  dW[u,i] += Σ_e dy[u,e] x[i,e]               lanes are inputs i: both sides are transposed first
//	          dx[i]   = Σ_u W[u,i] dy[u]                  lanes are examples again
//
// If no layer before it has parameters, its input is the same for all particles. Then the input is transposed once for
// all of them, and the rows of a product may belong to several particles.
type denseOp struct {
	in, out  *value
	units, k int
	w        param
	b        *param // nil without bias
	pitch    int    // of a row of the weight gradient
	rows     int    // of the transposed dy
	lane     int    // bias gradient by lane

	fwd   [5][]cover // by number of groups side by side: 1, 2, 4
	wgrad [2][]cover // of 16 examples, of 64
	igrad [5]*product
}

// cover is a product for the given number of particles at once, largest first in a list that ends with 1.
type cover struct {
	particles int
	*product
}

// covers makes the products whose rows are the units of one particle, or, where a particle has only one row, the
// particles of the pass, whose rows are so many elements apart.
func covers(units, particles, apart int, plan func(rows int) *product) (list []cover) {
	if units == 1 {
		for _, m := range []int{8, 6, 4, 2} {
			if m <= particles && m*apart <= maxParameters {
				list = append(list, cover{m, plan(m)})
			}
		}
	}
	return append(list, cover{1, plan(units)})
}

// each calls run for consecutive particles of a pass with the largest product that fits.
func each(list []cover, particles int, run func(c cover, first int)) {
	for b := 0; b < particles; {
		i := 0
		for list[i].particles > particles-b {
			i++
		}
		run(list[i], b)
		b += list[i].particles
	}
}

// newDense is the op for the given tensors: the weights and, if there is one, the bias.
func newDense(c *compiler, ts []int, in, out *value) *denseOp {
	d := &denseOp{in: in, out: out, units: out.c, k: in.c * in.h * in.w}
	d.pitch = (d.k + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
	d.w = c.param(ts[0], d.units, d.k, d.pitch)
	if len(ts) == 2 {
		bias := c.param(ts[1], 1, d.units, d.units)
		d.b, d.lane = &bias, c.laneSums(c.batch*d.units)
	}
	if in.shared() {
		d.rows = (d.together(c)*d.units + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
		c.transpose(in, d.pitch)
		c.scratch(out.groups() * lanes.Lanes * d.rows)
	} else {
		d.rows = (d.units + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
		c.scratch(out.groups() * lanes.Lanes * (d.pitch + d.rows))
	}
	return d
}

// together is how many particles' rows may lie side by side in a product.
func (d *denseOp) together(c *compiler) int {
	if d.in.shared() {
		return c.copies(d.out)
	}
	return 1
}

func (d *denseOp) plan(c *compiler) {
	terms := make([]lanes.Term, 0, d.k)
	for ch := range d.in.c {
		for y := range d.in.h {
			for x := range d.in.w {
				terms = append(terms, lanes.Term{W: int32(len(terms)), X: int32(ch*d.in.plane() + d.in.pixel(y, x))})
			}
		}
	}
	back := make([]lanes.Term, d.units)
	for u := range back {
		back[u] = lanes.Term{W: int32(u * d.k), X: int32(u * lanes.Lanes)}
	}
	together := d.together(c)
	for n := 1; n <= d.out.groups(); n *= 2 {
		f, b := spot{terms: terms}, spot{terms: back}
		for j := range n {
			f.x[j] = int32(j * c.copies(d.in) * d.in.size())
			f.d[j] = int32(j * c.copies(d.out) * d.out.size())
			b.x[j], b.d[j] = f.d[j], int32(j*c.gradients(d.in)*d.in.size())
		}
		wide, wStride := together, d.k
		if d.b != nil {
			wide = 1 // a bias is not at the stride of the weights
		} else if d.units == 1 {
			wStride = c.net.dim
		}
		d.fwd[n] = covers(d.units, wide, wStride, func(rows int) *product {
			return newProduct(rows, n, wStride, lanes.Lanes, []spot{f}, d.b == nil)
		})
		if d.in.grad >= 0 {
			d.igrad[n] = newProduct(d.k, n, 1, lanes.Lanes, []spot{b}, true)
		}
	}
	stride := d.pitch
	if d.units == 1 {
		stride = c.own.size
	}
	for i, examples := range []int{lanes.Lanes, tileExamples} {
		terms := make([]lanes.Term, examples)
		for e := range terms {
			terms[e] = lanes.Term{W: int32(e * d.rows), X: int32(e * d.pitch)}
		}
		d.wgrad[i] = covers(d.units, together, stride, func(rows int) *product {
			return wgradProduct(rows, stride, d.pitch/lanes.Lanes, terms)
		})
	}
}

// wgradProduct plans rows of a gradient of the given number of vectors, four vectors of a row at a time.
func wgradProduct(rows, stride, vectors int, terms []lanes.Term) *product {
	p := &product{}
	for at := 0; at < vectors; {
		n := 4
		for n > vectors-at {
			n /= 2
		}
		var spots []spot
		for ; at+n <= vectors; at += n {
			s := spot{terms: terms}
			for j := range n {
				s.x[j] = int32((at + j) * lanes.Lanes)
				s.d[j] = s.x[j]
			}
			spots = append(spots, s)
			if n < 4 {
				at += n
				break
			}
		}
		p.calls = append(p.calls, newProduct(rows, n, 1, stride, spots, true).calls...)
	}
	return p
}

func (d *denseOp) inputs() []**value { return []**value{&d.in} }

func (d *denseOp) output() *value { return d.out }

func (d *denseOp) forward(t *tape, g0, g1 int) {
	limit := floor(d.out)
	for g := g0; g < g1; {
		n := sideBySide(g1 - g)
		each(d.fwd[n], t.batch, func(p cover, b int) {
			var bias []float32
			if d.b != nil {
				bias = t.weights(*d.b, b)
			}
			p.store(t.weights(d.w, b), t.from(d.in, g, b), bias, t.from(d.out, g, b), limit, func() {
				for i := range n * p.particles {
					y := t.out(d.out, g+i%n, b+i/n)
					lanes.ReLU(y, y)
				}
			})
		})
		g += n
	}
}

func (d *denseOp) backward(t *tape, g0, g1 int) {
	if t.learns(d.w) {
		if d.b != nil {
			for b := range t.batch {
				for g := g0; g < g1; g++ {
					lanes.SumRows(t.dy(d.out, g, b), d.units, 1, lanes.Lanes, t.lane[d.lane+b*d.units*lanes.Lanes:][:d.units*lanes.Lanes])
				}
			}
		}
		d.weightGradient(t, g0, g1)
	}
	if !t.needs(d.in) {
		return
	}
	for b := range t.batch {
		w := t.weights(d.w, b)
		for g := g0; g < g1; {
			n := sideBySide(g1 - g)
			dy, dx := t.dyFrom(d.out, g, b), t.dyFrom(d.in, g, b)
			if d.in.relu {
				d.igrad[n].storeGated(w, dy, t.from(d.in, g, b), dx, func() {
					for i := g; i < g+n; i++ {
						lanes.ReLUBackward(t.out(d.in, i, b), t.dy(d.in, i, b), t.dy(d.in, i, b))
					}
				})
			} else {
				d.igrad[n].store(w, dy, nil, dx, negInf, nil)
			}
			g += n
		}
	}
}

// weightGradient adds dy xᵀ. The transposed tiles are [examples][pitch] and [examples][rows], for the 16 examples of each of the
// groups. The first pass over a tile transposes an input that all particles share, for all passes.
func (d *denseOp) weightGradient(t *tape, g0, g1 int) {
	var xt, dyt []float32
	if d.in.shared() {
		xt, dyt = t.shared[d.in.transposed+g0*lanes.Lanes*d.pitch:], t.tmp
	} else {
		xt, dyt = t.tmp, t.tmp[(g1-g0)*lanes.Lanes*d.pitch:]
	}
	whole := g1-g0 == tileGroups
	add := func(p cover, first, row int) {
		grad := t.gradients(d.w, first)
		if whole {
			for _, c := range p.calls {
				c.plan.Add(dyt[row+c.w:], xt, grad[c.d:])
			}
			return
		}
		for at := 0; at < (g1-g0)*lanes.Lanes; at += lanes.Lanes {
			for _, c := range p.calls {
				c.plan.Add(dyt[at*d.rows+row+c.w:], xt[at*d.pitch:], grad[c.d:])
			}
		}
	}
	covers := d.wgrad[0]
	if whole {
		covers = d.wgrad[1]
	}
	if d.in.shared() {
		rows := d.units * t.batch
		for g := g0; g < g1; g++ {
			if t.first == 0 {
				lanes.Transpose(t.out(d.in, g, 0), d.k, xt[(g-g0)*lanes.Lanes*d.pitch:], d.pitch)
			}
			lanes.Transpose(t.dyFrom(d.out, g, 0)[:rows*lanes.Lanes], rows, dyt[(g-g0)*lanes.Lanes*d.rows:], d.rows)
		}
		each(covers, t.batch, func(p cover, b int) { add(p, b, b*d.units) })
		return
	}
	for b := range t.batch {
		for g := g0; g < g1; g++ {
			lanes.Transpose(t.out(d.in, g, b), d.k, xt[(g-g0)*lanes.Lanes*d.pitch:], d.pitch)
			at := dyt[(g-g0)*lanes.Lanes*d.rows:][:lanes.Lanes*d.rows]
			lanes.Transpose(t.dy(d.out, g, b), d.units, at, d.rows)
			if d.w.role == RoleLearned {
				lanes.Scale(at, t.share(b), at)
			}
		}
		add(covers[0], b, 0)
	}
}

func (d *denseOp) finish(t *tape) {
	if d.b == nil || !t.learns(*d.b) {
		return
	}
	for b := range t.batch {
		t.reduce(d.lane+b*d.units*lanes.Lanes, *d.b, b, d.units)
	}
}

// sideBySide is how many groups a dense kernel takes at once when some are left.
func sideBySide(left int) int {
	switch {
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}
