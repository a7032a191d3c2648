package nn

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
)

// bandBytes is how much of the input and of the gradient a band of pixels touches.
const bandBytes = 24 << 10

// unit is the input of a bias.
var unit = [lanes.Lanes]float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// negInf is the floor of a kernel that clips nothing.
var negInf = float32(math.Inf(-1))

// floor is what a kernel clips its result to: 0 where a ReLU is fused.
func floor(v *value) float32 {
	if v.relu {
		return 0
	}
	return negInf
}

// convOp is a cross-correlation, with a ReLU behind it if out.relu; if pooled, with a ReLU and a 2×2 pool behind it.
//
//	forward   y[o](p)     = b[o] + Σ_{c,k} W[o,c,k] x[c](s p + k − pad)
//	backward  dW[o,c,k]  += Σ_p dy[o](p) x[c](s p + k − pad)       a sum by lane, then over lanes
//	          dx[c](q)    = Σ_{o,k: s p + k − pad = q} W[o,c,k] dy[o](p)
//	of a max  dy[o](p)    = dpool[o](⌊p/2⌋)    where p's mask is set, else 0
//	of a mean dy[o](p)    = dpool[o](⌊p/2⌋)/4  where p's mask is set, else 0
//
// Where pooled, a kernel tile is the four pixels of a window: the convolution's own output is never stored, only the
// pooled one and, as bits, which pixels it depends on: the one that won, or those that a ReLU let through into a mean. On
// the way back the network's first convolution takes the gradient through these bits; another one needs the input's
// gradient too and unfolds it into unpooled first.
type convOp struct {
	in, out       *value
	kernel        [2]int
	stride, pad   [2]int
	filters, taps int
	h, w          int // size of the convolution's own output
	weight, bias  int // offsets in θ; bias is −1 without bias
	gw, gb        int
	lane, laneB   int
	pooled        bool
	mean          bool   // pooled by the mean, else by the maximum
	masks         int    // start in tape.masks
	unpooled      *value // the unfolded gradient, one group
	back          [2]int // block of pixels of igrad: height, width

	fwd   *product
	wgrad []dotCall
	bgrad []dotCall // of the bias, where the pixels of a mean count for it
	igrad *product
}

func newConv(c *compiler, layer int, l Conv, in, out *value) *convOp {
	o := &convOp{in: in, out: out, kernel: l.Kernel, stride: l.Stride, pad: l.Pad, filters: l.Filters, bias: -1}
	shape := c.net.shapes[layer+1]
	o.h, o.w = shape[1], shape[2]
	o.taps = in.c * l.Kernel[0] * l.Kernel[1]
	ts := c.net.params[layer]
	o.weight = c.net.tensors[ts[0]].Offset
	o.gw = c.gradTensor(o.weight, o.filters, o.taps, o.taps)
	o.lane = c.laneSums(o.filters * o.taps)
	if len(ts) == 2 {
		o.bias = c.net.tensors[ts[1]].Offset
		o.gb = c.gradTensor(o.bias, 1, o.filters, o.filters)
		o.laneB = c.laneSums(o.filters)
	}
	if in.grad >= 0 {
		o.chooseBack()
		if y, x := o.back[0]-1, o.back[1]-1; out.h == o.h && out.w == o.w {
			out.border(y, y, x, x)
		}
	}
	return o
}

func newConvPool(c *compiler, layer int, l Conv, pool Layer, in, out *value) *convOp {
	o := newConv(c, layer, l, in, out)
	o.pooled = true
	_, o.mean = pool.(AvgPool)
	if in.grad >= 0 {
		o.unpooled = &value{c: o.filters, h: o.h, w: o.w, inner: true, scratch: true}
		o.unpooled.border(o.back[0]-1, o.back[0]-1, o.back[1]-1, o.back[1]-1)
		c.values = append(c.values, o.unpooled)
	}
	return o
}

// chooseBack finds the block of input pixels (height, width) that makes the input gradient cheapest: more pixels share
// the loads of a weight, but at the borders their taps differ, and the missing ones cost time too.
func (o *convOp) chooseBack() {
	best := math.Inf(1)
	for _, block := range [][2]int{{1, 1}, {1, 2}, {1, 4}, {2, 2}} {
		if block != [2]int{1, 1} && o.filters*o.kernel[0]*o.kernel[1] > lanes.MaxTerms {
			break // sums in several parts must not meet a pixel twice
		}
		n, work := block[0]*block[1], 0
		for _, b := range o.backBlocks(block) {
			work += len(b.taps)
		}
		cost := math.Inf(1)
		for _, m := range tileSizes(lanes.GemmTiles(), n) {
			if m <= o.in.c {
				rows := (o.in.c + m - 1) / m
				cost = min(cost, float64(rows)*gemmCycles(m, n, work*o.filters))
			}
		}
		if cost < best {
			best, o.back = cost, block
		}
	}
}

// backBlock is some pixels of the input, at the distance of the stride from each other, and the taps (ky, kx) that at
// least one of them needs.
type backBlock struct {
	ys, xs []int
	taps   [][2]int
}

// backBlocks covers the input with blocks of pixels whose gradients use the same taps.
func (o *convOp) backBlocks(block [2]int) (blocks []backBlock) {
	rows, columns := o.backRuns(0, o.in.h, o.h, block[0]), o.backRuns(1, o.in.w, o.w, block[1])
	for _, r := range rows {
		for _, c := range columns {
			b := backBlock{ys: r.at, xs: c.at}
			for _, ky := range r.taps {
				for _, kx := range c.taps {
					b.taps = append(b.taps, [2]int{ky, kx})
				}
			}
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// backRun is n coordinates along one axis and the taps that one of them needs.
type backRun struct{ at, taps []int }

// backRuns covers the in coordinates of an axis. The last run of a phase steps back so that it stays inside, where
// there are enough coordinates, or repeats the last one.
func (o *convOp) backRuns(axis, in, out, n int) (runs []backRun) {
	stride, pad := o.stride[axis], o.pad[axis]
	for phase := range min(stride, in) {
		var all []int
		for x := phase; x < in; x += stride {
			all = append(all, x)
		}
		for at := 0; at < len(all); at += n {
			var r backRun
			for j := range n {
				i := at + j
				if len(all) >= n {
					i = min(at, len(all)-n) + j
				}
				r.at = append(r.at, all[min(i, len(all)-1)])
			}
			for k := range o.kernel[axis] {
				if (phase+pad-k)%stride != 0 {
					continue
				}
				for _, x := range r.at {
					if p := x + pad - k; p >= 0 && p/stride < out {
						r.taps = append(r.taps, k)
						break
					}
				}
			}
			runs = append(runs, r)
		}
	}
	return runs
}

func (o *convOp) plan(c *compiler) {
	in, out := o.in, o.out
	var taps []lanes.Term
	var streams []int32
	for ch := range in.c {
		for ky := range o.kernel[0] {
			for kx := range o.kernel[1] {
				x := int32(ch*in.plane() + (ky*in.wp()+kx)*lanes.Lanes)
				taps = append(taps, lanes.Term{W: int32(len(taps)), X: x})
				streams = append(streams, x)
			}
		}
	}
	corner := func(y, x int) int32 { // of the window of output pixel (y, x)
		return int32(in.pixel(y*o.stride[0]-o.pad[0], x*o.stride[1]-o.pad[1]))
	}
	var spots []spot
	var pairs []lanes.Pair
	var window *[4]int32
	n := 4
	if len(taps) > lanes.MaxTerms {
		n = 1 // sums in several parts must not meet a pixel twice
	}
	if o.pooled {
		for y := range out.h {
			for x := range out.w {
				s := spot{terms: taps}
				for q := range 4 {
					s.x[q] = corner(2*y+q/2, 2*x+q%2)
					s.d[q] = int32(out.pixel(y, x))
				}
				spots = append(spots, s)
				pairs = append(pairs, lanes.Pair{DY: s.d[0], X: s.x[0]})
			}
		}
		window = &[4]int32{0, corner(0, 1) - corner(0, 0), corner(1, 0) - corner(0, 0), corner(1, 1) - corner(0, 0)}
		if o.mean && o.bias >= 0 { // the bias is the weight of an input that is 1 everywhere
			same := make([]lanes.Pair, len(pairs))
			for i, p := range pairs {
				same[i].DY = p.DY
			}
			o.bgrad = newDot(o.filters, out.plane(), []int32{0}, &[4]int32{}, same)
		}
		o.masks = c.maskSize
		c.maskSize += tileGroups * out.size() / lanes.Lanes * 4
	} else {
		for at := 0; at < o.h*o.w; at += n {
			s := spot{terms: taps}
			for j := range n {
				p := min(at+j, o.h*o.w-1) // a short last block computes its last pixel again
				s.x[j], s.d[j] = corner(p/o.w, p%o.w), int32(out.pixel(p/o.w, p%o.w))
			}
			spots = append(spots, s)
		}
	}
	o.fwd = newProduct(o.filters, n, o.taps, out.plane(), spots, o.bias < 0 && !o.pooled)

	dy := out
	if !o.pooled || o.unpooled != nil {
		if o.unpooled != nil {
			dy, window = o.unpooled, nil
		}
		pairs = nil
		for y := range o.h {
			for x := range o.w {
				pairs = append(pairs, lanes.Pair{DY: int32(dy.pixel(y, x)), X: corner(y, x)})
			}
		}
	}
	// The first convolution's planes are large: all rows of its weight gradient take one band of pixels, which stays in
	// the first-level cache, before the next.
	band := len(pairs)
	if window != nil {
		rowBytes := 4 * lanes.Lanes * (2*o.stride[0]*in.c*in.wp() + 2*out.w)
		band = out.w * max(1, bandBytes/rowBytes)
	}
	for at := 0; at < len(pairs); at += band {
		o.wgrad = append(o.wgrad, newDot(o.filters, dy.plane(), streams, window, pairs[at:min(at+band, len(pairs))])...)
	}
	if in.grad >= 0 {
		o.igrad = newProduct(in.c, o.back[0]*o.back[1], o.kernel[0]*o.kernel[1], in.plane(), o.backSpots(dy), true)
	}
}

// backSpots turns the blocks of the input gradient into spots over dy, whose border holds the zeros for taps that
// only a neighbour needs.
func (o *convOp) backSpots(dy *value) (spots []spot) {
	made := map[string][]lanes.Term{}
	for _, b := range o.backBlocks(o.back) {
		// The last tap is the reference: relative to it, the others lie below and to the right in dy.
		var ref [2]int
		for _, k := range b.taps {
			ref[0], ref[1] = max(ref[0], k[0]), max(ref[1], k[1])
		}
		var terms []lanes.Term
		for f := range o.filters {
			for _, k := range b.taps {
				down, right := (ref[0]-k[0])/o.stride[0], (ref[1]-k[1])/o.stride[1]
				terms = append(terms, lanes.Term{
					W: int32(f*o.taps + k[0]*o.kernel[1] + k[1]),
					X: int32(f*dy.plane() + (down*dy.wp()+right)*lanes.Lanes),
				})
			}
		}
		// Blocks whose taps look alike share one list.
		key := termKey(terms)
		if shared, ok := made[key]; ok {
			terms = shared
		} else {
			made[key] = terms
		}
		s := spot{terms: terms}
		for i, y := range b.ys {
			for j, x := range b.xs {
				at := i*len(b.xs) + j
				s.d[at] = int32(o.in.pixel(y, x))
				if len(terms) > 0 { // the reference's pixel may lie in the border, but divides: it is some block pixel's tap
					py, px := y+o.pad[0]-ref[0], x+o.pad[1]-ref[1]
					s.x[at] = int32(dy.pixel(floorDiv(py, o.stride[0]), floorDiv(px, o.stride[1])))
				}
			}
		}
		spots = append(spots, s)
	}
	return spots
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func termKey(terms []lanes.Term) string {
	key := make([]byte, 0, 8*len(terms))
	for _, t := range terms {
		key = append(key, byte(t.W), byte(t.W>>8), byte(t.W>>16), byte(t.W>>24), byte(t.X), byte(t.X>>8), byte(t.X>>16), byte(t.X>>24))
	}
	return string(key)
}

func (o *convOp) ends() (in, out *value) { return o.in, o.out }

func (o *convOp) groupMasks(t *tape, g int) []uint16 {
	n := o.out.size() / lanes.Lanes * 4
	return t.masks[o.masks+g*n:][:n]
}

func (o *convOp) forward(t *tape, g0, g1 int) {
	for g := g0; g < g1; g++ {
		w, x, y := t.weights(o.weight, 0), t.out(o.in, g, 0), t.out(o.out, g, 0)
		var bias []float32
		if o.bias >= 0 {
			bias = t.weights(o.bias, 0)[:o.filters]
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
		if o.bias >= 0 {
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
			if c.pool != nil {
				c.pool.Add(dy[c.dy:], masks[c.dy/lanes.Lanes*4:], x, acc[c.acc:])
			} else {
				c.plan.Add(dy[c.dy:], x, acc[c.acc:])
			}
		}
		if o.in.grad < 0 {
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
	lanes.ReduceAdd(t.lane[o.lane:][:o.filters*o.taps*lanes.Lanes], t.gradients(o.gw, 0)[:o.filters*o.taps])
	if o.bias >= 0 {
		lanes.ReduceAdd(t.lane[o.laneB:][:o.filters*lanes.Lanes], t.gradients(o.gb, 0)[:o.filters])
	}
}
