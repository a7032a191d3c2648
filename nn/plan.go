package nn

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/lanes"
)

// split cuts count rows into the sizes that a family of micro-kernels offers, at the least total cost.
func split(count int, sizes []int, cost func(size int) float64) []int {
	best := make([]float64, count+1)
	take := make([]int, count+1)
	for r := 1; r <= count; r++ {
		best[r] = math.Inf(1)
		for _, s := range sizes {
			if s <= r && best[r-s]+cost(s) < best[r] {
				best[r], take[r] = best[r-s]+cost(s), s
			}
		}
	}
	var out []int
	for r := count; r > 0; r -= take[r] {
		out = append(out, take[r])
	}
	slices.SortFunc(out, func(a, b int) int { return b - a }) // equal sizes next to each other share a plan
	return out
}

// gemmCycles estimates the cycles of one block of an m×n tile: two multiply-adds a cycle, more cycles where few accumulators
// wait for each other, and a constant for each block; fitted to BenchmarkGemm of package lanes.
func gemmCycles(m, n, terms int) float64 {
	fma := float64(m * n)
	perTerm := float64(fma/2) + .5 + 6/fma // float64(…) where a compiler may fuse: plans are the same everywhere
	return float64(perTerm*float64(terms)) + 8 + float64(1.5*fma)
}

func tileSizes(tiles [][2]int, n int) (sizes []int) {
	for _, t := range tiles {
		if t[1] == n {
			sizes = append(sizes, t[0])
		}
	}
	return sizes
}

// product is a matrix product as a list of kernel calls, each for one range of rows. A product is long if its sums have
// more terms than a kernel takes: calls with add continue the sums that an earlier call stored, and a ReLU or a gate is
// applied when all calls are done, not by the kernels.
type product struct {
	calls []productCall
	long  bool
}

type productCall struct {
	plan         *lanes.Gemm
	row, w, d, m int
	add          bool
}

// spot is where a product computes n vectors side by side: their terms, inputs and destinations.
type spot struct {
	terms []lanes.Term
	x, d  [4]int32
}

// newProduct plans dst[d + r·dStride] = Σ_t w[t.W + r·wStride] · x[t.X + x] for r < rows at every spot (of n vectors
// each). With merge, short calls for several ranges of rows become one; a product with a bias must not be merged, since a
// kernel takes the bias of one range only.
func newProduct(rows, n, wStride, dStride int, spots []spot, merge bool) *product {
	p := &product{}
	for at := 0; ; at += lanes.MaxTerms {
		part, more := make([]spot, len(spots)), false
		for i, s := range spots {
			s.terms = s.terms[min(at, len(s.terms)):]
			if len(s.terms) > lanes.MaxTerms {
				s.terms, more = s.terms[:lanes.MaxTerms], true
			}
			part[i] = s
		}
		for _, c := range productCalls(rows, n, wStride, dStride, part, merge) {
			c.add = at > 0
			p.calls = append(p.calls, c)
		}
		if !more {
			return p
		}
		p.long = true
	}
}

// productCalls plans spots whose terms one kernel call takes.
func productCalls(rows, n, wStride, dStride int, spots []spot, merge bool) (calls []productCall) {
	sizes := tileSizes(lanes.GemmTiles(), n)
	terms, work := 0, 0
	var last []lanes.Term
	for i, s := range spots {
		work += len(s.terms)
		if i == 0 || !sameTerms(last, s.terms) {
			terms += len(s.terms)
		}
		last = s.terms
	}
	mean := max(1, work/max(1, len(spots)))
	tiles := split(rows, sizes, func(m int) float64 { return gemmCycles(m, n, mean) })
	merge = merge && work < 512 && terms*len(tiles) <= 8192

	for row := 0; len(tiles) > 0; {
		m, same := tiles[0], 1
		for same < len(tiles) && tiles[same] == m {
			same++
		}
		tiles = tiles[same:]
		copies := 1
		if merge {
			copies = same
		}
		plan := gemm(m, n, wStride, dStride, spots, copies)
		for range same / copies {
			calls = append(calls, productCall{plan: plan, row: row, w: row * wStride, d: row * dStride, m: m})
			row += m * copies
		}
	}
	return calls
}

// store runs the product with a bias (nil: none) and clips the sums from below at limit. If the product is long, finish
// must clip all the vectors that it wrote.
func (p *product) store(w, x, bias, dst []float32, limit float32, finish func()) {
	first := limit
	if p.long {
		first = negInf
	}
	var own []float32
	for _, c := range p.calls {
		if c.add {
			c.plan.Add(w[c.w:], x, dst[c.d:])
			continue
		}
		if bias != nil {
			own = bias[c.row : c.row+c.m]
		}
		c.plan.Store(w[c.w:], x, own, dst[c.d:], first)
	}
	if p.long && limit != negInf {
		finish()
	}
}

// storeGated runs the product and sets to 0 what stands where gate is not positive. If the product is long, finish must
// do so.
func (p *product) storeGated(w, x, gate, dst []float32, finish func()) {
	if p.long {
		p.store(w, x, nil, dst, negInf, nil)
		finish()
		return
	}
	for _, c := range p.calls {
		c.plan.StoreGated(w[c.w:], x, gate[c.d:], dst[c.d:])
	}
}

// gemm plans the spots for m rows, and again for the next m, copies times.
func gemm(m, n, wStride, dStride int, spots []spot, copies int) *lanes.Gemm {
	var terms []lanes.Term
	var blocks []lanes.Block
	for c := range copies {
		w, d := int32(c*m*wStride), int32(c*m*dStride)
		var last []lanes.Term
		first := int32(0)
		for i, s := range spots {
			if i == 0 || !sameTerms(last, s.terms) {
				first = int32(len(terms))
				for _, t := range s.terms {
					terms = append(terms, lanes.Term{W: t.W + w, X: t.X})
				}
				last = s.terms
			}
			b := lanes.Block{First: first, Count: int32(len(s.terms)), X: s.x, D: s.d}
			for j := range n {
				b.D[j] += d
			}
			blocks = append(blocks, b)
		}
	}
	plan, err := lanes.NewGemm(m, n, wStride, dStride, terms, blocks)
	if err != nil {
		panic("nn: " + err.Error()) // a plan that lanes refuses is a bug of this package
	}
	return plan
}

// sameTerms reports whether two spots share one list of terms, which is then the same slice.
func sameTerms(a, b []lanes.Term) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// dotCall is one of the kernel calls that add to a weight gradient of rows × streams lane vectors.
type dotCall struct {
	plan    *lanes.Dot
	pool    *lanes.PoolDot
	dy, acc int
}

// newDot plans acc[(r·len(streams) + s)·16 …] += Σ_p dy[p.DY + r·dyStride] · x[p.X + streams[s]] for r < rows. With a
// window, the kernels take the gradient of a fused 2×2 pool through its masks.
func newDot(rows, dyStride int, streams []int32, window *[4]int32, pairs []lanes.Pair) (calls []dotCall) {
	tiles := lanes.DotTiles()
	if window != nil {
		tiles = lanes.PoolDotTiles()
	}
	cost := func(m, n int) float64 {
		fma := float64(m * n)
		if window != nil {
			return max((fma+float64(m))/2, float64(2*m+n)/2, 4)
		}
		return max(fma/2, float64(m+n)/2, 4) + .3
	}
	// The best split of the streams for each number of rows at once, then the best split of the rows.
	ms, columns := map[int][]int{}, map[int]float64{}
	var sizes []int
	for _, t := range tiles {
		if _, ok := ms[t[0]]; ok {
			continue
		}
		var ns []int
		for _, u := range tiles {
			if u[0] == t[0] {
				ns = append(ns, u[1])
			}
		}
		parts := split(len(streams), ns, func(n int) float64 { return cost(t[0], n) })
		ms[t[0]] = parts
		for _, n := range parts {
			columns[t[0]] += cost(t[0], n)
		}
		sizes = append(sizes, t[0])
	}
	type key struct{ m, stream int }
	made := map[key]dotCall{}
	row := 0
	for _, m := range split(rows, sizes, func(m int) float64 { return columns[m] }) {
		s := 0
		for _, n := range ms[m] {
			call, ok := made[key{m, s}]
			if !ok {
				var err error
				if window != nil {
					call.pool, err = lanes.NewPoolDot(m, n, dyStride, len(streams), streams[s:s+n], *window, pairs)
				} else {
					call.plan, err = lanes.NewDot(m, n, dyStride, len(streams), streams[s:s+n], pairs)
				}
				if err != nil {
					panic("nn: " + err.Error()) // a plan that lanes refuses is a bug of this package
				}
				made[key{m, s}] = call
			}
			call.dy, call.acc = row*dyStride, (row*len(streams)+s)*lanes.Lanes
			calls = append(calls, call)
			s += n
		}
		row += m
	}
	return calls
}

// negInf is the floor of a kernel that clips nothing.
var negInf = float32(math.Inf(-1))

// floor is what a kernel clips its result to: 0 where a ReLU is fused.
func floor(v *value) float32 {
	if v.relu {
		return 0
	}
	return negInf
}
