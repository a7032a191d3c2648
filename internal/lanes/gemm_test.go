package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// gemmCase is a plan and its buffers, which are just as long as it needs.
type gemmCase struct {
	name                string
	m, n                int
	plan                *Gemm
	w, x, bias, dst, gt []float32
	offset              int // of the buffers from their allocations
	floor               float32
}

// newGemmCase builds a random plan for a tile: sums of up to maxTerms terms, shared or not, destinations that are
// disjoint. vectors: destinations are those of pooling.
func newGemmCase(t testing.TB, r *rand.Rand, m, n, blocks, maxTerms, odd int, vectors bool) *gemmCase {
	step := 1
	if vectors {
		step = Lanes
	}
	terms := make([]Term, 2*maxTerms)
	wStride := r.IntN(50)
	for i := range terms {
		terms[i] = Term{r.Int32N(100), r.Int32N(300)}
	}
	dStride := step * (blocks*n*2*Lanes/step + r.IntN(5))
	list := make([]Block, blocks)
	for b := range list {
		count := r.IntN(maxTerms + 1)
		if b < 4 {
			count = min(b, maxTerms)
		}
		list[b] = Block{First: r.Int32N(int32(len(terms) - count + 1)), Count: int32(count)}
		for j := range n {
			list[b].X[j] = r.Int32N(200)
			list[b].D[j] = int32((b*n+j)*2*Lanes + step*r.IntN(Lanes/step))
		}
	}
	plan, err := NewGemm(m, n, wStride, dStride, terms, list)
	if err != nil {
		t.Fatal(err)
	}
	return gemmBuffers(r, plan, odd)
}

func gemmBuffers(r *rand.Rand, plan *Gemm, odd int) *gemmCase {
	return &gemmCase{
		fmt.Sprintf("%dx%d", plan.m, plan.n), plan.m, plan.n, plan, numbers(r, plan.w, odd), numbers(r, plan.x, odd),
		numbers(r, plan.m, odd), numbers(r, plan.d, odd), numbers(r, plan.d, 3), r.IntN(4),
		[]float32{0, float32(math.Inf(-1)), 0.5}[r.IntN(3)],
	}
}

// run calls method of the plan with the kernel in use and returns what is in dst and masks afterwards.
func (c *gemmCase) run(t testing.TB, method string) ([]float32, []uint16) {
	mark := float32(-7.25)
	dst := guard(c.dst, c.offset, mark)
	masks := guard(make([]uint16, c.plan.pool/4), c.offset, 0xabcd)
	w, x, gate := guard(c.w, c.offset, mark), guard(c.x, c.offset, mark), guard(c.gt, c.offset, mark)
	bias := guard(c.bias, c.offset, mark)
	switch method {
	case "store":
		c.plan.Store(w.words, x.words, bias.words, dst.words, c.floor)
	case "store without bias":
		c.plan.Store(w.words, x.words, nil, dst.words, c.floor)
	case "add":
		c.plan.Add(w.words, x.words, dst.words)
	case "gated":
		c.plan.StoreGated(w.words, x.words, gate.words, dst.words)
	case "max pool":
		c.plan.StoreMaxPool(w.words, x.words, bias.words, dst.words, masks.words)
	case "max pool without bias":
		c.plan.StoreMaxPool(w.words, x.words, nil, dst.words, masks.words)
	case "mean pool":
		c.plan.StoreMeanPool(w.words, x.words, bias.words, dst.words, masks.words)
	case "mean pool without bias":
		c.plan.StoreMeanPool(w.words, x.words, nil, dst.words, masks.words)
	}
	for _, b := range []*guarded[float32]{w, x, bias, gate, dst} {
		b.check(t, c.name+" "+method)
	}
	masks.check(t, c.name+" masks")
	return dst.words, masks.words
}

func (c *gemmCase) methods() []string {
	var methods []string
	if c.plan.overlap < mixed {
		methods = append(methods, "store", "store without bias", "gated")
	}
	if c.plan.overlap == disjoint {
		methods = append(methods, "add")
	}
	if c.n == 4 && c.plan.vectors {
		methods = append(methods, "max pool", "max pool without bias", "mean pool", "mean pool without bias")
	}
	return methods
}

// sameAsReference compares the kernel in use with the Go reference.
func (c *gemmCase) sameAsReference(t testing.TB) {
	for _, method := range c.methods() {
		dst, masks := c.run(t, method)
		restore := setKernel(t, "go")
		wantDst, wantMasks := c.run(t, method)
		restore()
		name := c.name + " " + method
		sameBits(t, name, dst, wantDst)
		for i := range masks {
			if masks[i] != wantMasks[i] {
				t.Fatalf("%s: masks[%d] is %#x, want %#x", name, i, masks[i], wantMasks[i])
			}
		}
	}
}

func TestGemmKernelsAgree(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, tile := range GemmTiles() {
			for _, odd := range []int{0, 200, 8} {
				for _, vectors := range []bool{false, true} {
					for _, blocks := range []int{1, 2, 7} {
						newGemmCase(t, r, tile[0], tile[1], blocks, 12, odd, vectors).sameAsReference(t)
					}
				}
			}
		}
	})
}

// A plan of more than one call, and a sum that is long.
func TestGemmLongPlans(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		c := newGemmCase(t, r, 6, 4, 30, 600, 0, true)
		if len(c.plan.calls) < 2 {
			t.Fatal("one call")
		}
		c.sameAsReference(t)
		terms := make([]Term, MaxTerms)
		plan, err := NewGemm(1, 1, 0, 0, terms, []Block{{Count: MaxTerms}})
		if err != nil {
			t.Fatal(err)
		}
		gemmBuffers(r, plan, 0).sameAsReference(t)
	})
}

// No call has more work than the bound, unless a single block has more. Together the calls cover all blocks.
func TestGemmCalls(t *testing.T) {
	terms := make([]Term, 3000)
	var blocks []Block
	for i := range 100 {
		blocks = append(blocks, Block{Count: int32(i * 30), D: [4]int32{0, Lanes, 2 * Lanes, 3 * Lanes}})
	}
	g, err := NewGemm(6, 4, 1, 4*Lanes, terms, blocks)
	if err != nil {
		t.Fatal(err)
	}
	if g.calls[0] != 0 || g.calls[len(g.calls)-1] != 100 {
		t.Errorf("calls are cut at %v", g.calls)
	}
	for c := range len(g.calls) - 1 {
		work := 0
		for _, b := range blocks[g.calls[c]:g.calls[c+1]] {
			work += 24 * int(b.Count)
		}
		if g.calls[c] >= g.calls[c+1] || work > maxCallFMAs {
			t.Errorf("call %d: blocks %d to %d, %d multiply-adds", c, g.calls[c], g.calls[c+1], work)
		}
	}
}

// Against the plain formula in float64: each of k fused operations rounds by at most 2^−24 of a partial sum, which
// is at most the sum of the magnitudes.
func TestGemmFormula(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		const m, n, wStride, dStride = 5, 4, 40, 1008
		terms := make([]Term, 60)
		for i := range terms {
			terms[i] = Term{r.Int32N(100), r.Int32N(300)}
		}
		b := Block{First: 7, Count: 50, X: [4]int32{3, 70, 16, 128}, D: [4]int32{0, 40, 112, 64}}
		g, err := NewGemm(m, n, wStride, dStride, terms, []Block{b})
		if err != nil {
			t.Fatal(err)
		}
		w, x, bias := numbers(r, g.w, 0), numbers(r, g.x, 0), numbers(r, m, 0)
		start := numbers(r, g.d, 0)
		gate := numbers(r, g.d, 4)
		stored, added, gated := make([]float32, g.d), append([]float32{}, start...), make([]float32, g.d)
		g.Store(w, x, bias, stored, 0)
		g.Add(w, x, added)
		g.StoreGated(w, x, gate, gated)
		top, mean, masks := make([]float32, g.d), make([]float32, g.d), make([]uint16, g.d/4)
		g.StoreMaxPool(w, x, bias, top, masks)
		g.StoreMeanPool(w, x, bias, mean, masks)
		for i := range m {
			var tops, sums, sizes [Lanes]float64 // over the window
			for j := range n {
				for l := range Lanes {
					sum, size := 0.0, 0.0
					for _, term := range terms[b.First : b.First+b.Count] {
						p := float64(w[int(term.W)+i*wStride]) * float64(x[int(term.X+b.X[j])+l])
						sum += p
						size += math.Abs(p)
					}
					d := int(b.D[j]) + i*dStride + l
					var open float64
					if gate[d] > 0 {
						open = 1
					}
					for _, c := range []struct {
						name        string
						have        float32
						want, start float64
					}{
						{"Store", stored[d], max(0, sum+float64(bias[i])), float64(bias[i])},
						{"Add", added[d], sum + float64(start[d]), float64(start[d])},
						{"StoreGated", gated[d], sum * open, 0},
					} {
						if diff := math.Abs(float64(c.have) - c.want); !(diff <= 51*0x1p-24*(size+math.Abs(c.start))) {
							t.Fatalf("%s: row %d, vector %d, lane %d is %g, want %g", c.name, i, j, l, c.have, c.want)
						}
					}
					sum += float64(bias[i])
					size += math.Abs(float64(bias[i]))
					tops[l], sums[l], sizes[l] = max(tops[l], sum), sums[l]+max(0, sum), sizes[l]+size
					if open := masks[i*dStride/4+j]>>l&1 == 1; open != (sum > 0) && math.Abs(sum) > 51*0x1p-24*size {
						t.Fatalf("StoreMeanPool: row %d, vector %d, lane %d: mask %v of a sum of %g", i, j, l, open, sum)
					}
				}
			}
			for l := range Lanes {
				d := i*dStride + l
				if diff := math.Abs(float64(top[d]) - tops[l]); !(diff <= 51*0x1p-24*sizes[l]) {
					t.Fatalf("StoreMaxPool: row %d, lane %d is %g, want %g", i, l, top[d], tops[l])
				}
				if diff := math.Abs(float64(mean[d]) - sums[l]/4); !(diff <= 54*0x1p-24*sizes[l]/4) {
					t.Fatalf("StoreMeanPool: row %d, lane %d is %g, want %g", i, l, mean[d], sums[l]/4)
				}
			}
		}
	})
}

// The floor, the gate and pooling at the values that comparisons treat specially.
func TestGemmSpecialValues(t *testing.T) {
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))
	eachKernel(t, func(t *testing.T) {
		g, err := NewGemm(1, 4, 0, 0, []Term{{0, 0}}, []Block{{Count: 1, X: [4]int32{0, 16, 32, 48}, D: [4]int32{0, 16, 32, 48}}})
		if err != nil {
			t.Fatal(err)
		}
		one := []float32{1}
		for _, c := range []struct{ v, floored, gated float32 }{
			{nan, nan, 0}, {3, 3, 1}, {-2, 0, 0}, {0, 0, 0}, {1e-45, 1e-45, 1},
		} {
			x, dst := make([]float32, 64), make([]float32, 64)
			for i := range x {
				x[i] = c.v
			}
			g.Store(one, x, nil, dst, 0)
			sameBits(t, "floor", dst[:1], []float32{c.floored})
			ones := make([]float32, 64)
			for i := range ones {
				ones[i] = 1
			}
			g.StoreGated(one, ones, x, dst)
			sameBits(t, "gate", dst[:1], []float32{c.gated})
		}
		same, dst := []float32{zero}, make([]float32, 64)
		g.Store(same, make([]float32, 64), same, dst, 0)
		sameBits(t, "floor of −0", dst[:1], same)
		for _, c := range []struct {
			v     [4]float32
			y     float32
			masks [4]uint16
		}{
			{[4]float32{1, 2, 3, 4}, 4, [4]uint16{1, 1, 1, 0}},
			{[4]float32{4, 3, 2, 1}, 4, [4]uint16{0, 0, 0, 0}},
			{[4]float32{5, 5, 5, 5}, 5, [4]uint16{0, 0, 0, 0}}, // the first of equals
			{[4]float32{1, 5, 5, 2}, 5, [4]uint16{1, 0, 0, 0}},
			{[4]float32{-1, -2, -4, -3}, 0, [4]uint16{0, 1, 0, 0}},
			{[4]float32{nan, 2, 3, 4}, nan, [4]uint16{0, 1, 0, 0}},
			{[4]float32{1, nan, 0, 0}, nan, [4]uint16{0, 0, 0, 0}},
			{[4]float32{1, 2, nan, 9}, nan, [4]uint16{1, 0, 0, 0}},
			{[4]float32{1, 2, 3, nan}, nan, [4]uint16{1, 0, 1, 0}},
			{[4]float32{0, zero, zero, 0}, 0, [4]uint16{0, 0, 0, 0}},
		} {
			x, dst, masks := make([]float32, 64), make([]float32, 16), make([]uint16, 4)
			for j, v := range c.v {
				x[16*j] = v
			}
			g.StoreMaxPool(one, x, nil, dst, masks)
			for i := range masks {
				masks[i] &= 1
			}
			sameBits(t, fmt.Sprintf("pool of %v", c.v), dst[:1], []float32{c.y})
			if [4]uint16(masks) != c.masks && c.v[0] == c.v[0] {
				t.Errorf("pool of %v: masks %v, want %v", c.v, masks, c.masks)
			}
		}
		means := []struct {
			v     [4]float32
			y     float32
			masks [4]uint16
		}{
			{[4]float32{1, 2, 3, 4}, 2.5, [4]uint16{1, 1, 1, 1}},
			{[4]float32{4, -3, 2, -1}, 1.5, [4]uint16{1, 0, 1, 0}},
			{[4]float32{-1, 0, zero, 8}, 2, [4]uint16{0, 0, 0, 1}},
			{[4]float32{-1, -2, -3, -4}, 0, [4]uint16{0, 0, 0, 0}},
			{[4]float32{nan, 2, 3, 4}, nan, [4]uint16{0, 1, 1, 1}},
			{[4]float32{1, 2, 3, nan}, nan, [4]uint16{1, 1, 1, 0}},
			{[4]float32{zero, zero, zero, zero}, zero, [4]uint16{0, 0, 0, 0}},
			{[4]float32{inf, -inf, 1, 1}, inf, [4]uint16{1, 0, 1, 1}},
		}
		for i := range means { // another one in each of four lanes; the bias of −0 keeps the sign of a zero
			x, dst, masks := make([]float32, 64), make([]float32, 16), make([]uint16, 4)
			var want [4]uint16
			for k, lane := range []int{0, 7, 8, 15} {
				c := means[(i+k)%len(means)]
				for j, v := range c.v {
					x[16*j+lane] = v
					want[j] |= c.masks[j] << lane
				}
			}
			g.StoreMeanPool(one, x, []float32{zero}, dst, masks)
			for k, lane := range []int{0, 7, 8, 15} {
				c := means[(i+k)%len(means)]
				sameBits(t, fmt.Sprintf("mean of %v in lane %d", c.v, lane), dst[lane:lane+1], []float32{c.y})
			}
			if [4]uint16(masks) != want {
				t.Errorf("mean of %v and others: masks %x, want %x", means[i].v, masks, want)
			}
		}
	})
}

func TestNewGemmRefuses(t *testing.T) {
	ok := []Term{{1, 2}, {3, 4}}
	block := Block{Count: 2, D: [4]int32{0, 16, 32, 48}}
	with := func(f func(*Block)) []Block { b := block; f(&b); return []Block{block, b} }
	for _, c := range []struct {
		want             string
		m, n             int
		wStride, dStride int
		terms            []Term
		blocks           []Block
	}{
		{"no tile of 7×1", 7, 1, 1, 16, ok, []Block{block}},
		{"no tile of 8×4", 8, 4, 1, 64, ok, []Block{block}},
		{"no tile of 0×0", 0, 0, 1, 64, ok, []Block{block}},
		{"no tile of -1×4", -1, 4, 1, 64, ok, []Block{block}},
		{"no blocks", 4, 4, 1, 64, ok, nil},
		{"strides -1, 64", 4, 4, -1, 64, ok, []Block{block}},
		{"strides 1, -64", 4, 4, 1, -64, ok, []Block{block}},
		{"strides", 4, 4, 1, math.MaxInt, ok, []Block{block}},
		{"term 1", 4, 4, 1, 64, []Term{{0, 0}, {-1, 0}}, []Block{block}},
		{"term 1", 4, 4, 1, 64, []Term{{0, 0}, {0, -1}}, []Block{block}},
		{"term 0", 4, 4, 1, 64, []Term{{math.MaxInt32, 0}, {0, 0}}, []Block{block}},
		{"block 0: terms", 4, 4, 1, 64, make([]Term, MaxTerms+1), []Block{{Count: MaxTerms + 1, D: block.D}}},
		{"block 1: terms", 4, 4, 1, 64, ok, with(func(b *Block) { b.First = 1 })},
		{"block 1: terms", 4, 4, 1, 64, ok, with(func(b *Block) { b.First = -1 })},
		{"block 1: terms", 4, 4, 1, 64, ok, with(func(b *Block) { b.Count = -1 })},
		{"block 1: terms", 4, 4, 1, 64, ok, with(func(b *Block) { b.First, b.Count = math.MaxInt32, math.MaxInt32 })},
		{"vector 3", 4, 4, 1, 64, ok, with(func(b *Block) { b.X[3] = -1 })},
		{"vector 0", 4, 4, 1, 64, ok, with(func(b *Block) { b.D[0] = -16 })},
		{"vector 2", 4, 4, 1, 64, ok, with(func(b *Block) { b.D[2] = math.MaxInt32 })},
		{"buffers", 4, 4, 1, maxReach/4 - 1, ok, with(func(b *Block) { b.D[2] = maxReach })},
	} {
		if _, err := NewGemm(c.m, c.n, c.wStride, c.dStride, c.terms, c.blocks); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestGemmPanicsOnWrongBuffers(t *testing.T) {
	terms := []Term{{1, 2}}
	g, err := NewGemm(4, 4, 5, 64, terms, []Block{{Count: 1, D: [4]int32{0, 16, 32, 48}}})
	if err != nil {
		t.Fatal(err)
	}
	same, err := NewGemm(1, 2, 0, 0, terms, []Block{{Count: 1}})
	if err != nil {
		t.Fatal(err)
	}
	torn, err := NewGemm(1, 2, 0, 0, terms, []Block{{Count: 1, D: [4]int32{0, 8}}})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := NewGemm(2, 1, 0, 8, terms, []Block{{Count: 1}})
	if err != nil {
		t.Fatal(err)
	}
	w, x, bias, dst, masks := make([]float32, g.w), make([]float32, g.x), make([]float32, 4), make([]float32, g.d), make([]uint16, g.d/4)
	short := func(s []float32) []float32 { return s[:len(s)-1] }
	for name, call := range map[string]func(){
		"Store w":             func() { g.Store(short(w), x, bias, dst, 0) },
		"Store x":             func() { g.Store(w, short(x), bias, dst, 0) },
		"Store bias":          func() { g.Store(w, x, short(bias), dst, 0) },
		"Store empty bias":    func() { g.Store(w, x, bias[:0], dst, 0) },
		"Store dst":           func() { g.Store(w, x, bias, short(dst), 0) },
		"Add dst":             func() { g.Add(w, x, short(dst)) },
		"StoreGated gate":     func() { g.StoreGated(w, x, short(dst), dst) },
		"StoreMaxPool w":      func() { g.StoreMaxPool(short(w), x, bias, dst, masks) },
		"StoreMaxPool dst":    func() { g.StoreMaxPool(w, x, bias, dst[:3*64+15], masks) },
		"StoreMaxPool masks":  func() { g.StoreMaxPool(w, x, bias, dst, masks[:(3*64+16)/4-1]) },
		"StoreMaxPool bias":   func() { g.StoreMaxPool(w, x, short(bias), dst, masks) },
		"StoreMaxPool n":      func() { same.StoreMaxPool(w, x, nil, dst, masks) },
		"StoreMeanPool w":     func() { g.StoreMeanPool(short(w), x, bias, dst, masks) },
		"StoreMeanPool dst":   func() { g.StoreMeanPool(w, x, bias, dst[:3*64+15], masks) },
		"StoreMeanPool n":     func() { same.StoreMeanPool(w, x, nil, dst, masks) },
		"StoreMeanPool masks": func() { g.StoreMeanPool(w, x, bias, dst, masks[:(3*64+16)/4-1]) },
		"Add twice":           func() { same.Add(w, x, dst) },
		"Store overlapping":   func() { torn.Store(w, x, nil, dst, 0) },
		"Store rows":          func() { rows.Store(w, x, nil, dst, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
	g.StoreMaxPool(w, x, bias, dst[:3*64+16], masks[:(3*64+16)/4])
	same.Store(w, x, nil, dst, 0)
}
