package ssm

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// clutter3 is Example 2 of the paper (spec 3.2), moved by an offset in x and y.
func clutter3(offset float64) Clutter {
	m := Clutter{Acceleration: 0.5, Returns: Returns{Rate: 1500, SD: 1},
		Background: Background{Rate: 4000, Region: [4]float64{offset - 100, offset + 100, offset - 100, offset + 100}}}
	for _, at := range [][4]float64{{-60, -40, 3, 2}, {0, 50, 2, -4}, {40, -20, -3, 1}} {
		m.Initial = append(m.Initial,
			Initial{Mean: []float64{offset + at[0], offset + at[1], at[2], at[3]}, SD: []float64{1, 1, .5, .5}})
	}
	return m
}

// bound binds a scan of measurements.
func bound(t testing.TB, m Clutter, values []float64) *clutterLikelihood {
	t.Helper()
	l, err := m.Bind(&Scan{Width: 2, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return l.(*clutterLikelihood)
}

// sceneOf is the first scan of a scene.
func sceneOf(t testing.TB, m Clutter, seed uint64) (truth, values []float64) {
	t.Helper()
	scene := Scene{Model: m, Seed: seed}
	truth, scan, err := scene.Next()
	if err != nil {
		t.Fatal(err)
	}
	return truth, scan.Values
}

// byDefinition is eq. 40 with package math.
func byDefinition(m Clutter, values, x []float64) float64 {
	n, targets := len(values)/2, len(m.Initial)
	fact, _ := math.Lgamma(float64(n + 1))
	sum := -(m.Background.Rate + float64(targets)*m.Returns.Rate) - fact
	g, variance := m.Background.Region, m.Returns.SD*m.Returns.SD
	for i := range n {
		u, v := values[2*i], values[2*i+1]
		density := 0.0
		if m.Background.Rate > 0 && g[0] <= u && u <= g[1] && g[2] <= v && v <= g[3] {
			density = m.Background.Rate / ((g[1] - g[0]) * (g[3] - g[2]))
		}
		for r := range targets {
			dx, dy := u-x[4*r], v-x[4*r+1]
			density += m.Returns.Rate / (2 * math.Pi * variance) * math.Exp(-(dx*dx+dy*dy)/(2*variance))
		}
		sum += math.Log(density)
	}
	return sum
}

func TestClutterGolden(t *testing.T) {
	for _, c := range golden.Read(t, "tracking.json") {
		var in struct {
			LambdaX    float64          `json:"lambda_X"`
			LambdaC    float64          `json:"lambda_C"`
			Area       float64          `json:"A_c"`
			Targets    int              `json:"N_T"`
			Z          [][][2]float64   `json:"z"`
			Candidates [][][][2]float64 `json:"candidate_positions"`
		}
		var want struct{ LogLik [][]float64 }
		if err := errors.Join(json.Unmarshal(c.Inputs, &in), json.Unmarshal(c.Expected, &want)); err != nil {
			t.Fatal(err)
		}
		half := math.Sqrt(in.Area) / 2
		m := Clutter{Acceleration: 0.5, Returns: Returns{in.LambdaX, 1},
			Background: Background{in.LambdaC, [4]float64{-half, half, -half, half}}}
		for range in.Targets {
			m.Initial = append(m.Initial, Initial{Mean: make([]float64, 4), SD: make([]float64, 4)})
		}
		for k, z := range in.Z {
			var values []float64
			var rows []int32
			for i, p := range z {
				values, rows = append(values, p[0], p[1]), append(rows, int32(i))
			}
			l := bound(t, m, values)
			fact, _ := math.Lgamma(float64(len(z) + 1))
			alone := -(in.LambdaC + float64(in.Targets)*in.LambdaX) - fact // what belongs to no row
			for i, at := range in.Candidates[k] {
				x := make([]float64, m.Dim())
				for r, p := range at {
					x[4*r], x[4*r+1] = p[0], p[1]
				}
				expected := want.LogLik[k][i]
				if have := l.LogLik(x, rows) + alone; !golden.Near(have, expected, 1e-11, 1e-6) {
					t.Errorf("%s, scan %d, candidate %d: rows give %.10f, want %.10f", c.Name, k, i, have, expected)
				}
				if have := l.LogLik(x, nil); !golden.Near(have, expected, 0, 1e-3) {
					t.Errorf("%s, scan %d, candidate %d: kernels give %.10f, want %.10f", c.Name, k, i, have, expected)
				}
			}
		}
	}
}

// walk changes the position of a target by a random walk, or sets it to a draw of its start.
func walk(r *rand.Rand, m Clutter, x []float64, prior bool) (proposal []float64, block Block) {
	proposal = slices.Clone(x)
	target := r.IntN(len(m.Initial))
	block = Block{4 * target, 4*target + 4}
	for k := range 4 {
		if prior {
			proposal[block.From+k] = x[block.From+k] + 0.6*r.NormFloat64()
		} else {
			proposal[block.From+k] += 0.1 * r.NormFloat64()
		}
	}
	return proposal, block
}

// TestClutterDifferences: a decision's difference is within 1e-3 nats of float64 at M = 8,500, with and without an offset.
func TestClutterDifferences(t *testing.T) {
	for _, offset := range []float64{0, 5e6} {
		m := clutter3(offset)
		x, values := sceneOf(t, m, 7)
		l := bound(t, m, values)
		rows := make([]int32, l.Len())
		for i := range rows {
			rows[i] = int32(i)
		}
		r := rand.New(rand.NewPCG(1, 1))
		l.Set(x)
		worst, kept := 0.0, 0
		for i := range 120 {
			y, block := walk(r, m, x, i%3 == 0)
			if i%10 == 9 { // all targets at once
				block = Block{0, m.Dim()}
				for k := range y {
					y[k] = x[k] + 0.3*r.NormFloat64()
				}
			}
			have, want := l.Try(y, block), l.LogLik(y, rows)-l.LogLik(x, rows)
			worst = max(worst, math.Abs(have-want))
			if whole := l.LogLik(y, nil) - l.LogLik(x, nil); math.Abs(whole-have) > 1e-9*math.Abs(l.LogLik(x, nil)) {
				t.Fatalf("decision %d: the difference of two log-likelihoods is %v, Try gives %v", i, whole, have)
			}
			if want > -100 || i%7 == 0 {
				l.Keep()
				x = y
				kept++
			}
		}
		t.Logf("offset %g: %d returns, %d of 120 kept, worst error %.2g nats", offset, l.Len(), kept, worst)
		if !(worst <= 1e-3) {
			t.Errorf("offset %g: a difference is off by %g nats", offset, worst)
		}
	}
}

// TestClutterLocality: near and all give the same bytes, while targets cross, leave and come back, with returns outside the
// region.
func TestClutterLocality(t *testing.T) {
	decisions := 3000
	if testing.Short() || testkit.Race {
		decisions = 300
	}
	r := rand.New(rand.NewPCG(2, 2))
	near := clutter3(0)
	near.Returns.Rate, near.Background.Rate = 300, 9000
	x, values := sceneOf(t, near, 8)
	values = append(values, 130, 0, -105, 3, 0, 101)
	all := near
	all.Evaluate = "all"
	a, b := bound(t, near, values), bound(t, all, values)
	for i := range x { // one place: targets cross
		x[i] = r.NormFloat64()
	}
	a.Set(x)
	b.Set(x)
	for i := range decisions {
		y := slices.Clone(x)
		block := Block{0, 4}
		switch r.IntN(6) {
		case 0: // across the region and beyond
			block.From = 4 * r.IntN(3)
			for k := range 2 {
				y[block.From+k] = 240 * (r.Float64() - 0.5)
			}
		case 1: // all targets
			block = Block{0, 12}
			for k := range y {
				y[k] += 3 * r.NormFloat64()
			}
		case 2: // two targets, one of which may stay
			block = Block{4, 12}
			y[5] += float64(r.IntN(2)) * r.NormFloat64()
			y[8] += 5 * r.NormFloat64()
		case 3: // to another target
			block.From = 4 * r.IntN(3)
			copy(y[block.From:], x[4*r.IntN(3):][:2])
		default:
			y, block = walk(r, near, x, false)
		}
		block.To = max(block.To, block.From+4)
		if r.IntN(20) == 0 {
			a.LogLik(y, nil) // disturbs nothing
			b.LogLik(y, nil)
		}
		have, want := a.Try(y, block), b.Try(y, block)
		if math.Float64bits(have) != math.Float64bits(want) {
			t.Fatalf("decision %d: near gives %v, all gives %v", i, have, want)
		}
		if r.IntN(2) == 0 {
			a.Keep()
			b.Keep()
			x = y
		}
		if i%50 != 0 {
			continue
		}
		if have, want := a.LogLik(x, nil), b.LogLik(x, nil); math.Float64bits(have) != math.Float64bits(want) {
			t.Fatalf("decision %d: log-likelihoods %v and %v", i, have, want)
		}
		// The sums that were kept are those of a fresh start.
		fresh := bound(t, near, values)
		fresh.Set(x)
		if !slices.Equal(fresh.sums, a.sums) || !slices.Equal(fresh.sums, b.sums) || fresh.bareSum != a.bareSum {
			t.Fatalf("decision %d: the sums that were kept are not those of a fresh start", i)
		}
	}
	e, s := a.Terms()
	whole, none := b.Terms()
	if !(e < whole/2) || e+s != whole+none {
		t.Errorf("near evaluated %d terms and skipped %d; all evaluated %d and skipped %d", e, s, whole, none)
	}
}

// TestClutterThreads: threads change no byte, in decisions over so many chunks that they share them.
func TestClutterThreads(t *testing.T) {
	m := clutter3(0)
	m.Returns.Rate, m.Background.Rate, m.Evaluate = 2000, 80_000, "all"
	x, values := sceneOf(t, m, 15)
	one, several := bound(t, m, values), bound(t, m, values)
	several.SetPool(mcmc.NewPool(3))
	if one.cells.chunks <= alone {
		t.Fatalf("%d chunks are for one thread", one.cells.chunks)
	}
	one.Set(x)
	several.Set(x)
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 12 {
		y, block := walk(r, m, x, i%2 == 0)
		if i%4 == 0 {
			y, block = slices.Clone(x), Block{0, m.Dim()}
			for k := range y {
				y[k] += r.NormFloat64()
			}
		}
		if have, want := several.Try(y, block), one.Try(y, block); have != want {
			t.Fatalf("decision %d: %v with threads, %v without", i, have, want)
		}
		several.Keep()
		one.Keep()
		x = y
	}
	if !slices.Equal(several.sums, one.sums) || !slices.Equal(several.terms, one.terms) {
		t.Error("what is kept depends on threads")
	}
}

// TestClutterKernels: every kernel gives the same bytes.
func TestClutterKernels(t *testing.T) {
	m := clutter3(3)
	x, values := sceneOf(t, m, 9)
	var want []float64
	for _, kernel := range lanes.Kernels() {
		restore, err := lanes.SetKernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		l := bound(t, m, values)
		l.Set(x)
		have := []float64{l.LogLik(x, nil)}
		for i := range 5 {
			y := slices.Clone(x)
			y[4] += float64(i)
			have = append(have, l.Try(y, Block{4, 8}))
		}
		restore()
		if want == nil {
			want = have
		} else if !slices.Equal(have, want) {
			t.Errorf("kernel %s gives %v, want %v", kernel, have, want)
		}
	}
}

// TestClutterIsFrozen: the numbers of a scene and of decisions are part of what a preset means, on every machine.
func TestClutterIsFrozen(t *testing.T) {
	m := clutter3(0)
	x, values := sceneOf(t, m, 3)
	values = append(values, 102, 0)
	l := bound(t, m, values)
	l.Set(x)
	numbers := append(slices.Concat(x, values), l.LogLik(x, nil), l.LogLik(x, []int32{0, int32(l.Len() - 1)}))
	for i := range 8 {
		y := slices.Clone(x)
		y[i] += 0.3
		numbers = append(numbers, l.Try(y, Block{0, 12}))
	}
	sum := uint64(0)
	for _, v := range numbers {
		sum = sum*1099511628211 ^ math.Float64bits(v)
	}
	if want := uint64(0xdbdaddf9fc9c3364); sum != want {
		t.Errorf("hash of the scene %#x, want %#x", sum, want)
	}
}

// TestClutterPermuted: the order of the returns changes no byte, and that of the targets nothing but rounding (check 7 of
// sequential-mcmc-massive-data).
func TestClutterPermuted(t *testing.T) {
	m := clutter3(0)
	x, values := sceneOf(t, m, 10)
	values = append(values, 101, 5, 101, 5, -101, 7) // outside, two of them equal
	values = append(values, values[:2]...)
	shuffled := slices.Clone(values)
	r := rand.New(rand.NewPCG(3, 3))
	r.Shuffle(len(values)/2, func(i, j int) {
		for k := range 2 {
			shuffled[2*i+k], shuffled[2*j+k] = shuffled[2*j+k], shuffled[2*i+k]
		}
	})
	a, b := bound(t, m, values), bound(t, m, shuffled)
	if have, want := b.LogLik(x, nil), a.LogLik(x, nil); have != want {
		t.Errorf("permuted returns: %v, want %v", have, want)
	}
	if !slices.Equal(a.xy, b.xy) || !slices.Equal(a.middles, b.middles) || !slices.Equal(a.bare, b.bare) {
		t.Error("permuted returns are sorted in another way")
	}
	a.Set(x)
	b.Set(x)
	for range 50 {
		y, block := walk(r, m, x, true)
		if have, want := b.Try(y, block), a.Try(y, block); have != want {
			t.Errorf("permuted returns: a difference is %v, want %v", have, want)
		}
	}
	y := slices.Concat(x[8:], x[:8])
	if have, want := a.LogLik(y, nil), a.LogLik(x, nil); !golden.Near(have, want, 0, 1e-3) {
		t.Errorf("permuted targets: %v, want %v", have, want)
	}
	rows := []int32{5, 0, int32(a.Len() - 1), 17}
	if have, want := a.LogLik(y, rows), a.LogLik(x, rows); !golden.Near(have, want, 1e-14, 0) {
		t.Errorf("permuted targets, rows: %v, want %v", have, want)
	}
}

// TestClutterLimits is check 7 of sequential-mcmc-massive-data: without returns of targets the likelihood is constant; without clutter and with one
// target it is the Gaussian one and a constant, however far the target is.
func TestClutterLimits(t *testing.T) {
	m := clutter3(0)
	x, values := sceneOf(t, m, 11)
	for _, rate := range []float64{0, 1e-30} {
		m.Returns.Rate = rate
		l := bound(t, m, values)
		inside := slices.Clone(values[:0])
		for i := 0; i < len(values); i += 2 {
			if l.inRegion(point{values[i], values[i+1]}) {
				inside = append(inside, values[i:i+2]...)
			}
		}
		l = bound(t, m, inside)
		want := l.LogLik(make([]float64, 12), nil)
		fact, _ := math.Lgamma(float64(l.Len() + 1))
		if direct := -4000 - 3*rate - fact + float64(l.Len())*math.Log(0.1); !golden.Near(want, direct, 1e-12, 0) {
			t.Errorf("returns of rate %g: %v, want %v", rate, want, direct)
		}
		l.Set(x)
		if have := l.LogLik(x, nil); have != want || l.Try(make([]float64, 12), Block{0, 12}) != 0 {
			t.Errorf("returns of rate %g: %v and %v at two states", rate, have, want)
		}
	}
	one := Clutter{Acceleration: 1, Returns: Returns{Rate: 50, SD: 2},
		Initial: []Initial{{Mean: []float64{3, 4, 0, 0}, SD: make([]float64, 4)}}}
	for _, rate := range []float64{0, 1e-40} {
		one.Background = Background{Rate: rate, Region: [4]float64{-1e3, 1e3, -1e3, 1e3}}
		_, values := sceneOf(t, one, 12)
		l := bound(t, one, values)
		gaussian := func(x []float64) (sum float64) {
			for i := range l.Len() {
				dx, dy := values[2*i]-x[0], values[2*i+1]-x[1]
				sum -= (dx*dx + dy*dy) / (2 * 4)
			}
			return sum
		}
		x := []float64{3, 4, 0, 0}
		l.Set(x)
		for _, far := range []float64{0, 1, 10, 30, 1e3, 1e9} {
			if rate > 0 && far > 1 {
				break // there the clutter, however thin, is denser
			}
			y := []float64{3 + far, 4 - 2*far, 1, 1}
			have, want := l.Try(y, Block{0, 4}), gaussian(y)-gaussian(x)
			if !golden.Near(have, want, 1e-12, 1e-9) {
				t.Errorf("clutter of rate %g, target off by %g: %v, want %v", rate, far, have, want)
			}
		}
	}
}

// TestClutterOutside: a return outside the region has the density of the targets alone, or is dropped.
func TestClutterOutside(t *testing.T) {
	m := clutter3(0)
	m.Returns.Rate, m.Background.Rate = 20, 40
	x, values := sceneOf(t, m, 13)
	values = slices.Concat([]float64{0, 120}, values[:20], []float64{-130, 0, 100, 100}, values[20:])
	x[0], x[1], x[4], x[5] = -125, 0, 0, 112
	keep := bound(t, m, values)
	if have, want := keep.LogLik(x, nil), byDefinition(m, values, x); !golden.Near(have, want, 1e-7, 0) {
		t.Errorf("kept: %v, want %v", have, want)
	}
	m.Outside = "drop"
	drop, without := bound(t, m, values), bound(t, m, slices.Concat(values[2:22], values[24:]))
	if drop.Dropped() != 2 || keep.Dropped() != 0 || drop.Len() != len(values)/2-2 {
		t.Errorf("dropped %d and %d, %d left", drop.Dropped(), keep.Dropped(), drop.Len())
	}
	rows := []int32{0, 10, 11}
	if drop.LogLik(x, nil) != without.LogLik(x, nil) || drop.LogLik(x, rows) != without.LogLik(x, rows) {
		t.Error("dropped returns have an influence")
	}

	for _, outside := range []string{"keep", "drop"} {
		m.Outside, m.Returns.Rate = outside, 0
		l := bound(t, m, values)
		row, ok := l.Impossible(x)
		if want := outside == "keep"; ok != want || row != 0 || math.IsInf(l.LogLik(x, nil), -1) != want {
			t.Errorf("%s: impossible %v, row %d, log-likelihood %v", outside, ok, row, l.LogLik(x, nil))
		}
		x := slices.Clone(x)
		x[4] = math.NaN()
		want := map[string]int{"keep": 0, "drop": 1}[outside]
		if row, ok := l.Impossible(x); !ok || row != want || !math.IsInf(l.LogLik(x, nil), -1) || !math.IsInf(l.LogLik(x, rows), -1) {
			t.Errorf("%s, a target nowhere: impossible %v, row %d, want %d", outside, ok, row, want)
		}
	}
}

// TestClutterOddStates: no state, however odd, breaks what is kept.
func TestClutterOddStates(t *testing.T) {
	m := clutter3(0)
	x, values := sceneOf(t, m, 14)
	all := m
	all.Evaluate = "all"
	a, b := bound(t, m, values), bound(t, all, values)
	a.Set(x)
	b.Set(x)
	for _, v := range []float64{math.Inf(1), math.NaN(), 1e300, 5, -1e40, math.Inf(-1), 2} {
		y := slices.Clone(x)
		y[4] = v
		have, want := a.Try(y, Block{4, 8}), b.Try(y, Block{4, 8})
		if have != want || math.IsNaN(v) != math.IsInf(have, -1) || math.IsNaN(have) {
			t.Errorf("x = %v: near gives %v, all gives %v", v, have, want)
		}
		a.Keep()
		b.Keep()
		x = y
	}
	fresh := bound(t, m, values)
	fresh.Set(x)
	if !slices.Equal(fresh.sums, a.sums) {
		t.Error("the sums that were kept are not those of a fresh start")
	}
	y := slices.Clone(x)
	y[2], y[3] = 5, 5
	before, _ := a.Terms()
	if d := a.Try(y, Block{0, 4}); d != 0 {
		t.Errorf("another velocity changes the log-likelihood by %v", d)
	}
	if after, _ := a.Terms(); after != before {
		t.Errorf("another velocity takes %d terms", after-before)
	}
	a.Keep()
}
