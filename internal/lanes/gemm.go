package lanes

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Lanes is the number of examples in a vector.
const Lanes = 16

const (
	// maxReach bounds all offsets, so that in bytes they fit an int32.
	maxReach = math.MaxInt32 / 4
	// maxCallFMAs bounds the vector multiply-adds of one call of assembly (some 0.1 ms), which Go cannot preempt.
	maxCallFMAs = 200_000
	// MaxTerms bounds the terms of one block of a Gemm, which cannot be divided between calls: in a tile of 6×4 they take
	// 0.12 ms with AVX-512 and 0.42 ms with AVX2. Longer sums are cut into blocks of several plans; all but the first use Add.
	MaxTerms = 1 << 14
)

// Term is one product in a sum: the offsets of its weight and of its input, in elements.
type Term struct{ W, X int32 }

// Block is the sum of Terms[First : First+Count] for n vectors, with input offsets X[:n] and destinations D[:n].
type Block struct {
	First, Count int32
	X, D         [4]int32
}

// Gemm is a plan for sums of weight × vector: for every block b, row i < m and vector j < n
//
//	v := init
//	for _, t := range terms[b.First : b.First+b.Count] {
//		for l := range Lanes {
//			v[l] = fma(w[t.W+i*wStride], x[t.X+b.X[j]+l], v[l])
//		}
//	}
//
// The method that runs the plan decides what init is, and what is done with v, the vector for offset b.D[j]+i*dStride.
// Blocks run in their order.
type Gemm struct {
	m, n             int
	wStride, dStride int     // bytes
	terms            []int32 // two for each term: W, X; bytes
	blocks           []int32 // 2+2n for each block: first term (in bytes), count, X[:n], D[:n]; bytes
	calls            []int32 // calls[c] : calls[c+1] are the blocks of one call
	w, x, d, pool    int     // reaches: elements that the buffers must have; pool: of dst where pooled
	overlap          overlap
	vectors          bool // D[0] and dStride are multiples of Lanes, as pooling needs
}

// overlap says how the destinations within one block overlap.
type overlap int

const (
	disjoint overlap = iota
	repeated         // some vectors are computed twice, from the same inputs
	mixed            // different vectors would overwrite each other
)

// GemmTiles lists the sizes (m, n) that NewGemm takes.
func GemmTiles() [][2]int {
	var tiles [][2]int
	for _, m := range []int{1, 2, 3, 4, 5, 6, 8} {
		for _, n := range []int{1, 2, 4} {
			if m*n <= 24 {
				tiles = append(tiles, [2]int{m, n})
			}
		}
	}
	return tiles
}

// NewGemm builds a plan for tiles of m rows and n vectors. All offsets and strides are in elements and not negative.
func NewGemm(m, n int, wStride, dStride int, terms []Term, blocks []Block) (*Gemm, error) {
	if !hasTile(GemmTiles(), m, n) {
		return nil, fmt.Errorf("gemm: no tile of %d×%d; see GemmTiles", m, n)
	}
	if len(blocks) == 0 {
		return nil, errors.New("gemm: no blocks")
	}
	if len(terms) > maxReach/2 {
		return nil, fmt.Errorf("gemm: more than %d terms", maxReach/2)
	}
	if min(wStride, dStride) < 0 || max(wStride, dStride) > maxReach {
		return nil, fmt.Errorf("gemm: strides %d, %d out of range", wStride, dStride)
	}
	g := &Gemm{
		m: m, n: n, wStride: 4 * wStride, dStride: 4 * dStride,
		terms:   make([]int32, 0, 2*len(terms)),
		blocks:  make([]int32, 0, (2+2*n)*len(blocks)),
		vectors: dStride%Lanes == 0,
	}
	for i, t := range terms {
		if min(t.W, t.X) < 0 || max(t.W, t.X) > maxReach {
			return nil, fmt.Errorf("gemm: term %d: offset out of range", i)
		}
		g.terms = append(g.terms, 4*t.W, 4*t.X)
		g.w = max(g.w, int(t.W)+(m-1)*wStride+1)
	}
	var first, count int32 // the terms that maxX is of
	maxX, work := 0, 0
	for i, b := range blocks {
		if b.First < 0 || b.Count < 0 || b.Count > MaxTerms || int(b.First)+int(b.Count) > len(terms) {
			return nil, fmt.Errorf("gemm: block %d: terms %d+%d out of range (there are %d, at most %d a block)",
				i, b.First, b.Count, len(terms), MaxTerms)
		}
		if b.First != first || b.Count != count {
			first, count, maxX = b.First, b.Count, 0
			for _, t := range terms[first : first+count] {
				maxX = max(maxX, int(t.X))
			}
		}
		g.blocks = append(g.blocks, 8*b.First, b.Count)
		for j := range n {
			if min(b.X[j], b.D[j]) < 0 || max(b.X[j], b.D[j]) > maxReach {
				return nil, fmt.Errorf("gemm: block %d: offset of vector %d out of range", i, j)
			}
			g.blocks = append(g.blocks, 4*b.X[j])
			g.x = max(g.x, maxX+int(b.X[j])+Lanes)
			g.d = max(g.d, int(b.D[j])+(m-1)*dStride+Lanes)
		}
		for j := range n {
			g.blocks = append(g.blocks, 4*b.D[j])
		}
		g.pool = max(g.pool, int(b.D[0])+(m-1)*dStride+Lanes)
		g.vectors = g.vectors && b.D[0]%Lanes == 0
		g.overlap = max(g.overlap, b.overlap(m, n, dStride))
		if cost := m * n * (int(b.Count) + 4); i == 0 || work+cost > maxCallFMAs {
			g.calls = append(g.calls, int32(i))
			work = cost
		} else {
			work += cost
		}
	}
	g.calls = append(g.calls, int32(len(blocks)))
	if max(g.w, g.x, g.d) > maxReach {
		return nil, fmt.Errorf("gemm: buffers of more than %d elements", maxReach)
	}
	return g, nil
}

func hasTile(tiles [][2]int, m, n int) bool {
	for _, t := range tiles {
		if t == [2]int{m, n} {
			return true
		}
	}
	return false
}

func (b *Block) overlap(m, n, dStride int) overlap {
	if m > 1 && dStride < Lanes {
		return mixed
	}
	worst := disjoint
	for j := range n {
		for k := range j {
			if b.D[j] == b.D[k] && b.X[j] == b.X[k] {
				worst = max(worst, repeated)
				continue
			}
			for i := 1 - m; i < m; i++ {
				if d := int(b.D[j]) - int(b.D[k]) + i*dStride; d > -Lanes && d < Lanes {
					return mixed
				}
			}
		}
	}
	return worst
}

// gemmMode says what a plan's sums start from and how they are stored. The assembly knows the numbers.
type gemmMode int

const (
	gemmStore gemmMode = iota
	gemmAdd
	gemmGated
	gemmMaxPool
	gemmMeanPool
)

// Store starts from bias[i] in every lane (nil: 0) and stores
//
//	if floor > v[l] { v[l] = floor }
//
// so floor = 0 is a ReLU that keeps NaN and −0, and floor = −Inf does nothing. Within a block, vectors with equal
// destinations must have equal inputs; otherwise Store panics.
func (g *Gemm) Store(w, x, bias, dst []float32, floor float32) {
	g.check(repeated, w, x, bias, dst)
	g.run(gemmStore, w, x, bias, nil, dst, nil, floor)
}

// Add starts from the vector at the destination and stores the sum there. The destinations within a block must not
// overlap; otherwise Add panics.
func (g *Gemm) Add(w, x, dst []float32) {
	g.check(disjoint, w, x, nil, dst)
	g.run(gemmAdd, w, x, nil, nil, dst, nil, float32(math.Inf(-1)))
}

// StoreGated starts from 0 and stores v[l] where gate[l] > 0, and +0 in the other lanes. gate has the offsets of dst. This
// is the derivative of a ReLU, given its output. Destinations are as for Store.
func (g *Gemm) StoreGated(w, x, gate, dst []float32) {
	g.check(repeated, w, x, nil, dst)
	checkLen("gate", len(gate), g.d)
	g.run(gemmGated, w, x, nil, gate, dst, nil, 0)
}

// StoreMaxPool is for n = 4. The four vectors of a block are the window of a 2×2 max pooling, and D[0] is its only
// destination. It starts from bias[i] (nil: 0), and computes in every lane
//
//	a, k01 := v[0], v[1] > v[0]; if k01 { a = v[1] }
//	b, k23 := v[2], v[3] > v[2]; if k23 { b = v[3] }
//	y, kb := a, b > a;           if kb { y = b }
//	if any v is NaN { y = NaN }
//	if 0 > y { y = 0 }
//
// y is stored in dst. For the vector at offset q of dst, the lane bits of k01, k23, kb and 0 are stored in the four words
// masks[q/4 : q/4+4]. The plan's D[0] and dStride must be multiples of Lanes.
func (g *Gemm) StoreMaxPool(w, x, bias, dst []float32, masks []uint16) {
	g.storePool(gemmMaxPool, w, x, bias, dst, masks)
}

// StoreMeanPool is for n = 4. The four vectors of a block are the window of a 2×2 mean pooling after a ReLU, and D[0] is its
// only destination. It starts from bias[i] (nil: 0), and computes in every lane
//
//	for j := range 4 {
//		k[j] = v[j] > 0
//		if 0 > v[j] { v[j] = 0 }
//	}
//	y := ((v[0] + v[1]) + (v[2] + v[3])) / 4
//
// so y is NaN if any v is, and the k of a NaN is false. y is stored in dst. For the vector at offset q of dst, the lane bits
// of k[0] to k[3] are stored in the four words masks[q/4 : q/4+4]. The plan's D[0] and dStride must be multiples of Lanes.
func (g *Gemm) StoreMeanPool(w, x, bias, dst []float32, masks []uint16) {
	g.storePool(gemmMeanPool, w, x, bias, dst, masks)
}

func (g *Gemm) storePool(mode gemmMode, w, x, bias, dst []float32, masks []uint16) {
	if g.n != 4 || !g.vectors {
		panic("lanes: pooling needs a plan with n = 4 and D[0] and dStride multiples of Lanes")
	}
	checkLen("w", len(w), g.w)
	checkLen("x", len(x), g.x)
	checkLen("dst", len(dst), g.pool)
	checkLen("masks", len(masks), g.pool/4)
	if bias != nil {
		checkLen("bias", len(bias), g.m)
	}
	g.run(mode, w, x, bias, nil, dst, masks, 0)
}

func (g *Gemm) check(worst overlap, w, x, bias, dst []float32) {
	if g.overlap > worst {
		panic("lanes: destinations within a block overlap")
	}
	checkLen("w", len(w), g.w)
	checkLen("x", len(x), g.x)
	checkLen("dst", len(dst), g.d)
	if bias != nil {
		checkLen("bias", len(bias), g.m)
	}
}

func checkLen(name string, have, need int) {
	if have < need {
		panic(fmt.Sprintf("lanes: %s has %d elements, the plan needs %d", name, have, need))
	}
}

// gemmKernel runs count blocks of a plan. Offsets and strides are in bytes; init is the bias or nil.
type gemmKernel func(blocks *int32, count, n int, terms *int32, w, x, init, gate, dst *float32, masks *uint16,
	wStride, dStride int, floor float32, mode int)

func (g *Gemm) run(mode gemmMode, w, x, bias, gate, dst []float32, masks []uint16, floor float32) {
	kernel := gemmKernelFor(current, mode, g.m, g.n)
	for c := range len(g.calls) - 1 {
		lo, hi := int(g.calls[c]), int(g.calls[c+1])
		if kernel == nil {
			g.reference(lo, hi, mode, w, x, bias, gate, dst, masks, floor)
			continue
		}
		kernel(&g.blocks[lo*(2+2*g.n)], hi-lo, g.n, unsafe.SliceData(g.terms), unsafe.SliceData(w),
			unsafe.SliceData(x), unsafe.SliceData(bias), unsafe.SliceData(gate), unsafe.SliceData(dst),
			unsafe.SliceData(masks), g.wStride, g.dStride, floor, int(mode))
	}
}

type vector = [Lanes]float32

func at(buf []float32, i int) *vector { return (*vector)(buf[i:]) }

func (g *Gemm) reference(lo, hi int, mode gemmMode, w, x, bias, gate, dst []float32, masks []uint16, floor float32) {
	for r := lo; r < hi; r++ {
		block := g.blocks[r*(2+2*g.n):][:2+2*g.n]
		terms := g.terms[block[0]/4:][:2*block[1]]
		for i := range g.m {
			var v [4]vector
			for j := range g.n {
				d := (int(block[2+g.n+j]) + i*g.dStride) / 4
				switch {
				case mode == gemmAdd:
					v[j] = *at(dst, d)
				case bias != nil:
					for l := range Lanes {
						v[j][l] = bias[i]
					}
				}
				for t := 0; t < len(terms); t += 2 {
					wt, xt := w[(int(terms[t])+i*g.wStride)/4], at(x, int(terms[t+1]+block[2+j])/4)
					for l := range Lanes {
						v[j][l] = fma32(wt, xt[l], v[j][l])
					}
				}
				switch mode {
				case gemmStore:
					for l := range Lanes {
						if floor > v[j][l] {
							v[j][l] = floor
						}
					}
				case gemmGated:
					for l, z := range at(gate, d) {
						if !(z > 0) {
							v[j][l] = 0
						}
					}
				}
				if mode < gemmMaxPool {
					*at(dst, d) = v[j]
				}
			}
			d := (int(block[2+g.n]) + i*g.dStride) / 4
			switch mode {
			case gemmMaxPool:
				maxOfWindow(&v, at(dst, d), (*[4]uint16)(masks[d/4:]))
			case gemmMeanPool:
				meanOfWindow(&v, at(dst, d), (*[4]uint16)(masks[d/4:]))
			}
		}
	}
}

// maxOfWindow is the epilogue of StoreMaxPool for one window.
func maxOfWindow(v *[4]vector, dst *vector, masks *[4]uint16) {
	*masks = [4]uint16{}
	for l := range Lanes {
		bit := uint16(1) << l
		a, b := v[0][l], v[2][l]
		if v[1][l] > a {
			a = v[1][l]
			masks[0] |= bit
		}
		if v[3][l] > b {
			b = v[3][l]
			masks[1] |= bit
		}
		y := a
		if b > a {
			y = b
			masks[2] |= bit
		}
		for j := range v {
			if v[j][l] != v[j][l] {
				y = v[j][l]
			}
		}
		if 0 > y {
			y = 0
		}
		dst[l] = y
	}
}

// meanOfWindow is the epilogue of StoreMeanPool for one window.
func meanOfWindow(v *[4]vector, dst *vector, masks *[4]uint16) {
	*masks = [4]uint16{}
	for l := range Lanes {
		for q := range v {
			if v[q][l] > 0 {
				masks[q] |= 1 << l
			}
			v[q][l] = max32(0, v[q][l])
		}
		dst[l] = ((v[0][l] + v[1][l]) + (v[2][l] + v[3][l])) * 0.25
	}
}
