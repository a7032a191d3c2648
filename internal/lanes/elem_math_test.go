package lanes

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// These tests compare the kernels with float64 mathematics. TestElementwiseKernelsAgree compares the implementations.

var (
	nan32 = float32(math.NaN())
	inf32 = float32(math.Inf(1))
	zero  = float32(0)
)

// ulps is the distance in units of the last place of want. Below the normal numbers, where e^x is cut off, the unit
// is the smallest of them.
func ulps(have float32, want float64) float64 {
	_, e := math.Frexp(want)
	unit := math.Ldexp(1, e-24)
	if math.Abs(want) < 0x1p-126 {
		unit = 0x1p-126
	}
	return math.Abs(float64(have)-want) / unit
}

// sweep is n numbers between lo and hi: half of them uniform, half with uniform logarithms of their size.
func sweep(n int, lo, hi float64) []float32 {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(lo + (hi-lo)*r.Float64())
		if i%2 == 1 {
			x[i] *= float32(math.Exp(-20 * r.Float64()))
		}
		x[i] = float32(math.Min(math.Max(float64(x[i]), lo), hi))
	}
	return x
}

const sweepLen = 200_000 / Lanes * Lanes

func checkULPs(t *testing.T, name string, x []float32, have func(float32) float32, want func(float64) float64, limit float64) {
	t.Helper()
	worst, at := 0.0, float32(0)
	for _, v := range x {
		if e := ulps(have(v), want(float64(v))); !(e <= worst) {
			worst, at = e, v
			if e != e { // a NaN is the largest error, but compares as none
				break
			}
		}
	}
	if !(worst <= limit) {
		t.Errorf("%s(%v): %.2f ulp, limit %v", name, at, worst, limit)
	}
}

func logistic(x float64) float64  { return 1 / (1 + math.Exp(-x)) }
func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func TestElementaryFunctions(t *testing.T) {
	checkULPs(t, "expNeg", sweep(sweepLen, -100, 0), expNeg, math.Exp, 1)
	checkULPs(t, "logUp", sweep(sweepLen, 1, 2), logUp, math.Log, 2)
	checkULPs(t, "logUp", sweep(sweepLen, 1, 1e9), logUp, math.Log, 2)
	checkULPs(t, "tanh", sweep(sweepLen, -12, 12), tanh32, math.Tanh, 3)
	checkULPs(t, "sigmoid", sweep(sweepLen, -swishReach, swishReach), func(x float32) float32 { s, _, _ := sigmoid(x); return s }, logistic, 3)
	for _, x := range sweep(sweepLen, -geluReach, geluReach) {
		cdf, e := normal(x)
		if err := math.Abs(float64(cdf) - normalCDF(float64(x))); !(err <= 1e-7) {
			t.Fatalf("Φ(%v) is off by %.3g", x, err)
		}
		if want := math.Exp(-float64(x) * float64(x) / 2); !(math.Abs(float64(e)-want) <= 1e-7) {
			t.Fatalf("e^(-x²/2) at %v is %v, want %v", x, e, want)
		}
	}
}

// Activations by their definition in float64; the derivatives by central differences of that, whose error is below
// 1e-9 here. The limits allow one rounding of each of the few factors.
func TestActivations(t *testing.T) {
	const h = 1e-4
	for _, c := range []struct {
		name     string
		f        func(float64) float64
		plain    func(x, y []float32)
		gradient func(x, y, d []float32)
	}{
		{"ReLU", func(x float64) float64 { return math.Max(x, 0) }, ReLU, ReLUWithDerivative},
		{"Tanh", math.Tanh, Tanh, TanhWithDerivative},
		{"GELU", func(x float64) float64 { return x * normalCDF(x) }, GELU, GELUWithDerivative},
		{"Swish", func(x float64) float64 { return x * logistic(x) }, Swish, SwishWithDerivative},
	} {
		x := sweep(sweepLen, -20, 20)
		y, z, d := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
		c.plain(x, y)
		c.gradient(x, z, d)
		sameBits(t, c.name+" with its derivative", z, y)
		for i, v := range x {
			v := float64(v)
			if want := c.f(v); !(math.Abs(float64(y[i])-want) <= 2e-7*math.Abs(v)) {
				t.Fatalf("%s(%v) = %v, want %v", c.name, v, y[i], want)
			}
			if c.name == "ReLU" && math.Abs(v) < h {
				continue
			}
			want := (c.f(v+h) - c.f(v-h)) / (2 * h)
			if !(math.Abs(float64(d[i])-want) <= 5e-7) {
				t.Fatalf("the derivative of %s at %v: %v, want %v", c.name, v, d[i], want)
			}
		}
	}
}

func TestActivationsAtTheEnds(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	special := []float32{nan32, inf32, -inf32, 0, negative, math.MaxFloat32, -math.MaxFloat32, 1e-45, -1e-45}
	big := float32(math.MaxFloat32)
	for _, c := range []struct {
		name string
		call func(x, y []float32)
		want []float32
	}{
		{"ReLU", ReLU, []float32{nan32, inf32, 0, 0, negative, big, 0, 1e-45, 0}},
		{"Tanh", Tanh, []float32{nan32, 1, -1, 0, negative, 1, -1, 1e-45, -1e-45}},
		{"GELU", GELU, []float32{nan32, inf32, negative, 0, negative, big, negative, 0, negative}},
		{"Swish", Swish, []float32{nan32, inf32, negative, 0, negative, big, negative, 0, negative}},
		{"ReLU's derivative", derivative(ReLUWithDerivative), []float32{0, 1, 0, 0, 0, 1, 0, 1, 0}},
		{"GELU's derivative", derivative(GELUWithDerivative), []float32{nan32, 1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5}},
		{"Swish's derivative", derivative(SwishWithDerivative), []float32{nan32, 1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5}},
		{"Tanh's derivative", derivative(TanhWithDerivative), []float32{nan32, 0, 0, 1, 1, 0, 0, 1, 1}},
	} {
		x, y := make([]float32, Lanes), make([]float32, Lanes)
		copy(x, special)
		c.call(x, y)
		sameBits(t, c.name, y[:len(special)], c.want)
	}
}

func derivative(f func(x, y, d []float32)) func(x, d []float32) {
	return func(x, d []float32) { f(x, make([]float32, len(x)), d) }
}

// Where the derivative is 0, nothing passes; a NaN of either does.
func TestMultiplyDerivative(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	d, dy, dx := make([]float32, Lanes), make([]float32, Lanes), make([]float32, Lanes)
	copy(d, []float32{0.5, -2, 0, negative, 0, 0, nan32, 2, 1})
	copy(dy, []float32{3, 4, inf32, -1, nan32, -1, 0, nan32, -inf32})
	MultiplyDerivative(d, dy, dx)
	sameBits(t, "dx", dx[:9], []float32{1.5, -8, 0, 0, 0, 0, nan32, nan32, -inf32})
}

func TestBernoulli(t *testing.T) {
	z := sweep(sweepLen, -110, 110)
	copy(z, []float32{inf32, -inf32, inf32, -inf32, nan32, 0, 0})
	y, ll, dz := make([]float32, len(z)), make([]float32, len(z)), make([]float32, len(z))
	for i := range y {
		y[i] = float32(i / 2 % 2)
	}
	Bernoulli(z, y, ll, dz)
	sameBits(t, "ll", ll[:5], []float32{-inf32, zero, zero, -inf32, nan32})
	sameBits(t, "dz", dz[:5], []float32{-1, -zero, zero, 1, nan32})
	for i := 5; i < len(z); i++ {
		a := float64(z[i]) * float64(2*y[i]-1)
		want := math.Min(a, 0) - math.Log1p(math.Exp(-math.Abs(a)))
		if e := ulps(ll[i], want); !(e <= 3) {
			t.Fatalf("ll at z = %v, y = %v: %v, want %v (%.2f ulp)", z[i], y[i], ll[i], want, e)
		}
		want = float64(2*y[i]-1) / (1 + math.Exp(a))
		if e := ulps(dz[i], want); !(e <= 3) {
			t.Fatalf("dz at z = %v, y = %v: %v, want %v (%.2f ulp)", z[i], y[i], dz[i], want, e)
		}
	}
}

func TestCategorical(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const groups, repeats = 3, 2
	for _, classes := range []int{1, 2, 10, 100} {
		for _, scale := range []float64{1e-3, 1, 10, 1e3, 1e30} {
			z, label := make([]float32, repeats*groups*classes*Lanes), make([]int32, groups*Lanes)
			for i := range z {
				z[i] = float32(scale * r.NormFloat64())
			}
			for i := range label {
				label[i] = int32(r.IntN(classes))
			}
			ll, dz := make([]float32, repeats*groups*Lanes), make([]float32, len(z))
			Categorical(z, label, classes, ll, dz)
			for i, have := range ll {
				y := int(label[i%len(label)])
				logit := func(c int) float64 { return float64(z[(i/Lanes*classes+c)*Lanes+i%Lanes]) }
				top, sum := math.Inf(-1), 0.0
				for c := range classes {
					top = math.Max(top, logit(c))
				}
				for c := range classes {
					sum += math.Exp(logit(c) - top)
				}
				want, gap := logit(y)-top-math.Log(sum), top-logit(y)
				if !(math.Abs(float64(have)-want) <= 1e-6*math.Abs(want)+2e-7+1.2e-7*gap) {
					t.Fatalf("%d classes, scale %g: ll = %v, want %v", classes, scale, have, want)
				}
				for c := range classes {
					want := -math.Exp(logit(c)-top) / sum
					if c == y {
						want++
					}
					if have := dz[(i/Lanes*classes+c)*Lanes+i%Lanes]; !(math.Abs(float64(have)-want) <= 4e-7) {
						t.Fatalf("%d classes, scale %g: dz = %v, want %v", classes, scale, have, want)
					}
				}
			}
		}
	}
	// Lane 0 has a label that is not a class, lane 1 a logit that is NaN. The other lanes are not affected.
	z, ll := make([]float32, 2*Lanes), make([]float32, Lanes)
	label := make([]int32, Lanes)
	label[0], z[Lanes+1] = 2, nan32
	Categorical(z, label, 2, ll, nil)
	for i, v := range ll {
		if bad := i < 2; bad != (v != v) || !bad && !(math.Abs(float64(v)+math.Ln2) <= 1e-7) {
			t.Errorf("lane %d: ll = %v", i, v)
		}
	}
}

func TestGaussian(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const groups, outputs, repeats, sd = 3, 2, 4, 0.3
	y, z := numbers(r, groups*outputs*Lanes, 0), numbers(r, repeats*groups*outputs*Lanes, 0)
	ll, dz := make([]float32, repeats*groups*Lanes), make([]float32, len(z))
	prec, logNorm := 1/(sd*sd), -math.Log(sd*math.Sqrt(2*math.Pi))
	Gaussian(z, y, outputs, float32(prec), float32(logNorm), ll, dz)
	for i, have := range ll {
		want := 0.0
		for k := range outputs {
			o := (i/Lanes*outputs+k)*Lanes + i%Lanes
			d := float64(y[o%len(y)]) - float64(z[o])
			want += logNorm - prec/2*d*d
			if !(math.Abs(float64(dz[o])-prec*d) <= 1e-6*(1+math.Abs(prec*d))) {
				t.Fatalf("dz = %v, want %v", dz[o], prec*d)
			}
		}
		if !(math.Abs(float64(have)-want) <= 1e-6*(1+math.Abs(want))) {
			t.Fatalf("ll = %v, want %v", have, want)
		}
	}
}

func TestLaneSums(t *testing.T) {
	const groups, valid = 3, 5
	ll := make([]float32, 2*groups*Lanes)
	for i := range ll {
		ll[i] = float32(i)
		if i/Lanes%groups == groups-1 && i%Lanes >= valid {
			ll[i] = nan32
		}
	}
	sums := []float64{0.5, -1}
	LaneSums(ll, groups, valid, sums)
	const count = (groups-1)*Lanes + valid // of consecutive integers from 0, and from groups·16
	first := float64(count * (count - 1) / 2)
	if want := [2]float64{0.5 + first, -1 + first + count*groups*Lanes}; [2]float64(sums) != want {
		t.Errorf("sums are %v, want %v", sums, want)
	}
}

func TestLoadU8DividesExactly(t *testing.T) {
	for _, kernel := range Kernels() {
		defer setKernel(t, kernel)()
		src, at, row := make([]uint8, 256), make([]int32, 256), new([Lanes]int32)
		for i := range src {
			src[i], at[i] = uint8(i), int32(i*Lanes)
		}
		dst := make([]float32, 256*Lanes)
		mustLoad(t, at).U8(src, row, AsIs, dst)
		for i, v := range dst {
			if want := float32(i/Lanes) / 255; v != want {
				t.Fatalf("%s: %d/255 is %v, want %v", kernel, i/Lanes, v, want)
			}
		}
	}
}

// TestLoadTakesChannels: the numbers of each channel are moved by its mean and multiplied by its factor, each step rounded to float32, whether
// they are bytes or not. Channels of 37 features have blocks of 16, of 8 and a rest.
func TestLoadTakesChannels(t *testing.T) {
	const per, count = 37, 3
	channels := []Channel{{0.4914, 1 / 0.247}, {-3, 0}, {7e5, 1e-7}}
	for _, kernel := range Kernels() {
		defer setKernel(t, kernel)()
		bytes, floats, at, row := make([]uint8, 16*count*per), make([]float32, 16*count*per), make([]int32, count*per), new([Lanes]int32)
		for i := range bytes {
			bytes[i], floats[i] = uint8(i*31), float32(i*31%256)/255
		}
		for i := range row {
			row[i] = int32(i * 7 % 16 * count * per)
		}
		for f := range at {
			at[f] = int32((f * 5 % len(at)) * Lanes)
		}
		fromBytes, fromFloats := make([]float32, len(at)*Lanes), make([]float32, len(at)*Lanes)
		plan := mustLoad(t, at)
		plan.U8(bytes, row, channels, fromBytes)
		plan.F32(floats, row, channels, fromFloats)
		sameBits(t, kernel+": floats", fromFloats, fromBytes)
		for f, to := range at {
			for lane, first := range row {
				c := channels[f/per]
				moved := floats[int(first)+f] - c.Mean
				want := float32(float64(moved) * float64(c.Factor)) // exact, then rounded once
				if got := fromBytes[int(to)+lane]; got != want {
					t.Fatalf("%s: feature %d of lane %d is %v, want %v", kernel, f, lane, got, want)
				}
			}
		}
	}
}

// Transposing brings back what was loaded.
func TestTransposeUndoesLoading(t *testing.T) {
	const n, stride = 37, 50
	r := rand.New(rand.NewPCG(5, 5))
	src, at, row := numbers(r, Lanes*n, 0), make([]int32, n), new([Lanes]int32)
	for i := range row {
		row[i] = int32((i * 7 % Lanes) * n)
	}
	for f := range at {
		at[f] = int32(f * Lanes)
	}
	x, dst := make([]float32, n*Lanes), make([]float32, Lanes*stride)
	for i := range dst {
		dst[i] = 9
	}
	mustLoad(t, at).F32(src, row, AsIs, x)
	Transpose(x, n, dst, stride)
	for e, r := range row {
		sameBits(t, "example", dst[e*stride:][:n], src[r:][:n])
		sameBits(t, "zeros", dst[e*stride+n:][:48-n], make([]float32, 48-n))
	}
}

// The window of 3 with a border on both sides, on a line of 4, lane 0.
func TestPools(t *testing.T) {
	x := make([]float32, 4*Lanes)
	x[0], x[Lanes], x[2*Lanes], x[3*Lanes] = 1, 3, 3, -2
	w, err := NewWindows([]int32{-1, 0, Lanes, 0, Lanes, 2 * Lanes, Lanes, 2 * Lanes, 3 * Lanes, 2 * Lanes, 3 * Lanes, -1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	y, arg, dx := make([]float32, 4*Lanes), make([]int32, 4*Lanes), make([]float32, 4*Lanes)
	lane0 := func(v []float32) [4]float32 { return [4]float32{v[0], v[Lanes], v[2*Lanes], v[3*Lanes]} }

	w.Max(x, y, arg)
	if have, want := lane0(y), [4]float32{3, 3, 3, 3}; have != want {
		t.Errorf("maxima are %v, want %v", have, want)
	}
	if have, want := [4]int32{arg[0], arg[Lanes], arg[2*Lanes], arg[3*Lanes]}, [4]int32{2, 1, 0, 0}; have != want {
		t.Errorf("they are at %v, want %v", have, want)
	}
	moves := make([]float32, 4*Lanes)
	moves[0], moves[Lanes], moves[2*Lanes], moves[3*Lanes] = 5, 6, 7, 8
	w.Pick(moves, arg, y)
	if have, want := lane0(y), [4]float32{6, 6, 6, 7}; have != want {
		t.Errorf("the moves of the maxima are %v, want %v", have, want)
	}
	dy := make([]float32, 4*Lanes)
	dy[0], dy[Lanes], dy[2*Lanes], dy[3*Lanes] = 1, 10, 100, 1000
	w.MaxBackward(dy, arg, dx)
	if have, want := lane0(dx), [4]float32{0, 111, 1000, 0}; have != want {
		t.Errorf("gradients of the maxima are %v, want %v", have, want)
	}

	w.Sum(x, 0.5, y)
	if have, want := lane0(y), [4]float32{2, 3.5, 2, 0.5}; have != want {
		t.Errorf("sums are %v, want %v", have, want)
	}
	clear(dx)
	w.SumBackward(dy, 0.5, dx)
	if have, want := lane0(dx), [4]float32{5.5, 55.5, 555, 550}; have != want {
		t.Errorf("gradients of the sums are %v, want %v", have, want)
	}

	x[2*Lanes] = nan32
	w.Max(x, y, arg)
	sameBits(t, "with NaN", []float32{y[0], y[Lanes], y[2*Lanes], y[3*Lanes]}, []float32{3, nan32, nan32, nan32})
}

// Two windows, with the maximum at different pixels in different lanes, or at none.
func TestUnpool(t *testing.T) {
	dy, masks := make([]float32, 2*Lanes), make([]uint16, 8)
	dy[0], dy[1], dy[2], dy[Lanes] = 1, 2, 3, 4
	masks[0], masks[3], masks[4+2] = 1<<0, 1<<1, 1<<0
	const row = 4*Lanes + 5
	dx, want := make([]float32, row+4*Lanes), make([]float32, row+4*Lanes)
	for i := range dx {
		dx[i] = 7
	}
	copy(want[4*Lanes:row], dx)
	want[0], want[row+Lanes+1], want[row+2*Lanes] = 1, 2, 4
	Unpool(dy, masks, dx, row)
	sameBits(t, "Unpool", dx, want)
}

// Each vector has a mask of its own, whose bits are the lanes that it keeps, times a number. A NaN that is dropped is 0.
func TestDrop(t *testing.T) {
	x, y, want := make([]float32, 3*Lanes), make([]float32, 3*Lanes), make([]float32, 3*Lanes)
	for i := range x {
		x[i], y[i] = float32(i+1), 7
	}
	x[2*Lanes+5] = nan32
	want[0], want[15], want[2*Lanes+8] = 3, 48, 123
	Drop(x, []uint16{1<<0 | 1<<15, 0, 1 << 8}, 3, y)
	sameBits(t, "Drop", y, want)
}

func mustLoad(t *testing.T, at []int32) *Load {
	t.Helper()
	l, err := NewLoad(at)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNewLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		at   []int32
	}{
		{"feature 1: offset -1", []int32{0, -1}},
		{"feature 0: offset", []int32{math.MaxInt32}},
		{"feature 0: offset", []int32{maxReach - Lanes + 1}},
		{"at 16 and 31 overlap", []int32{0, 31, 16}},
		{"at 16 and 16 overlap", []int32{16, 0, 16}},
	} {
		if _, err := NewLoad(c.at); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestNewWindowsRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		taps []int32
		k    int
	}{
		{"windows of 0", []int32{0}, 0},
		{"windows of -1", []int32{0}, -1},
		{"3 taps in windows of 2", []int32{0, 0, 0}, 2},
		{"output 1, tap 0: offset -2", []int32{0, 0, -2, 0}, 2},
		{"output 0, tap 1: offset", []int32{0, math.MaxInt32}, 2},
		{"output 0, tap 1: offset", []int32{0, maxReach - Lanes + 1}, 2},
		{"at 16 and 31 overlap", []int32{31, -1, 0, 16}, 2},
	} {
		if _, err := NewWindows(c.taps, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// The plans panic when a buffer is one element too short, and only then.
func TestElementwisePlansPanic(t *testing.T) {
	l := mustLoad(t, []int32{40, 0, 20})
	w, err := NewWindows([]int32{-1, 0, 33, -1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	row, first, last := new([Lanes]int32), &[Lanes]int32{3: -1}, &[Lanes]int32{15: 2}
	u, f, i := make([]uint8, 5), make([]float32, 56), make([]int32, 32)
	for name, call := range map[string]func(){
		"Load.U8 src":     func() { l.U8(u[:4], last, AsIs, f) },
		"Load.U8 row":     func() { l.U8(u, first, AsIs, f) },
		"Load.U8 dst":     func() { l.U8(u, row, AsIs, f[:55]) },
		"Load.F32 src":    func() { l.F32(f[:4], last, AsIs, f) },
		"Load.F32 row":    func() { l.F32(f, first, AsIs, f) },
		"Load channels":   func() { l.U8(u, row, make([]Channel, 2), f) },
		"Load no channel": func() { l.F32(f, row, nil, f) },
		"Load.F32 dst":    func() { l.F32(f, row, AsIs, f[:55]) },
		"Max x":           func() { w.Max(f[:48], f, i) },
		"Max y":           func() { w.Max(f, f[:31], i) },
		"Max arg":         func() { w.Max(f, f, i[:31]) },
		"MaxBackward dy":  func() { w.MaxBackward(f[:31], i, f) },
		"MaxBackward arg": func() { w.MaxBackward(f, i[:31], f) },
		"MaxBackward dx":  func() { w.MaxBackward(f, i, f[:48]) },
		"Pick x":          func() { w.Pick(f[:48], i, f) },
		"Pick arg":        func() { w.Pick(f, i[:31], f) },
		"Pick y":          func() { w.Pick(f, i, f[:31]) },
		"Sum x":           func() { w.Sum(f[:48], 1, f) },
		"Sum y":           func() { w.Sum(f, 1, f[:31]) },
		"SumBackward dy":  func() { w.SumBackward(f[:31], 1, f) },
		"SumBackward dx":  func() { w.SumBackward(f, 1, f[:48]) },
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "lanes: ") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			call()
		}()
	}
	y := make([]float32, 32)
	l.U8(u, last, AsIs, f)
	l.F32(make([]float32, 5), last, make([]Channel, 3), f)
	w.Max(f[:49], y, i)
	w.MaxBackward(y, i, f[:49])
	w.Sum(f[:49], 1, y)
	w.SumBackward(y, 1, f[:49])
}

func TestElementwisePanics(t *testing.T) {
	f, i, d := make([]float32, 64), make([]int32, 64), make([]float64, 64)
	for name, call := range map[string]func(){
		"ReLU":               func() { ReLU(f, f[:48]) },
		"Tanh":               func() { Tanh(f[:8], f[:8]) },
		"GELUWithDerivative": func() { GELUWithDerivative(f, f, f[:16]) },
		"MultiplyDerivative": func() { MultiplyDerivative(f, f[:16], f) },
		"Add":                func() { Add(f, f[:16], f) },
		"AddReLU":            func() { AddReLU(f, f, f[:16]) },
		"AddGated":           func() { AddGated(f[:16], f, f) },
		"Scale":              func() { Scale(f, 2, f[:16]) },
		"Bernoulli":          func() { Bernoulli(f[:48], f[:32], f[:48], nil) },
		"Categorical":        func() { Categorical(f, i[:16], 4, f[:32], f) },
		"Gaussian":           func() { Gaussian(f, f, 2, 1, 0, f[:32], f[:32]) },
		"LaneSums":           func() { LaneSums(f, 2, 17, d[:2]) },
		"SumRows":            func() { SumRows(f, 2, 2, 36, f[:32]) },
		"MaskLanes":          func() { MaskLanes(f, -1) },
		"Float32s":           func() { Float32s(f, d[:3]) },
		"AddFloat64s":        func() { AddFloat64s(d, f[:3]) },
		"Drop":               func() { Drop(f, make([]uint16, 3), 2, f) },
		"Unpool":             func() { Unpool(f[:32], make([]uint16, 8), f, 64) },
		"Transpose":          func() { Transpose(f, 4, f, 15) },
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "lanes: "+name+": ") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			call()
		}()
	}
}
