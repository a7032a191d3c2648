package lanes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The fuzz targets build plans from arbitrary descriptors. Accepted plans run with every kernel, on buffers that are no
// longer than the plan demands and lie between pages that fault. Offsets are kept small to save memory.

// descriptor reads small numbers from the bytes of a fuzzer.
type descriptor []byte

// next is the next number, below limit for most bytes; 255 is −1 and 254 is limit: both must be refused or harmless.
func (d *descriptor) next(limit int) int {
	if len(*d) == 0 {
		return 0
	}
	v := int((*d)[0])
	*d = (*d)[1:]
	switch {
	case v == 255:
		return -1
	case v == 254:
		return limit
	}
	return v % max(1, limit)
}

// tile is one of the list, or rarely anything.
func (d *descriptor) tile(all [][2]int) (m, n int) {
	if i := d.next(len(all) + 2); i >= 0 && i < len(all) {
		return all[i][0], all[i][1]
	}
	return d.next(10), d.next(12)
}

// seeds are descriptors of random bytes, 40 of each length.
func seeds(lengths ...int) (all [][]byte) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 40 {
		for _, n := range lengths {
			seed := make([]byte, n)
			for i := range seed {
				seed[i] = byte(r.IntN(254))
			}
			all = append(all, seed)
		}
	}
	return all
}

// eachKernelOf runs a fuzzed case with every kernel.
func eachKernelOf(t *testing.T, f func()) {
	for _, name := range Kernels() {
		restore := setKernel(t, name)
		f()
		restore()
	}
}

var gemmSeeds = seeds(20, 50, 100, 300)

// gemm reads a plan, in half of them one that can pool. In most, the destinations of a block are apart.
func (d descriptor) gemm() (*Gemm, error) {
	pooled, apart, step, tiles := d.next(2) == 0, d.next(8) > 0, Lanes/2, GemmTiles()
	if pooled {
		step, tiles = Lanes, slices.DeleteFunc(tiles, func(t [2]int) bool { return t[1] != 4 })
	}
	m, n := d.tile(tiles)
	wStride, dStride := d.next(200), step*d.next(40)
	if apart {
		dStride += 4 * 2 * Lanes
	}
	terms := make([]Term, max(0, d.next(20)))
	for i := range terms {
		terms[i] = Term{int32(d.next(200)), int32(d.next(200))}
	}
	var blocks []Block
	for len(d) > 0 && len(blocks) < 20 {
		b := Block{First: int32(d.next(len(terms) + 1))}
		b.Count = int32(d.next(len(terms) - int(b.First) + 1))
		first := step * d.next(100)
		for j := range 4 {
			b.X[j] = int32(d.next(200))
			if apart {
				b.D[j] = int32(first + 2*Lanes*j + step*d.next(Lanes/step))
			} else {
				b.D[j] = int32(step * d.next(100))
			}
		}
		blocks = append(blocks, b)
	}
	return NewGemm(m, n, wStride, dStride, terms, blocks)
}

func FuzzGemm(f *testing.F) {
	for _, s := range gemmSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, err := descriptor(data).gemm()
		if err != nil {
			return
		}
		c := gemmBuffers(rand.New(rand.NewPCG(11, uint64(len(data)))), plan, 20)
		eachKernelOf(t, func() { c.sameAsReference(t) })
	})
}

var dotSeeds = seeds(20, 40, 60, 200)

// dot reads a plan, in half of them one through a pooling.
func (d descriptor) dot() (*dotCase, error) {
	pooled, step, tiles := d.next(2) == 0, 1, DotTiles()
	if pooled {
		step, tiles = Lanes, PoolDotTiles()
		if d.next(8) == 0 {
			step = Lanes / 2
		}
	}
	m, n := d.tile(tiles)
	dyStride, accStride := step*d.next(100), n+d.next(4)
	streams := make([]int32, max(0, n))
	for j := range streams {
		streams[j] = int32(d.next(200))
	}
	var window [4]int32
	for q := range window {
		window[q] = int32(d.next(200))
	}
	var pairs []Pair
	for len(d) > 0 && len(pairs) < 100 {
		pairs = append(pairs, Pair{int32(step * d.next(100)), int32(d.next(200))})
	}
	var err error
	c := &dotCase{name: "fuzz"}
	if pooled {
		c.pool, err = NewPoolDot(m, n, dyStride, accStride, streams, window, pairs)
	} else {
		c.dot, err = NewDot(m, n, dyStride, accStride, streams, pairs)
	}
	return c, err
}

func FuzzDot(f *testing.F) {
	for _, s := range dotSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := descriptor(data).dot()
		if err != nil {
			return
		}
		c.fill(rand.New(rand.NewPCG(20, uint64(len(data)))), 20)
		eachKernelOf(t, func() { c.sameAsReference(t) })
	})
}

var loadSeeds = seeds(5, 20, 50, 100)

// load reads a plan and the starts of 16 examples. In most, the vectors are apart.
func (d descriptor) load() (*Load, *[Lanes]int, error) {
	apart := d.next(8) > 0
	var row [Lanes]int
	for i := range row {
		row[i] = max(0, d.next(200))
	}
	var at []int32
	for len(d) > 0 {
		a := d.next(180)
		if apart {
			a += 200 * len(at)
		}
		at = append(at, int32(a))
	}
	if k := len(at); k > 2 { // the reach is not that of the last feature
		at[0], at[k-1] = at[k-1], at[0]
	}
	plan, err := NewLoad(at)
	return plan, &row, err
}

func FuzzLoad(f *testing.F) {
	for _, s := range loadSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, row, err := descriptor(data).load()
		if err != nil {
			return
		}
		seed, n := uint64(len(data)), slices.Max(row[:])+len(plan.at)
		sameInAll(t, seed, func(a *arena) {
			src := make([]uint8, n)
			for i := range src {
				src[i] = uint8(a.r.Uint32())
			}
			plan.U8(take(a, src, 77), row, a.channels(len(plan.at)), a.floats(plan.dst))
			plan.F32(a.floats(n), row, a.channels(len(plan.at)), a.floats(plan.dst))
			dst := a.floats(plan.dst)
			plan.F16(a.halves(n), row, a.channels(len(plan.at)), dst)
			plan.Standardise(a.standard(len(plan.at)), dst)
		})
	})
}

var windowSeeds = seeds(5, 20, 50, 100)

// windows reads a plan. In most, the vectors are equal or apart.
func (d descriptor) windows() (*Windows, error) {
	apart, k, first := d.next(8) > 0, d.next(10), d.next(16)
	var taps []int32
	for len(d) > 0 {
		t := d.next(20) - 1
		if apart && t >= 0 {
			t = max(0, first) + t*Lanes
		}
		taps = append(taps, int32(t))
	}
	if k > 0 {
		taps = taps[:len(taps)/k*k]
	}
	return NewWindows(taps, k)
}

func FuzzWindows(f *testing.F) {
	for _, s := range windowSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := descriptor(data).windows()
		if err != nil {
			return
		}
		sameInAll(t, uint64(len(data)), func(a *arena) {
			x, y, arg := a.floats(w.inputs), a.floats(w.outputs), a.ints(w.outputs, -2, w.k+1)
			w.MaxBackward(y, arg, x) // of arguments that need not be Max's
			w.SumBackward(y, 0.3, x)
			w.Max(x, y, arg)
			w.Sum(x, 0.3, a.floats(w.outputs))
		})
	})
}

// Of the seeds, which every run of the tests tries, at least one in four reaches each method.
func TestFuzzSeedsReachEveryMethod(t *testing.T) {
	reached := map[string]int{}
	for _, s := range gemmSeeds {
		if plan, err := descriptor(s).gemm(); err == nil {
			for _, m := range (&gemmCase{n: plan.n, plan: plan}).methods() {
				reached[m]++
			}
		}
	}
	for _, s := range dotSeeds {
		if c, err := descriptor(s).dot(); err == nil {
			reached[fmt.Sprintf("dot, pooled %v", c.pool != nil)]++
		}
	}
	for _, s := range loadSeeds {
		if plan, _, err := descriptor(s).load(); err == nil && len(plan.at) > 8 {
			reached["load"]++
		}
	}
	for _, s := range windowSeeds {
		if w, err := descriptor(s).windows(); err == nil && w.outputs > 0 {
			reached["windows"]++
		}
	}
	t.Log(reached)
	for _, m := range []string{
		"store", "store without bias", "gated", "add", "max pool", "max pool without bias", "mean pool", "mean pool without bias", "dot, pooled true", "dot, pooled false",
		"load", "windows",
	} {
		if reached[m] < 40 {
			t.Errorf("%s: %d of 160 seeds are plans for it, fewer than 40", m, reached[m])
		}
	}
}
