package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// arena hands out the buffers of one call, each between guard words and off elements away from the allocation's
// alignment, the same for the same seed.
type arena struct {
	r       *rand.Rand
	off     int
	buffers []interface {
		check(t testing.TB, name string)
		bits() []uint64
	}
}

func take[T comparable](a *arena, words []T, mark T) []T {
	g := guard(words, a.off, mark)
	a.buffers = append(a.buffers, g)
	return g.words
}

// bits are the words as numbers to compare, with one number for all NaNs.
func (g *guarded[T]) bits() []uint64 {
	b := make([]uint64, len(g.words))
	for i, v := range g.words {
		switch v := any(v).(type) {
		case float32:
			b[i] = uint64(math.Float32bits(v))
		case float64:
			b[i] = math.Float64bits(v)
		case int32:
			b[i] = uint64(v)
		case uint16:
			b[i] = uint64(v)
		case uint8:
			b[i] = uint64(v)
		}
		if v != v {
			b[i] = math.MaxUint64
		}
	}
	return b
}

// floats are numbers of all kinds, and sometimes only common ones, so that sums are not all NaN.
func (a *arena) floats(n int) []float32 {
	odd := []int{0, 5, 40}[a.r.IntN(3)]
	v := numbers(a.r, n, odd)
	if scale := a.r.IntN(3); scale > 0 { // over the range of e^x
		for i := range v {
			v[i] *= []float32{6, 40}[scale-1]
		}
	}
	return take(a, v, 12345)
}

func (a *arena) bits01(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(a.r.IntN(2))
	}
	return take(a, v, 12345)
}

func (a *arena) ints(n, lo, hi int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(lo + a.r.IntN(hi-lo))
	}
	return take(a, v, 12345)
}

// windows are over a buffer of n vectors and 12 elements, one in six taps over the border.
func (a *arena) windows(outputs, k, n int) *Windows {
	t, first := make([]int32, outputs*k), a.r.Int32N(13)
	for i := range t {
		t[i] = first + a.r.Int32N(int32(n))*Lanes
		if a.r.IntN(6) == 0 {
			t[i] = -1
		}
	}
	w, err := NewWindows(t, k)
	if err != nil {
		panic(err)
	}
	return w
}

// some is a length: 0 to 20, or rarely more than one call of assembly takes at cost vectors each.
func (a *arena) some(cost int) int {
	if a.r.IntN(40) == 0 {
		return maxCallVectors/cost + a.r.IntN(10)
	}
	return a.r.IntN(21)
}

func (a *arena) gradient(n int) []float32 {
	if a.r.IntN(4) == 0 {
		return nil
	}
	return a.floats(n)
}

func unaryCase(f func(x, y []float32)) func(a *arena) {
	return func(a *arena) {
		n := Lanes * a.some(1)
		x, y := a.floats(n), a.floats(n)
		if a.r.IntN(4) == 0 {
			y = x
		}
		f(x, y)
	}
}

func binaryCase(f func(x, dy, dx []float32)) func(a *arena) {
	return func(a *arena) {
		n := Lanes * a.some(1)
		x, dy, dx := a.floats(n), a.floats(n), a.floats(n)
		if a.r.IntN(4) == 0 {
			dx = dy
		}
		f(x, dy, dx)
	}
}

func derivativeCase(f func(x, y, d []float32)) func(a *arena) {
	return func(a *arena) {
		n := Lanes * a.some(1)
		x, y, d := a.floats(n), a.floats(n), a.floats(n)
		switch a.r.IntN(4) {
		case 0:
			y = x
		case 1:
			d = x
		}
		f(x, y, d)
	}
}

var elementwise = map[string]func(a *arena){
	"ReLU":  unaryCase(ReLU),
	"Tanh":  unaryCase(Tanh),
	"GELU":  unaryCase(GELU),
	"Swish": unaryCase(Swish),
	"Scale": unaryCase(func(x, y []float32) { Scale(x, 0.3, y) }),
	"Drop": func(a *arena) {
		n := a.some(1)
		masks := make([]uint16, n)
		for i := range masks {
			masks[i] = uint16(a.r.Uint32())
		}
		x, y := a.floats(n*Lanes), a.floats(n*Lanes)
		if a.r.IntN(4) == 0 {
			y = x
		}
		Drop(x, take(a, masks, 12345), 1.3, y)
	},
	"Add":                 binaryCase(Add),
	"AddReLU":             binaryCase(AddReLU),
	"AddGated":            binaryCase(AddGated),
	"ReLUBackward":        binaryCase(ReLUBackward),
	"MultiplyDerivative":  binaryCase(MultiplyDerivative),
	"ReLUWithDerivative":  derivativeCase(ReLUWithDerivative),
	"TanhWithDerivative":  derivativeCase(TanhWithDerivative),
	"GELUWithDerivative":  derivativeCase(GELUWithDerivative),
	"SwishWithDerivative": derivativeCase(SwishWithDerivative),
	"Bernoulli": func(a *arena) {
		g, r := a.some(1), a.r.IntN(4)
		if g < 5 {
			r = a.some(4)
		}
		n := r * g * Lanes
		Bernoulli(a.floats(n), a.bits01(g*Lanes), a.floats(n), a.gradient(n))
	},
	"Categorical": func(a *arena) {
		g, r, classes := a.r.IntN(5), a.r.IntN(5), 1+a.some(4)
		n := r * g * Lanes
		z, label := a.floats(n*classes), a.ints(g*Lanes, -1, classes+1)
		dz := a.gradient(n * classes)
		if a.r.IntN(4) == 0 {
			dz = z
		}
		Categorical(z, label, classes, a.floats(n), dz)
	},
	"Gaussian": func(a *arena) {
		g, r, outputs := a.r.IntN(5), a.r.IntN(5), 1+a.some(4)
		n := r * g * Lanes
		Gaussian(a.floats(n*outputs), a.floats(g*outputs*Lanes), outputs, 1.7, -0.3, a.floats(n), a.gradient(n*outputs))
	},
	"PredictedNormal": func(a *arena) {
		k := a.some(1)
		z := a.floats(2 * k * Lanes)
		dz := a.gradient(len(z))
		if a.r.IntN(4) == 0 {
			dz = z
		}
		PredictedNormal(z, a.floats(k*Lanes), []float64{0, .003, 1}[a.r.IntN(3)], a.floats(Lanes), dz)
	},
	"LaneSums": func(a *arena) {
		groups, r := 1+a.r.IntN(6), a.some(2)
		sums := make([]float64, r)
		for i := range sums {
			sums[i] = a.r.NormFloat64()
		}
		LaneSums(a.floats(r*groups*Lanes), groups, a.r.IntN(Lanes+1), take(a, sums, 12345))
	},
	"SquareSum": func(a *arena) {
		n, w, pad := a.r.IntN(MaxDensities+1), 1+a.r.IntN(4), a.r.IntN(3)
		stride := (vectorsOf(n) + pad) * Lanes
		mean := make([]float64, w)
		for k := range mean {
			mean[k] = float64(numbers(a.r, 1, 20)[0]) + 1e-9*a.r.NormFloat64()
		}
		sum := SquareSum(a.floats(w*stride), n, take(a, mean, 12345))
		take(a, []float32{sum}, 12345)
	},
	"NormalTerms": func(a *arena) {
		n, w, pad := a.r.IntN(3*MaxDensities), 1+a.r.IntN(4), a.r.IntN(3)
		stride := (vectorsOf(n) + pad) * Lanes
		NormalTerms(a.floats(w*stride), n, a.floats(w), a.floats(vectorsOf(n)*Lanes), a.floats((n+MaxDensities-1)/MaxDensities))
	},
	"MixtureTerm": func(a *arena) {
		n, rows := a.r.IntN(MaxDensities/Lanes+1)*Lanes, 1+a.r.IntN(5)
		terms, target := a.floats(rows*n), a.r.IntN(rows)
		if a.r.IntN(4) > 0 { // as they should be
			for i, v := range terms {
				terms[i] = abs32(v)
			}
		}
		out := terms[target*n:][:n]
		if a.r.IntN(2) == 0 {
			out = a.floats(n)
		}
		at := numbers(a.r, 3, 20)
		take(a, []float64{MixtureTerm(a.floats(n), a.floats(n), float64(at[0])+1e-9, float64(at[1])/3, 100*at[2], terms, target, out)}, 12345)
	},
	"SumRows": func(a *arena) {
		rows, cols := a.r.IntN(14), a.r.IntN(30)
		if a.r.IntN(20) == 0 {
			cols = maxCallVectors + 1
		}
		stride := cols*Lanes + 4*a.r.IntN(20)
		SumRows(a.floats(rows*stride), rows, cols, stride, a.floats(rows*Lanes))
	},
	"Norm": func(a *arena) { // Backward into dx, and into x
		n := &Norm{Rows: a.r.IntN(6), Cols: a.r.IntN(12), Shift: numbers(a.r, 1, 9)[0], Low: numbers(a.r, 1, 5)[0]}
		if a.r.IntN(20) == 0 {
			n.Rows, n.Cols = a.r.IntN(3), maxCallVectors-a.r.IntN(2)
		}
		copy(n.Scale[:], numbers(a.r, Lanes, 40))
		n.X, n.Y = n.Cols*Lanes+4*a.r.IntN(20), n.Cols*Lanes+4*a.r.IntN(20)
		size := func(stride int) int { return max(0, (n.Rows-1)*stride+n.Cols*Lanes) }
		x, y, s := a.floats(size(n.X)), a.floats(size(n.Y)), a.floats(5*Lanes)
		n.Squares(x, (*[Lanes]float32)(s))
		n.Apply(x, a.floats(size(n.Y)))
		var sums Sums
		n.Sums(x, y, &sums)
		copy(s[Lanes:], slices.Concat(sums.Passed[:], sums.Product[:], sums.Stopped[:]))
		var pull [Lanes]float32
		copy(pull[:], numbers(a.r, Lanes, 40))
		n.Backward(x, y, &pull, a.floats(size(n.X)))
		n.Backward(x, y, &pull, x)
		InverseRoots((*[Lanes]float32)(s), 7, 1e-6, (*[Lanes]float32)(s[4*Lanes:]))
	},
	"AffineSums": func(a *arena) {
		p := a.planes()
		c := a.floats(2)
		AffineSums(a.floats(p.Rows*p.X), c[0], c[1], a.floats(p.Rows*p.Y), a.floats(Lanes), a.floats(Lanes), p)
	},
	"Float32s": func(a *arena) {
		src := make([]float64, a.some(1)*16+a.r.IntN(16))
		for i := range src {
			src[i] = a.r.NormFloat64() * math.Pow(10, float64(a.r.IntN(90)-45))
			if a.r.IntN(9) == 0 {
				src[i] = math.Inf(1) * float64(a.r.IntN(3)-1)
			}
		}
		Float32s(a.floats(len(src)), take(a, src, 12345))
	},
	"AddFloat64s": func(a *arena) {
		dst := make([]float64, a.some(1)*16+a.r.IntN(16))
		for i := range dst {
			dst[i] = a.r.NormFloat64()
		}
		AddFloat64s(take(a, dst, 12345), a.floats(len(dst)))
	},
	"Load.U8": func(a *arena) {
		n := a.some(2) + a.r.IntN(20) // blocks of 16, of 8, and a rest
		src := make([]uint8, 20*n)
		for i := range src {
			src[i] = uint8(a.r.Uint32())
		}
		at, dst := a.load(n)
		at.U8(take(a, src, 77), a.rows(len(src)-n), a.channels(n), dst)
	},
	"Load.F32": func(a *arena) {
		n := a.some(2)
		src := a.floats(20 * n)
		at, dst := a.load(n)
		at.F32(src, a.rows(len(src)-n), a.channels(n), dst)
	},
	"Load.F16": func(a *arena) {
		n := a.some(2)
		at, dst := a.load(n)
		at.F16(a.halves(20*n), a.rows(19*n), a.channels(n), dst)
	},
	"Load.Standardise": func(a *arena) {
		n := a.some(2)
		at, dst := a.load(n)
		at.Standardise(a.standard(n), dst)
	},
	"Transpose": func(a *arena) {
		n := a.some(1)
		stride := (n+15)/16*16 + a.r.IntN(10)
		Transpose(a.floats(n*Lanes), n, a.floats(Lanes*stride), stride)
	},
	"MaskLanes": func(a *arena) { MaskLanes(a.floats(Lanes*a.some(1)), a.r.IntN(Lanes+1)) },
	"Windows.Max": func(a *arena) {
		outputs, k, n := a.some(2), 1+a.r.IntN(9), 12
		a.windows(outputs, k, n).Max(a.floats(n*Lanes+12), a.floats(outputs*Lanes), a.ints(outputs*Lanes, 0, 9))
	},
	"Windows.MaxBackward": func(a *arena) {
		outputs, k, n := a.some(2), 1+a.r.IntN(9), 12
		a.windows(outputs, k, n).MaxBackward(a.floats(outputs*Lanes), a.ints(outputs*Lanes, -1, k), a.floats(n*Lanes+12))
	},
	"Windows.Sum": func(a *arena) {
		outputs, k, n := a.some(2), 1+a.r.IntN(9), 12
		a.windows(outputs, k, n).Sum(a.floats(n*Lanes+12), 0.3, a.floats(outputs*Lanes))
	},
	"Windows.SumBackward": func(a *arena) {
		outputs, k, n := a.some(2), 1+a.r.IntN(9), 12
		a.windows(outputs, k, n).SumBackward(a.floats(outputs*Lanes), 0.3, a.floats(n*Lanes+12))
	},
	"Unpool": func(a *arena) {
		n := a.some(1)
		masks := make([]uint16, 4*n)
		for i := range masks {
			masks[i] = uint16(a.r.Uint32())
		}
		row := 2*n*Lanes + a.r.IntN(20)
		Unpool(a.floats(n*Lanes), take(a, masks, 12345), a.floats(row+2*n*Lanes), row)
	},
}

// planes are rows with borders, rarely more than one call of assembly takes.
func (a *arena) planes() Planes {
	p := Planes{Rows: 1 + a.some(3), Cols: 1 + a.r.IntN(12)}
	if p.Rows < 4 && a.r.IntN(20) == 0 {
		p.Cols = maxCallVectors + 1 - a.r.IntN(2)
	}
	p.X, p.Y = p.Cols*Lanes+4*a.r.IntN(20), p.Cols*Lanes+4*a.r.IntN(20)
	return p
}

// rows are starts of 16 examples.
func (a *arena) rows(last int) *[Lanes]int {
	var row [Lanes]int
	for i := range row {
		row[i] = a.r.IntN(last + 1)
	}
	return &row
}

// halves are finite numbers of 16 bits, among them zeros and those below the normal ones.
func (a *arena) halves(n int) []Float16 {
	src := make([]Float16, n)
	for i := range src {
		if src[i] = Float16(a.r.Uint32()); src[i]&0x7c00 == 0x7c00 {
			src[i] &= 0x83ff
		}
	}
	return take(a, src, 77)
}

// standard are means and deviations of n features, some of which are constant.
func (a *arena) standard(n int) *Standard {
	s := &Standard{Mean: make([]float64, n), SD: make([]float64, n), To: 1}
	for f := range n {
		s.Mean[f] = a.r.NormFloat64() * math.Pow(10, float64(a.r.IntN(30)-15))
		if s.SD[f] = math.Abs(a.r.NormFloat64()) * math.Pow(10, float64(a.r.IntN(30)-15)); a.r.IntN(5) == 0 {
			s.SD[f] = 0
		}
	}
	if a.r.IntN(2) == 0 {
		s.To = .5
	}
	return s
}

// channels are some that divide n features evenly, of which some take numbers as they are.
func (a *arena) channels(n int) []Channel {
	all := make([]Channel, 1)
	for k := 5; k > 1; k-- {
		if n%k == 0 {
			all = make([]Channel, k)
		}
	}
	for k := range all {
		if all[k] = AsIs[0]; a.r.IntN(3) == 0 {
			continue
		}
		all[k] = Channel{Mean: float32(a.r.NormFloat64()), Factor: float32(a.r.NormFloat64())}
	}
	return all
}

// load is a plan with destinations in a random order, with gaps, and their buffer.
func (a *arena) load(n int) (*Load, []float32) {
	at := make([]int32, n)
	for i, p := range a.r.Perm(n) {
		at[i] = int32(p * (Lanes + 3))
	}
	l, err := NewLoad(at)
	if err != nil {
		panic(err)
	}
	return l, a.floats(n * (Lanes + 3))
}

// sameInAll runs a call with every kernel. Each must leave the same bits in every buffer as plain Go, and write nothing
// outside the buffers.
func sameInAll(t *testing.T, seed uint64, call func(a *arena)) {
	t.Helper()
	run := func(kernel string) *arena {
		defer setKernel(t, kernel)()
		a := &arena{r: rand.New(rand.NewPCG(seed, 1)), off: int(seed % 4)}
		call(a)
		return a
	}
	want := run("go")
	for i, b := range want.buffers {
		b.check(t, fmt.Sprintf("go, seed %d, buffer %d", seed, i))
	}
	for _, kernel := range Kernels() {
		have := run(kernel)
		for i, b := range have.buffers {
			label := fmt.Sprintf("%s, seed %d, buffer %d", kernel, seed, i)
			b.check(t, label)
			h, w := b.bits(), want.buffers[i].bits()
			if !slices.Equal(h, w) {
				j := 0
				for h[j] == w[j] {
					j++
				}
				t.Fatalf("%s: element %d of %d is %#x, want %#x", label, j, len(h), h[j], w[j])
			}
		}
	}
}

func TestElementwiseKernelsAgree(t *testing.T) {
	trials := 120
	if testing.Short() {
		trials = 30
	}
	for name, call := range elementwise {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(trials) {
				sameInAll(t, seed, call)
			}
		})
	}
}

// AVX2 kernels that need too many registers would get registers or instructions of AVX-512 from the generator's library.
func TestAVX2KernelsAreAVX2(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	foreign := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|[ZK]\d+)\b|Requires:.*AVX512`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// Each kernel is preceded by its signature and its requirements.
		for _, kernel := range strings.Split(string(text), "\n// func ")[1:] {
			name, _, _ := strings.Cut(kernel, "(")
			if strings.HasSuffix(name, "AVX2") && foreign.MatchString(kernel) {
				t.Errorf("%s: %s has %q", file, name, foreign.FindString(kernel))
			}
		}
	}
}
