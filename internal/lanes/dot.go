package lanes

import (
	"errors"
	"fmt"
)

// Pair is one product in a sum of vector × vector: the offsets of both vectors, in elements.
type Pair struct{ DY, X int32 }

// Dot is a plan for lane-wise sums of products of m streams of dy and n streams of x: the weight gradient of a
// convolution, before the sum over the lanes.
type Dot struct{ products }

// PoolDot is a plan like Dot's through a 2×2 pooling. dy belongs to the pooled outputs. In every lane the product takes x at
// the positions of the window that the output depends on: at the maximum, or at all positions where the ReLU before a mean
// is open.
type PoolDot struct {
	products
	window [4]int32 // bytes
}

// products is the common part of the two plans. Offsets and strides are in bytes.
type products struct {
	m, n                int
	dyStride, accStride int
	streams             []int32
	pairs               []int32 // two for each pair: DY, X
	step                int     // pairs in one call
	dy, x, acc          int     // reaches, in elements
}

// DotTiles lists the sizes (m, n) that NewDot takes.
func DotTiles() [][2]int { return tiles([]int{1, 2, 4}, []int{1, 2, 3, 4, 5, 6}) }

// PoolDotTiles lists the sizes (m, n) that NewPoolDot takes.
func PoolDotTiles() [][2]int { return tiles([]int{1, 2}, []int{1, 2, 3, 5, 8, 9}) }

func tiles(ms, ns []int) [][2]int {
	var all [][2]int
	for _, m := range ms {
		for _, n := range ns {
			all = append(all, [2]int{m, n})
		}
	}
	return all
}

// NewDot builds a plan for tiles of m streams of dy, dyStride apart, and n streams of x, at the given offsets.
// Offsets and dyStride are in elements, accStride (at least n) in vectors. None is negative.
func NewDot(m, n int, dyStride, accStride int, streams []int32, pairs []Pair) (*Dot, error) {
	if !hasTile(DotTiles(), m, n) {
		return nil, fmt.Errorf("dot: no tile of %d×%d; see DotTiles", m, n)
	}
	p, err := newProducts(m, n, dyStride, accStride, streams, [4]int32{}, pairs)
	if err != nil {
		return nil, fmt.Errorf("dot: %w", err)
	}
	p.step = maxCallFMAs / (m * n)
	return &Dot{p}, nil
}

// NewPoolDot builds a plan as NewDot does; window holds the offsets in x of the four positions of the pooling
// window. The DY of all pairs and dyStride must be multiples of Lanes.
func NewPoolDot(m, n int, dyStride, accStride int, streams []int32, window [4]int32, pairs []Pair) (*PoolDot, error) {
	if !hasTile(PoolDotTiles(), m, n) {
		return nil, fmt.Errorf("pooldot: no tile of %d×%d; see PoolDotTiles", m, n)
	}
	if dyStride%Lanes != 0 {
		return nil, fmt.Errorf("pooldot: dyStride %d is not a multiple of %d", dyStride, Lanes)
	}
	for i, p := range pairs {
		if p.DY%Lanes != 0 {
			return nil, fmt.Errorf("pooldot: pair %d: DY %d is not a multiple of %d", i, p.DY, Lanes)
		}
	}
	p, err := newProducts(m, n, dyStride, accStride, streams, window, pairs)
	if err != nil {
		return nil, fmt.Errorf("pooldot: %w", err)
	}
	p.step = maxCallFMAs / (4 * m * n)
	for q := range window {
		window[q] *= 4
	}
	return &PoolDot{p, window}, nil
}

func newProducts(m, n, dyStride, accStride int, streams []int32, window [4]int32, pairs []Pair) (products, error) {
	p := products{
		m: m, n: n, dyStride: 4 * dyStride, accStride: 4 * Lanes * accStride,
		acc: ((m-1)*accStride + n) * Lanes,
	}
	if len(pairs) == 0 {
		return p, errors.New("no pairs")
	}
	if len(streams) != n {
		return p, fmt.Errorf("%d streams for n = %d", len(streams), n)
	}
	if dyStride < 0 || dyStride > maxReach || accStride < n || accStride > maxReach/Lanes {
		return p, fmt.Errorf("strides %d, %d out of range", dyStride, accStride)
	}
	maxS, maxW := 0, 0
	for j, s := range streams {
		if s < 0 || s > maxReach {
			return p, fmt.Errorf("stream %d: offset out of range", j)
		}
		p.streams = append(p.streams, 4*s)
		maxS = max(maxS, int(s))
	}
	for q, w := range window {
		if w < 0 || w > maxReach {
			return p, fmt.Errorf("window position %d: offset out of range", q)
		}
		maxW = max(maxW, int(w))
	}
	p.pairs = make([]int32, 0, 2*len(pairs))
	for i, t := range pairs {
		if min(t.DY, t.X) < 0 || max(t.DY, t.X) > maxReach {
			return p, fmt.Errorf("pair %d: offset out of range", i)
		}
		p.pairs = append(p.pairs, 4*t.DY, 4*t.X)
		p.dy = max(p.dy, int(t.DY)+(m-1)*dyStride+Lanes)
		p.x = max(p.x, int(t.X)+maxS+maxW+Lanes)
	}
	if max(p.dy, p.x, p.acc) > maxReach {
		return p, fmt.Errorf("buffers of more than %d elements", maxReach)
	}
	return p, nil
}

func (p *products) check(dy, x, acc []float32) {
	checkLen("dy", len(dy), p.dy)
	checkLen("x", len(x), p.x)
	checkLen("acc", len(acc), p.acc)
}

// calls cuts the pairs into calls.
func (p *products) calls(do func(pairs []int32)) {
	for pairs := p.pairs; len(pairs) > 0; {
		k := min(2*p.step, len(pairs))
		do(pairs[:k])
		pairs = pairs[k:]
	}
}

// Add adds to the m×n vectors of acc, for i < m and j < n,
//
//	for l := range Lanes {
//		sum := float32(0)
//		for _, p := range pairs {
//			sum = fma(dy[p.DY+i*dyStride+l], x[p.X+streams[j]+l], sum)
//		}
//		acc[(i*accStride+j)*Lanes+l] += sum
//	}
//
// (once for each call of assembly, if there are too many pairs for one). The sum starts at 0, so that acc, which is seldom
// in the cache, can be loaded while the sum is computed.
func (d *Dot) Add(dy, x, acc []float32) {
	d.check(dy, x, acc)
	d.calls(func(pairs []int32) {
		if !d.assembly(pairs, dy, x, acc) {
			d.reference(pairs, dy, x, acc)
		}
	})
}

func (d *Dot) reference(pairs []int32, dy, x, acc []float32) {
	for i := range d.m {
		for j := range d.n {
			var a vector
			for p := 0; p < len(pairs); p += 2 {
				u, v := at(dy, (int(pairs[p])+i*d.dyStride)/4), at(x, int(pairs[p+1]+d.streams[j])/4)
				for l := range Lanes {
					a[l] = fma32(u[l], v[l], a[l])
				}
			}
			addTo(acc, (i*d.accStride)/4+j*Lanes, &a)
		}
	}
}

// addTo adds v to the vector of acc at an offset.
func addTo(acc []float32, offset int, v *vector) {
	a := at(acc, offset)
	for l := range Lanes {
		a[l] = v[l] + a[l]
	}
}

// Add adds to the m×n vectors of acc, for i < m and j < n,
//
//	for l := range Lanes {
//		sum := float32(0)
//		for _, p := range pairs {
//			for q := range 4 {
//				if masks[(p.DY+i*dyStride)/Lanes*4+q]>>l&1 == 1 {
//					sum = fma(dy[p.DY+i*dyStride+l], x[p.X+window[q]+streams[j]+l], sum)
//				}
//			}
//		}
//		acc[(i*accStride+j)*Lanes+l] += sum
//	}
//
// masks are the result of [PoolMasks] for the masks of [Gemm.StoreMaxPool], or the masks of [Gemm.StoreMeanPool].
func (d *PoolDot) Add(dy []float32, masks []uint16, x, acc []float32) {
	d.check(dy, x, acc)
	checkLen("masks", len(masks), d.dy/4)
	d.calls(func(pairs []int32) {
		if !d.assembly(pairs, dy, masks, x, acc) {
			d.reference(pairs, dy, masks, x, acc)
		}
	})
}

func (d *PoolDot) reference(pairs []int32, dy []float32, masks []uint16, x, acc []float32) {
	for i := range d.m {
		for j := range d.n {
			var a vector
			for p := 0; p < len(pairs); p += 2 {
				o := (int(pairs[p]) + i*d.dyStride) / 4
				u, mask := at(dy, o), (*[4]uint16)(masks[o/4:])
				for q, k := range mask {
					v := at(x, int(pairs[p+1]+d.window[q]+d.streams[j])/4)
					for l := range Lanes {
						if k>>l&1 == 1 {
							a[l] = fma32(u[l], v[l], a[l])
						}
					}
				}
			}
			addTo(acc, (i*d.accStride)/4+j*Lanes, &a)
		}
	}
}

// PoolMasks turns the masks of [Gemm.StoreMaxPool], in place, into masks of the position of the maximum. It replaces every
// four words k01, k23, kb, 0 by
//
//	^kb & ^k01, ^kb & k01, kb & ^k23, kb & k23
//
// The length of masks must be a multiple of 4.
func PoolMasks(masks []uint16) {
	if len(masks)%4 != 0 {
		panic("lanes: PoolMasks: length is not a multiple of 4")
	}
	for masks = masks[4*poolMasksAssembly(masks):]; len(masks) > 0; masks = masks[4:] {
		k01, k23, kb := masks[0], masks[1], masks[2]
		*(*[4]uint16)(masks) = [4]uint16{^kb &^ k01, k01 &^ kb, kb &^ k23, kb & k23}
	}
}
