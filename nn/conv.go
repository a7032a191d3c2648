package nn

import (
	"cmp"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// Conv is a cross-correlation with zero padding (PyTorch's nn.Conv2d): weight [Filters, channels, kh, kw],
// output size ⌊(h+2·pad−kh)/stride⌋+1. Pairs are height, width. A zero Stride means 1.
type Conv struct {
	Filters int    `yaml:"filters"`               // number of channels of the output
	Kernel  [2]int `yaml:"kernel"`                // size of a filter: height, width
	Stride  [2]int `yaml:"stride"`                // steps from one position of a filter to the next: down, across
	Pad     [2]int `yaml:"pad"`                   // rows and columns of zeros added on each side; default 0
	NoBias  bool   `yaml:"bias,not"`              // whether a bias is added (in Go: whether none is)
	Name    string `yaml:"name,beside,omitempty"` // how its tensors begin in files of weights: NAME.weight, NAME.bias; default: the layer's number, counted from 0 over all layers, as in PyTorch's nn.Sequential
}

// Defaults sets the stride to 1.
func (l *Conv) Defaults() { l.Stride = l.window().stride }

// Check implements config.Checker.
func (l Conv) Check(f *config.Faults) {
	needSizes(f, "filters", l.Filters)
	needSizes(f, "kernel", l.Kernel[:]...)
	checkStride(f, l.Stride)
	checkSizes(f, "pad", 0, l.Pad[:]...)
	checkName(f, l.Name)
}

func (l Conv) window() window { return window{l.Kernel, cmp.Or(l.Stride, [2]int{1, 1}), l.Pad} }

// Title implements Layer.
func (l Conv) Title() string { return fmt.Sprintf("conv %d", l.Filters) }

func (l Conv) derive(b *builder, n *node) error {
	if err := n.planes(); err != nil {
		return err
	}
	if l.Filters <= 0 {
		return fmt.Errorf("filters must be positive, have %d", l.Filters)
	}
	out, err := l.window().over(n.in)
	if err != nil {
		return err
	}
	n.out, n.stage = []int{l.Filters, out[0], out[1]}, max(n.from.stage, stageConv)
	if err := l.checkTables(n.in, out); err != nil && volume(n.out...) <= maxValues {
		return err
	}
	taps := n.in[0] * l.Kernel[0] * l.Kernel[1]
	if err := b.weights(n, l.Name, l.NoBias, taps, l.Filters, n.in[0], l.Kernel[0], l.Kernel[1]); err != nil {
		return err
	}
	b.multiplyAdds(n, 0, taps*l.Filters*out[0]*out[1], !n.from.stage.shared())
	return nil
}

// checkTables refuses a convolution whose tables of offsets would be too large: pairs of a pixel and a weight of a filter, and sums of the
// input gradient, which have a table for each row and each kind of column. Few columns are of another kind than those inside.
func (l Conv) checkTables(in []int, out [2]int) error {
	w := l.window()
	stride := min(w.stride[1], in[2])
	inside := (2*w.size[1] + 5*stride) * ((w.size[1]-1)/stride + 2)
	if volume(in[0], out[0], out[1], w.size[0], w.size[1]) > maxTable || volume(in[1], w.size[0]) > maxTable || volume(in[2], w.size[1]) > maxTable ||
		volume(4, l.Filters, out[0], w.size[0], min(out[1]*w.size[1], inside)) > maxTable {
		return fmt.Errorf("a kernel of %v over %v is too large: tables of more than %d offsets; take a smaller kernel, a longer stride or fewer filters",
			w.size, in, maxTable)
	}
	return nil
}

func (l Conv) compile(c *compiler, chain []node, v *value) (*value, int) {
	n := &chain[0]
	v = c.withBorder(v, l.Pad)
	taps := v.c * l.Kernel[0] * l.Kernel[1]
	if pool, ok := pooledReLU(chain[1:]); ok && taps <= lanes.MaxTerms {
		// The masks of a mean hold the derivative of its ReLU. The masks of a maximum hold only which pixel is the largest,
		// so its gradient is stored gated.
		out := c.output(&chain[2])
		out.relu = !pool.mean()
		c.emit(n.stage, newConvPool(c, n, l, pool.mean(), v, out))
		return out, 3
	}
	out, used := c.output(n), 1
	if clips(chain[1:]) {
		out.relu, used = true, 2
	}
	c.emit(n.stage, newConv(c, n, l, v, out))
	return out, used
}

// unit is the input of a bias.
var unit = [lanes.Lanes]float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// convOp is a cross-correlation, with a ReLU behind it if out.relu; if pooled, with a ReLU and a 2×2 pool behind it.
//
//	forward   y[o](p)     = b[o] + Σ_{c,k} W[o,c,k] x[c](s p + k − pad)
//	backward  dW[o,c,k]  += Σ_p dy[o](p) x[c](s p + k − pad)       a sum by lane, then over lanes
//	          dx[c](q)    = Σ_{o,k: s p + k − pad = q} W[o,c,k] dy[o](p)
//	of a max  dy[o](p)    = dpool[o](⌊p/2⌋)    where p's mask is set, else 0
//	of a mean dy[o](p)    = dpool[o](⌊p/2⌋)/4  where p's mask is set, else 0
//
// Where pooled, a kernel tile is the four pixels of a window. The convolution's own output is never stored, only the
// pooled output and a mask: one bit for each pixel that the output depends on, which is the largest one or, for a mean, each
// one that is positive. In the backward pass the weight gradient reads the pooled gradient through the masks if no input
// gradient is needed; otherwise the gradient is first spread over all pixels, into unpooled.
type convOp struct {
	in, out       *value
	kernel        [2]int
	stride, pad   [2]int
	filters, taps int
	h, w          int // size of the convolution's own output
	weight        param
	bias          *param // nil without
	lane, laneB   int
	pooled        bool
	mean          bool   // pooled by the mean, else by the maximum
	masks         int    // start in tape.masks
	unpooled      *value // the gradient of all pixels, one group
	back          [2]int // block of pixels of igrad: height, width

	fwd   *product
	wgrad []dotCall
	bgrad []dotCall // of the bias, where a mean is pooled: through its masks
	igrad *product
}

func newConv(c *compiler, n *node, l Conv, in, out *value) *convOp {
	o := &convOp{in: in, out: out, kernel: l.Kernel, stride: l.window().stride, pad: l.Pad, filters: l.Filters}
	o.h, o.w = n.out[1], n.out[2]
	o.taps = in.c * l.Kernel[0] * l.Kernel[1]
	ts := n.params
	o.weight = c.param(ts[0], o.filters, o.taps, o.taps)
	o.lane = c.laneSums(o.filters * o.taps)
	if len(ts) == 2 {
		bias := c.param(ts[1], 1, o.filters, o.filters)
		o.bias, o.laneB = &bias, c.laneSums(o.filters)
	}
	if in.grad >= 0 {
		o.chooseBack()
		if y, x := o.back[0]-1, o.back[1]-1; out.h == o.h && out.w == o.w {
			out.border(y, y, x, x)
		}
	}
	return o
}

func newConvPool(c *compiler, n *node, l Conv, mean bool, in, out *value) *convOp {
	o := newConv(c, n, l, in, out)
	o.pooled, o.mean = true, mean
	if in.grad >= 0 {
		o.unpooled = c.value(n.out, n.origin)
		o.unpooled.inner, o.unpooled.scratch = true, true
		o.unpooled.border(o.back[0]-1, o.back[0]-1, o.back[1]-1, o.back[1]-1)
	}
	return o
}

func (o *convOp) inputs() []**value { return []**value{&o.in} }

func (o *convOp) output() *value { return o.out }

// changes implements changer: the gradient of a mean is scaled where it is.
func (o *convOp) changes() bool { return o.mean }

func (o *convOp) groupMasks(t *tape, g int) []uint16 {
	n := o.out.size() / lanes.Lanes * 4
	return t.masks[o.masks+o.out.place(g)*n:][:n]
}

func (o *convOp) forward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		w, x, y := t.weights(o.weight, 0), t.out(o.in, g, 0), t.out(o.out, g, 0)
		var bias []float32
		if o.bias != nil {
			bias = t.weights(*o.bias, 0)[:o.filters]
		}
		if !o.pooled {
			o.fwd.store(w, x, bias, y, floor(o.out), func() { lanes.ReLU(y, y) })
			continue
		}
		var own []float32
		for _, c := range o.fwd.calls {
			if bias != nil {
				own = bias[c.row : c.row+c.m]
			}
			store := c.plan.StoreMaxPool
			if o.mean {
				store = c.plan.StoreMeanPool
			}
			store(w[c.w:], x, own, y[c.d:], o.groupMasks(t, g)[c.d/lanes.Lanes*4:])
		}
	}
}

func (o *convOp) backward(t *tape, g0, g1 int) {
	own, before := t.learns(o.weight), t.needs(o.in)
	if !own && !before {
		return
	}
	for g := g0; g < g1; g++ {
		x, dy := t.out(o.in, g, 0), t.dy(o.out, g, 0)
		acc := t.lane[o.lane:][:o.filters*o.taps*lanes.Lanes]
		var masks []uint16
		if o.pooled {
			masks = o.groupMasks(t, g)
			if o.mean {
				lanes.Scale(dy, 0.25, dy)
			} else {
				lanes.PoolMasks(masks)
			}
		}
		if own && o.bias != nil {
			v, sums := o.out, t.lane[o.laneB:][:o.filters*lanes.Lanes]
			if o.bgrad == nil {
				lanes.SumRows(dy, v.c, v.plane()/lanes.Lanes, v.plane(), sums)
			}
			for _, c := range o.bgrad {
				c.pool.Add(dy[c.dy:], masks[c.dy/lanes.Lanes*4:], unit[:], sums[c.acc:])
			}
		}
		if o.unpooled != nil {
			dy = o.unpool(t, dy, masks)
		}
		for _, c := range o.wgrad {
			if !own {
				break
			}
			if c.pool != nil {
				c.pool.Add(dy[c.dy:], masks[c.dy/lanes.Lanes*4:], x, acc[c.acc:])
			} else {
				c.plan.Add(dy[c.dy:], x, acc[c.acc:])
			}
		}
		if !before {
			continue
		}
		w, dx := t.weights(o.weight, 0), t.dy(o.in, g, 0)
		if o.in.relu {
			o.igrad.storeGated(w, dy, x, dx, func() { lanes.ReLUBackward(x, dx, dx) })
		} else {
			o.igrad.store(w, dy, nil, dx, negInf, nil)
		}
	}
}

// unpool spreads the gradient of the pooled planes over the pixels that they depend on.
func (o *convOp) unpool(t *tape, dy []float32, masks []uint16) []float32 {
	full, v := t.dy(o.unpooled, 0, 0), o.unpooled
	row := v.wp() * lanes.Lanes
	for ch := range o.filters {
		for y := range o.out.h {
			at := ch*o.out.plane() + o.out.pixel(y, 0)
			n := o.out.w * lanes.Lanes
			lanes.Unpool(dy[at:at+n], masks[at/lanes.Lanes*4:][:o.out.w*4], full[ch*v.plane()+v.pixel(2*y, 0):], row)
		}
	}
	return full
}

func (o *convOp) finish(t *tape) {
	if !t.learns(o.weight) {
		return
	}
	t.reduce(o.lane, o.weight, 0, o.filters*o.taps)
	if o.bias != nil {
		t.reduce(o.laneB, *o.bias, 0, o.filters)
	}
}
