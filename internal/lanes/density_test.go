package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// These tests compare the kernels with float64 mathematics. TestElementwiseKernelsAgree compares the implementations.

// The mean counts in full: a shift by less than float32 resolves moves the sum.
func TestSquareSumTakesTheWholeMean(t *testing.T) {
	y := make([]float32, MaxDensities)
	for i := range y {
		y[i] = 1000 + float32(i%2)
	}
	eachKernel(t, func(t *testing.T) {
		for _, mean := range []float64{1000.3, 1000.30001, 1001.7} {
			want := 0.0
			for _, v := range y {
				want += (float64(v) - mean) * (float64(v) - mean)
			}
			if have := float64(SquareSum(y, len(y), []float64{mean})); !(math.Abs(have-want) <= 1e-6*want) {
				t.Errorf("mean %v: %v, want %v", mean, have, want)
			}
		}
	})
}

func TestSquareSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 16))
	eachKernel(t, func(t *testing.T) {
		for n := range MaxDensities + 1 {
			w := 1 + n%4
			stride := (n/Lanes + 1 + n%3) * Lanes
			y, mean := make([]float32, w*stride), make([]float64, w)
			for i := range y {
				y[i] = float32(3 * r.NormFloat64())
				if i%stride >= n {
					y[i] = nan32 // behind the measurements
				}
			}
			want := 0.0
			for k := range mean {
				mean[k] = r.NormFloat64()
				for i := range n {
					d := float64(y[k*stride+i]) - mean[k]
					want += d * d
				}
			}
			if have := float64(SquareSum(y, n, mean)); !(math.Abs(have-want) <= 5e-6*want) {
				t.Fatalf("%d measurements of %d: %v, want %v", n, w, have, want)
			}
		}
	})
}

func TestNormalTerms(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 16))
	eachKernel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 15, 16, 17, 255, 256, 257, 600, 4000} {
			for w := 1; w <= 5; w++ {
				stride := (n + 2*Lanes) / Lanes * Lanes
				m, x := make([]float32, w*stride), make([]float32, w)
				for i := range m {
					m[i] = float32(4 * r.NormFloat64())
				}
				for k := range x {
					x[k] = float32(4 * r.NormFloat64())
				}
				terms, sums := make([]float32, vectorsOf(n)*Lanes), make([]float32, (n+MaxDensities-1)/MaxDensities)
				NormalTerms(m, n, x, terms, sums)
				total, bound := make([]float64, len(sums)), make([]float64, len(sums))
				for i, have := range terms {
					want := 0.0
					if i < n {
						q := 0.0
						for k := range x {
							d := float64(m[k*stride+i]) - float64(x[k])
							q += d * d
						}
						want = math.Exp(-q / 2)
						if e := math.Abs(float64(have) - want); !(e <= want*(2e-7+1.5e-7*q)+0x1p-126) {
							t.Fatalf("term %d of %d at squared distance %v is %v, want %v", i, n, q, have, want)
						}
						total[i/MaxDensities] += want
						bound[i/MaxDensities] += want * (3e-6 + 1.5e-7*q)
					} else if have != 0 {
						t.Fatalf("term %d of %d is %v", i, n, have)
					}
				}
				for c, have := range sums {
					if !(math.Abs(float64(have)-total[c]) <= bound[c]+1e-35) {
						t.Fatalf("%d terms, sum %d is %v, want %v", n, c, have, total[c])
					}
				}
			}
		}
	})
}

// mixture is the definition of MixtureTerm in float64: the sum, and the row of new terms.
func mixture(x, y []float32, mx, my float64, peak float32, terms []float32, target int) (sum float64, row []float64) {
	n := len(x)
	row = make([]float64, n)
	for i := range x {
		dx, dy := float64(x[i])-mx, float64(y[i])-my
		row[i] = float64(peak) * math.Exp(-(dx*dx+dy*dy)/2)
		density := 1 + row[i]
		for r := range len(terms) / n {
			if r != target {
				density += float64(terms[r*n+i])
			}
		}
		sum += math.Log(density)
	}
	return sum, row
}

func TestMixtureTerm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 16))
	eachKernel(t, func(t *testing.T) {
		for trial := range 400 {
			n, rows := (1+trial%(MaxDensities/Lanes))*Lanes, 1+trial%5
			x, y, out := make([]float32, n), make([]float32, n), make([]float32, n)
			terms, target := make([]float32, rows*n), trial%rows
			peak := float32(math.Pow(10, 12*r.Float64()-6))
			if trial%7 == 0 {
				peak = 0x1p100 // what the products must not overflow with
			}
			for i := range x {
				x[i], y[i] = float32(3*r.NormFloat64()), float32(3*r.NormFloat64())
			}
			for i := range terms {
				terms[i] = peak * r.Float32()
			}
			mx, my := r.NormFloat64(), r.NormFloat64()
			want, row := mixture(x, y, mx, my, peak, terms, target)
			have := MixtureTerm(x, y, mx, my, peak, terms, target, out)
			if !(math.Abs(have-want) <= 3e-7*float64(n)+2e-6) {
				t.Fatalf("%d points, %d components, peak %v: %v, want %v", n, rows, peak, have, want)
			}
			for i, v := range out {
				q := -2 * math.Log(row[i]/float64(peak))
				if !(math.Abs(float64(v)-row[i]) <= row[i]*(3e-7+1.5e-7*q)+0x1p-126*float64(peak)) {
					t.Fatalf("term at squared distance %v is %v, want %v", q, v, row[i])
				}
			}
		}
	})
}

// A term below half a unit in the last place of 1 changes no bit of the sum, wherever it stands in the order: package ssm leaves
// out what is far on the strength of it. At half a unit it would, where a sum has an odd last bit.
func TestMixtureTermsTooSmallToMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 16))
	below := math.Nextafter32(0x1p-24, 0)
	eachKernel(t, func(t *testing.T) {
		const n = 64
		x, y, out := make([]float32, n), make([]float32, n), make([]float32, n)
		for trial := range 300 {
			terms, zeros := make([]float32, 3*n), make([]float32, 3*n)
			for i := range n {
				x[i], y[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				terms[i], terms[2*n+i] = below, below*r.Float32()
				if i%3 == 0 {
					terms[i] = float32(math.Exp(20 * r.NormFloat64()))
					zeros[i] = terms[i]
				}
			}
			peak := float32(math.Exp(3 * r.NormFloat64()))
			if trial%5 == 0 {
				peak = below
			}
			have, want := MixtureTerm(x, y, 0, 0, peak, terms, 1, out), MixtureTerm(x, y, 0, 0, peak, zeros, 1, out)
			if have != want {
				t.Fatalf("terms below 2⁻²⁴ change %v to %v", want, have)
			}
			if trial%5 == 0 && MixtureTerm(x, y, 0, 0, peak, make([]float32, 3*n), 1, out) != 0 {
				t.Fatal("terms below 2⁻²⁴ alone have a sum that is not 0")
			}
		}
	})
}

func TestMixtureTermAtTheEnds(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		x, y, out, terms := make([]float32, Lanes), make([]float32, Lanes), make([]float32, Lanes), make([]float32, 2*Lanes)
		if have := MixtureTerm(x, y, 1e30, 0, 5, terms, 0, out); have != 0 || out[0] != 0 {
			t.Errorf("a component far away: %v, term %v", have, out[0])
		}
		for _, bad := range []float32{nan32, inf32} {
			terms[Lanes+3] = bad
			if have := MixtureTerm(x, y, 0, 0, 5, terms, 0, out); have == have {
				t.Errorf("a term %v: %v", bad, have)
			}
			terms[Lanes+3] = 0
			if have := MixtureTerm(x, y, 0, 0, bad, terms, 0, out); have == have {
				t.Errorf("peak %v: %v", bad, have)
			}
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if have := MixtureTerm(x, y, 0, bad, 5, terms, 0, out); have == have {
				t.Errorf("a component at %v: %v", bad, have)
			}
		}
	})
}

func TestDensitiesRefuseWrongLengths(t *testing.T) {
	f := func(n int) []float32 { return make([]float32, n) }
	for name, call := range map[string]func(){
		"SquareSum too many":     func() { SquareSum(f(512), 257, mean4[:1]) },
		"SquareSum ragged":       func() { SquareSum(f(40), 3, mean4[:1]) },
		"SquareSum too short":    func() { SquareSum(f(32), 17, mean4[:2]) },
		"NormalTerms too short":  func() { NormalTerms(f(32), 33, f(1), f(48), f(1)) },
		"NormalTerms few sums":   func() { NormalTerms(f(512), 257, f(1), f(272), f(1)) },
		"NormalTerms few terms":  func() { NormalTerms(f(32), 17, f(1), f(16), f(1)) },
		"MixtureTerm too many":   func() { MixtureTerm(f(272), f(272), 0, 0, 1, f(272), 0, f(272)) },
		"MixtureTerm ragged":     func() { MixtureTerm(f(8), f(8), 0, 0, 1, f(8), 0, f(8)) },
		"MixtureTerm no such":    func() { MixtureTerm(f(16), f(16), 0, 0, 1, f(32), 2, f(16)) },
		"MixtureTerm short out":  func() { MixtureTerm(f(32), f(32), 0, 0, 1, f(32), 0, f(16)) },
		"MixtureTerm half a row": func() { MixtureTerm(f(32), f(32), 0, 0, 1, f(48), 0, f(32)) },
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
}

// BenchmarkDensity reports the cost of a term in FLOP: its time times the speed that PeakFMA reaches in the same run.
func BenchmarkDensity(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 16))
	const n, chunks = MaxDensities, 33
	floats := func(n int) []float32 {
		v := Make(n)
		for i := range v {
			v[i] = float32(2 * r.NormFloat64())
		}
		return v
	}
	x, y, terms, out := floats(chunks*n), floats(chunks*n), floats(3*chunks*n), floats(n)
	for i, v := range terms {
		terms[i] = abs32(v)
	}
	at, sums := []float32{0.3, -0.2, 0.1, 0.7}, make([]float32, 16)
	all, weights := floats(16*n), Make(16*n)
	var sink float64
	for _, c := range []struct {
		name  string
		terms int
		call  func()
	}{
		{"MixtureTerm3", chunks * n, func() {
			for c := range chunks {
				sink += MixtureTerm(x[c*n:][:n], y[c*n:][:n], 0.1, 0.2, 2387, terms[3*c*n:][:3*n], 1, out)
			}
		}},
		{"MixtureTerm3of128", 2 * chunks * n / 2, func() {
			for c := range 2 * chunks {
				sink += MixtureTerm(x[c*n/2:][:n/2], y[c*n/2:][:n/2], 0.1, 0.2, 2387, terms[3*c*n/2:][:3*n/2], 1, out[:n/2])
			}
		}},
		{"SquareSum1", chunks * n, func() {
			for c := range chunks {
				sink += float64(SquareSum(x[c*n:][:n], n, mean4[:1]))
			}
		}},
		{"SquareSum2", chunks * n / 2, func() {
			for c := range chunks {
				sink += float64(SquareSum(x[c*n:][:n], n/2, mean4[:2]))
			}
		}},
		{"NormalTerms1", 16 * n, func() { NormalTerms(all, 16*n, at[:1], weights, sums) }},
		{"NormalTerms4", 4 * n, func() { NormalTerms(all, 4*n, at, weights[:4*n], sums[:4]) }},
	} {
		eachAssembly(b, func(b *testing.B) {
			b.Run(c.name, func(b *testing.B) {
				best, peak := time.Hour, 0.0 // of many: others use the machine too
				for b.Loop() {
					start := time.Now()
					c.call()
					best = min(best, time.Since(start))
					start = time.Now()
					flops := PeakFMA(1 << 10)
					peak = max(peak, flops/time.Since(start).Seconds())
				}
				term := best.Seconds() / float64(c.terms)
				b.ReportMetric(1e9*term, "ns/term")
				b.ReportMetric(term*peak, "FLOP/term")
			})
		})
	}
}

var mean4 = []float64{0.3, -0.2, 0.1, 0.7}
