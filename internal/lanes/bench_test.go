package lanes

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// share reports the speed of f, which makes flops floating-point operations, and its share of the peak. It is the median over
// rounds of some 0.1 ms each. f and the peak take turns, since the machine's clock and load change.
func share(b *testing.B, flops float64, f func()) {
	speed := func(work func() float64) float64 {
		done, start := 0.0, time.Now()
		for time.Since(start) < 100*time.Microsecond {
			done += work()
		}
		return done / time.Since(start).Seconds()
	}
	kernel := func() float64 { f(); f(); return 2 * flops }
	var speeds, shares []float64
	for b.Loop() {
		peak := speed(func() float64 { return PeakFMA(1) })
		speeds = append(speeds, speed(kernel))
		shares = append(shares, speeds[len(speeds)-1]/max(peak, speed(func() float64 { return PeakFMA(1) })))
	}
	slices.Sort(speeds)
	slices.Sort(shares)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(speeds[len(speeds)/2]/1e9, "GFLOP/s")
	b.ReportMetric(100*shares[len(shares)/2], "%peak")
}

func eachAssembly(b *testing.B, f func(b *testing.B)) {
	for _, name := range Kernels() {
		if name == "go" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			restore, err := SetKernel(name)
			if err != nil {
				b.Fatal(err)
			}
			defer restore()
			f(b)
		})
	}
}

// convolution plans a k×k convolution of c channels, size×size outputs, m filters a tile.
func convolution(b *testing.B, m, n, c, k, size int) (g *Gemm, x, w, dst []float32) {
	in := size + k - 1
	var terms []Term
	for ch := range c {
		for dy := range k {
			for dx := range k {
				terms = append(terms, Term{int32((ch*k+dy)*k + dx), int32(((ch*in+dy)*in + dx) * Lanes)})
			}
		}
	}
	var blocks []Block
	for y := 0; y < size; y += 2 {
		for o := 0; o < size; o += 2 {
			block := Block{Count: int32(len(terms))}
			for q := range 4 {
				block.X[q] = int32(((y+q/2)*in + o + q%2) * Lanes)
				block.D[q] = int32(((y+q/2)*size + o + q%2) * Lanes)
			}
			blocks = append(blocks, block)
		}
	}
	if n == 2 {
		var halves []Block
		for _, q := range blocks {
			halves = append(halves, q)
			q.X, q.D = [4]int32{q.X[2], q.X[3]}, [4]int32{q.D[2], q.D[3]}
			halves = append(halves, q)
		}
		blocks = halves
	}
	g, err := NewGemm(m, n, len(terms), size*size*Lanes, terms, blocks)
	if err != nil {
		b.Fatal(err)
	}
	return g, Make(c * in * in * Lanes), Make(m * len(terms)), Make(m * size * size * Lanes)
}

func BenchmarkGemm(b *testing.B) {
	for _, s := range []struct {
		name             string
		m, n, c, k, size int
	}{
		{"lenet1", 6, 4, 1, 5, 28}, {"lenet2", 4, 4, 6, 5, 10}, {"lenet2", 8, 2, 6, 5, 10}, {"lenet2", 6, 4, 6, 5, 10},
		{"mnist7", 4, 4, 1, 3, 28}, {"16x3x3", 8, 2, 16, 3, 16}, {"16x3x3", 6, 4, 16, 3, 16}, {"16x3x3", 5, 4, 16, 3, 16},
		{"16x3x3", 4, 4, 16, 3, 16}, {"16x3x3", 3, 4, 16, 3, 16}, {"16x3x3", 2, 4, 16, 3, 16}, {"16x3x3", 1, 4, 16, 3, 16},
	} {
		g, x, w, dst := convolution(b, s.m, s.n, s.c, s.k, s.size)
		flops := 2 * float64(s.m*s.c*s.k*s.k*s.size*s.size*Lanes)
		b.Run(fmt.Sprintf("%s/%dx%d", s.name, s.m, s.n), func(b *testing.B) {
			eachAssembly(b, func(b *testing.B) {
				share(b, flops, func() { g.Store(w, x, w, dst, 0) })
			})
		})
	}
}

func BenchmarkGemmPool(b *testing.B) {
	for _, s := range []struct {
		name          string
		m, c, k, size int
	}{{"lenet1", 6, 1, 5, 28}, {"lenet2", 4, 6, 5, 10}, {"mnist7", 4, 1, 3, 28}, {"mnist7", 6, 1, 3, 28}} {
		g, x, w, dst := convolution(b, s.m, 4, s.c, s.k, s.size)
		masks := make([]uint16, len(dst)/4)
		flops := 2 * float64(s.m*s.c*s.k*s.k*s.size*s.size*Lanes)
		for _, pool := range []struct {
			name  string
			store func(w, x, bias, dst []float32, masks []uint16)
		}{{"max", g.StoreMaxPool}, {"mean", g.StoreMeanPool}} {
			b.Run(fmt.Sprintf("%s/%dx4/%s", s.name, s.m, pool.name), func(b *testing.B) {
				eachAssembly(b, func(b *testing.B) {
					share(b, flops, func() { pool.store(w, x, w, dst, masks) })
				})
			})
		}
	}
}

// taps are the offsets of n neighbours in rows of k, in an image of the given width.
func taps(n, k, width int) []int32 {
	s := make([]int32, n)
	for j := range s {
		s[j] = int32((j/k*width + j%k) * Lanes)
	}
	return s
}

func BenchmarkDot(b *testing.B) {
	const size = 10
	for _, tile := range DotTiles() {
		m, n := tile[0], tile[1]
		var pairs []Pair
		for y := range int32(size) {
			for x := range int32(size) {
				pairs = append(pairs, Pair{(y*size + x) * Lanes, (y*(size+4) + x) * Lanes})
			}
		}
		d, err := NewDot(m, n, size*size*Lanes, n, taps(n, 5, size+4), pairs)
		if err != nil {
			b.Fatal(err)
		}
		dy, x, acc := Make(m*size*size*Lanes), Make(2*(size+4)*(size+4)*Lanes), Make(m*n*Lanes)
		b.Run(fmt.Sprintf("%dx%d", m, n), func(b *testing.B) {
			eachAssembly(b, func(b *testing.B) {
				share(b, 2*float64(m*n*len(pairs)*Lanes), func() { d.Add(dy, x, acc) })
			})
		})
	}
}

func BenchmarkPoolDot(b *testing.B) {
	const size = 14
	for _, tile := range PoolDotTiles() {
		m, n := tile[0], tile[1]
		var pairs []Pair
		for y := range int32(size) {
			for x := range int32(size) {
				pairs = append(pairs, Pair{(y*size + x) * Lanes, (2*y*(2*size+4) + 2*x) * Lanes})
			}
		}
		const row = (2*size + 4) * Lanes
		k := 5
		if n == 9 || n == 3 {
			k = 3
		}
		d, err := NewPoolDot(m, n, size*size*Lanes, n, taps(n, k, 2*size+4), [4]int32{0, Lanes, row, row + Lanes}, pairs)
		if err != nil {
			b.Fatal(err)
		}
		dy, x, acc := Make(m*size*size*Lanes), Make((2*size+4)*(2*size+5)*Lanes), Make(m*n*Lanes)
		masks := make([]uint16, len(dy)/4)
		for i := range masks {
			masks[i] = 0x1111 << (i % 4)
		}
		b.Run(fmt.Sprintf("%dx%d", m, n), func(b *testing.B) {
			eachAssembly(b, func(b *testing.B) {
				share(b, 2*float64(4*m*n*len(pairs)*Lanes), func() { d.Add(dy, masks, x, acc) })
			})
		})
	}
}

func BenchmarkReduceAdd(b *testing.B) {
	acc, sums := Make(512*Lanes), Make(512)
	eachAssembly(b, func(b *testing.B) {
		for b.Loop() {
			ReduceAdd(acc, sums)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(sums)), "ns/vector")
	})
}

func BenchmarkPoolMasks(b *testing.B) {
	masks := make([]uint16, 4*512)
	eachAssembly(b, func(b *testing.B) {
		for b.Loop() {
			PoolMasks(masks)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(masks)/4), "ns/vector")
	})
}
