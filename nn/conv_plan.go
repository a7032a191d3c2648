package nn

import (
	"math"

	"github.com/starling-smc/starling/internal/lanes"
)

// The tables of offsets of a convolution: the forward pass, the weight gradient, and the blocks of pixels of the input
// gradient.

// bandBytes is the number of bytes of the input and of the gradient that a band of pixels touches.
const bandBytes = 24 << 10

// chooseBack finds the block of input pixels (height, width) that makes the input gradient cheapest. The pixels of a block
// share the loads of a weight, but at the borders their taps differ, and a tap that only some of them need is computed
// for all.
func (o *convOp) chooseBack() {
	best := math.Inf(1)
	for _, block := range [][2]int{{1, 1}, {1, 2}, {1, 4}, {2, 2}} {
		if block != [2]int{1, 1} && o.filters*o.kernel[0]*o.kernel[1] > lanes.MaxTerms {
			break // a sum in several parts must not add to a pixel twice
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

// backBlock is a block of input pixels, one stride apart, and the taps (ky, kx) that at least one of them needs.
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

// backRuns covers the in coordinates of an axis. The last run of a phase overlaps the run before it, so that it stays
// inside; where a phase has fewer than n coordinates, the run repeats the last one.
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
		n = 1 // a sum in several parts must not add to a pixel twice
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
		if o.mean && o.bias != nil { // the bias is the weight of an input that is 1 everywhere
			same := make([]lanes.Pair, len(pairs))
			for i, p := range pairs {
				same[i].DY = p.DY
			}
			o.bgrad = newDot(o.filters, out.plane(), []int32{0}, &[4]int32{}, same)
		}
		o.masks = c.maskSize
		c.maskSize += out.groups() * out.size() / lanes.Lanes * 4
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
	o.fwd = newProduct(o.filters, n, o.taps, out.plane(), spots, o.bias == nil && !o.pooled)

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
	// The first convolution's planes are large: all rows of its weight gradient read one band of pixels, which stays in the
	// first-level cache, before they read the next.
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

// backSpots turns the blocks of the input gradient into spots over dy. The border of dy holds zeros for the taps that
// only another pixel of the block needs.
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
				if len(terms) > 0 { // the pixel of the reference may lie in the border
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
