package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// dotCase is a plan, either a Dot or a PoolDot, and its buffers, which are just as long as it needs.
type dotCase struct {
	name       string
	dot        *Dot
	pool       *PoolDot
	dy, x, acc []float32
	masks      []uint16
	offset     int
}

func newDotCase(t testing.TB, r *rand.Rand, m, n, pairs, odd int, pool bool) *dotCase {
	step := 1
	if pool {
		step = Lanes
	}
	streams, list, window := make([]int32, n), make([]Pair, pairs), [4]int32{}
	for j := range streams {
		streams[j] = r.Int32N(200)
	}
	for i := range list {
		list[i] = Pair{int32(step * r.IntN(400/step)), r.Int32N(300)}
	}
	for q := range window {
		window[q] = r.Int32N(100)
	}
	var err error
	c := &dotCase{name: fmt.Sprintf("%dx%d, %d pairs, pool %v", m, n, pairs, pool)}
	if dyStride, accStride := step*r.IntN(100/step), n+r.IntN(3); pool {
		c.pool, err = NewPoolDot(m, n, dyStride, accStride, streams, window, list)
	} else {
		c.dot, err = NewDot(m, n, dyStride, accStride, streams, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.fill(r, odd)
	return c
}

func (c *dotCase) fill(r *rand.Rand, odd int) {
	p := &products{}
	if c.pool != nil {
		p = &c.pool.products
		c.masks = make([]uint16, p.dy/4)
		for i := range c.masks {
			c.masks[i] = uint16(r.Uint32() & r.Uint32())
		}
	} else {
		p = &c.dot.products
	}
	c.dy, c.x, c.acc, c.offset = numbers(r, p.dy, odd), numbers(r, p.x, odd), numbers(r, p.acc, odd), r.IntN(4)
}

func (c *dotCase) run(t testing.TB) []float32 {
	mark := float32(-7.25)
	dy, x, acc := guard(c.dy, c.offset, mark), guard(c.x, c.offset, mark), guard(c.acc, c.offset, mark)
	masks := guard(c.masks, c.offset, 0xffff)
	if c.pool != nil {
		c.pool.Add(dy.words, masks.words, x.words, acc.words)
	} else {
		c.dot.Add(dy.words, x.words, acc.words)
	}
	dy.check(t, c.name+" dy")
	masks.check(t, c.name+" masks")
	x.check(t, c.name+" x")
	acc.check(t, c.name+" acc")
	return acc.words
}

func (c *dotCase) sameAsReference(t testing.TB) {
	have := c.run(t)
	defer setKernel(t, "go")()
	sameBits(t, c.name, have, c.run(t))
}

func TestDotKernelsAgree(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(12, 13))
		for _, odd := range []int{0, 200, 8} {
			for _, pairs := range []int{1, 2, 3, 17} {
				for _, tile := range DotTiles() {
					newDotCase(t, r, tile[0], tile[1], pairs, odd, false).sameAsReference(t)
				}
				for _, tile := range PoolDotTiles() {
					newDotCase(t, r, tile[0], tile[1], pairs, odd, true).sameAsReference(t)
				}
			}
		}
	})
}

// More pairs than one call takes.
func TestDotLongPlans(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(14, 15))
		newDotCase(t, r, 4, 6, maxCallFMAs/24+3, 0, false).sameAsReference(t)
		newDotCase(t, r, 2, 9, maxCallFMAs/72+3, 0, true).sameAsReference(t)
	})
}

// Against the plain formula in float64: k fused operations round by at most 2^−24 of the sum of the magnitudes each.
func TestDotFormula(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(16, 17))
		const m, n, dyStride, accStride = 2, 5, 160, 7
		streams := []int32{0, 16, 5, 100, 33}
		window := [4]int32{0, 16, 200, 216}
		var pairs []Pair
		for range 30 {
			pairs = append(pairs, Pair{16 * r.Int32N(10), r.Int32N(50)})
		}
		plain, err := NewDot(m, n, dyStride, accStride, streams, pairs)
		if err != nil {
			t.Fatal(err)
		}
		pooled, err := NewPoolDot(m, n, dyStride, accStride, streams, window, pairs)
		if err != nil {
			t.Fatal(err)
		}
		dy, x := numbers(r, plain.dy, 0), numbers(r, pooled.x, 0)
		start := numbers(r, plain.acc, 0)
		masks := make([]uint16, plain.dy/4)
		for i := range masks {
			masks[i] = uint16(r.Uint32())
		}
		for _, c := range []struct {
			name  string
			run   func(acc []float32)
			taken func(p Pair, i, q, l int) bool
		}{
			{"Dot", func(acc []float32) { plain.Add(dy, x, acc) }, func(_ Pair, _, q, _ int) bool { return q == 0 }},
			{"PoolDot", func(acc []float32) { pooled.Add(dy, masks, x, acc) }, func(p Pair, i, q, l int) bool {
				return masks[(int(p.DY)+i*dyStride)/Lanes*4+q]>>l&1 == 1
			}},
		} {
			acc := append([]float32{}, start...)
			c.run(acc)
			for i := range m {
				for j := range accStride {
					for l := range Lanes {
						at := (i*accStride+j)*Lanes + l
						if at >= len(acc) {
							continue
						}
						sum := float64(start[at])
						size := math.Abs(sum)
						for _, p := range pairs {
							for q := range 4 {
								if j < n && c.taken(p, i, q, l) {
									v := float64(dy[int(p.DY)+i*dyStride+l]) * float64(x[int(p.X+streams[j]+window[q])+l])
									sum += v
									size += math.Abs(v)
								}
							}
						}
						if diff := math.Abs(float64(acc[at]) - sum); !(diff <= 121*0x1p-24*size) || j >= n && diff > 0 {
							t.Fatalf("%s: %d, %d, lane %d is %g, want %g", c.name, i, j, l, acc[at], sum)
						}
					}
				}
			}
		}
	})
}

func TestNewDotRefuses(t *testing.T) {
	ok, one := []Pair{{0, 0}, {16, 3}}, []int32{5}
	for _, c := range []struct {
		want                      string
		m, n, dyStride, accStride int
		streams                   []int32
		window                    [4]int32
		pairs                     []Pair
		poolOnly                  bool
	}{
		{want: "no tile", m: 3, n: 1, accStride: 1, streams: one, pairs: ok},
		{want: "no tile", m: 1, n: 0, accStride: 1, pairs: ok},
		{want: "no pairs", m: 1, n: 1, accStride: 1, streams: one},
		{want: "1 streams", m: 1, n: 2, accStride: 2, streams: one, pairs: ok},
		{want: "strides", m: 1, n: 1, dyStride: -16, accStride: 1, streams: one, pairs: ok},
		{want: "strides", m: 1, n: 1, dyStride: math.MaxInt &^ 15, accStride: 1, streams: one, pairs: ok},
		{want: "strides", m: 1, n: 1, accStride: 0, streams: one, pairs: ok},
		{want: "strides", m: 1, n: 1, accStride: math.MaxInt, streams: one, pairs: ok},
		{want: "stream 0", m: 1, n: 1, accStride: 1, streams: []int32{-1}, pairs: ok},
		{want: "stream 0", m: 1, n: 1, accStride: 1, streams: []int32{math.MaxInt32}, pairs: ok},
		{want: "pair 1", m: 1, n: 1, accStride: 1, streams: one, pairs: []Pair{{0, 0}, {-16, 0}}},
		{want: "pair 1", m: 1, n: 1, accStride: 1, streams: one, pairs: []Pair{{0, 0}, {0, -1}}},
		{want: "pair 1", m: 1, n: 1, accStride: 1, streams: one, pairs: []Pair{{0, 0}, {0, math.MaxInt32}}},
		{want: "buffers", m: 1, n: 1, accStride: 1, streams: []int32{maxReach}, pairs: ok},
		{want: "buffers", m: 2, n: 1, dyStride: maxReach &^ 15, accStride: 1, streams: one, pairs: ok},
		{want: "window position 2", m: 1, n: 1, accStride: 1, streams: one, window: [4]int32{2: -1}, pairs: ok, poolOnly: true},
		{want: "DY 8", m: 1, n: 1, accStride: 1, streams: one, pairs: []Pair{{8, 0}}, poolOnly: true},
		{want: "dyStride 8", m: 1, n: 1, dyStride: 8, accStride: 1, streams: one, pairs: ok, poolOnly: true},
	} {
		_, err := NewPoolDot(c.m, c.n, c.dyStride, c.accStride, c.streams, c.window, c.pairs)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewPoolDot: error %v, want one with %q", err, c.want)
		}
		_, err = NewDot(c.m, c.n, c.dyStride, c.accStride, c.streams, c.pairs)
		if refused := err != nil && strings.Contains(err.Error(), c.want); refused == c.poolOnly {
			t.Errorf("NewDot: error %v, want one with %q: %v", err, c.want, !c.poolOnly)
		}
	}
}

func TestDotPanicsOnShortBuffers(t *testing.T) {
	d, err := NewDot(2, 2, 32, 2, []int32{0, 16}, []Pair{{0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPoolDot(2, 2, 32, 2, []int32{0, 16}, [4]int32{0, 0, 0, 16}, []Pair{{0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	dy, x, acc, masks := make([]float32, 48), make([]float32, 48), make([]float32, 64), make([]uint16, 12)
	for name, call := range map[string]func(){
		"Dot dy":        func() { d.Add(dy[:47], x, acc) },
		"Dot x":         func() { d.Add(dy, x[:31], acc) },
		"Dot acc":       func() { d.Add(dy, x, acc[:63]) },
		"PoolDot dy":    func() { p.Add(dy[:47], masks, x, acc) },
		"PoolDot masks": func() { p.Add(dy, masks[:11], x, acc) },
		"PoolDot x":     func() { p.Add(dy, masks, x[:47], acc) },
		"PoolDot acc":   func() { p.Add(dy, masks, x, acc[:63]) },
		"ReduceAdd":     func() { ReduceAdd(acc, acc[:5]) },
		"PoolMasks":     func() { PoolMasks(masks[:6]) },
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
	d.Add(dy, x[:32], acc)
	p.Add(dy, masks, x, acc)
}
