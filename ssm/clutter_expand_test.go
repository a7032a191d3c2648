package ssm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/mcmc"
)

// TestClutterExpandPermuted: the order of the returns changes no byte of the series, and that of the targets nothing but rounding.
func TestClutterExpandPermuted(t *testing.T) {
	m := clutter3(0)
	x, values := sceneOf(t, m, 10)
	x[4], x[5] = x[0]+1, x[1]
	values = append(values, 101, 5, -101, 7, 3, -140)
	shuffled := slices.Clone(values)
	r := rand.New(rand.NewPCG(3, 3))
	r.Shuffle(len(values)/2, func(i, j int) {
		for k := range 2 {
			shuffled[2*i+k], shuffled[2*j+k] = shuffled[2*j+k], shuffled[2*i+k]
		}
	})
	a, b := bound(t, m, values), bound(t, m, shuffled)
	ea, _ := a.Expand(x, 2)
	eb, _ := b.Expand(x, 2)
	if ea.Value != eb.Value || !slices.Equal(ea.Gradient, eb.Gradient) || !slices.Equal(ea.Hessian, eb.Hessian) || ea.Terms != eb.Terms || ea.Bounded != eb.Bounded {
		t.Error("permuted returns have another series")
	}
	y, _ := walk(r, m, x, true)
	da, db := make([]float64, a.Len()), make([]float64, a.Len())
	a.Residuals(x, y, all(a), da)
	b.Residuals(x, y, all(b), db)
	if !slices.Equal(da, db) {
		t.Error("permuted returns have other residuals")
	}
	turned := func(x []float64) []float64 { return slices.Concat(x[8:], x[:8]) }
	b.Residuals(x, y, all(b), db)
	et, _ := b.Expand(turned(x), 2)
	for i, v := range turned(ea.Gradient) {
		if !golden.Near(et.Gradient[i], v, 1e-9, 1e-9) {
			t.Errorf("permuted targets: gradient %d is %v, want %v", i, et.Gradient[i], v)
		}
	}
	b.Residuals(turned(x), turned(y), all(b), da)
	for i, v := range db {
		if !golden.Near(da[i], v, 1e-9, 1e-12) {
			t.Fatalf("permuted targets: residual %d is %v, want %v", i, da[i], v)
		}
	}
}

// TestClutterCommonShift is check 6 of sequential-mcmc-massive-data: Σ_s H_rs is the derivative of target r's gradient when all targets move
// together, also where they are at one place.
func TestClutterCommonShift(t *testing.T) {
	m := clutter3(0)
	m.Returns.Rate, m.Background.Rate = 100, 200
	x, values := sceneOf(t, m, 12)
	for _, apart := range []float64{0, 0.5, 3, 50} {
		for r := range 3 {
			x[4*r], x[4*r+1] = x[0]+apart*float64(r), x[1]
		}
		l := bound(t, m, values)
		e, _ := l.Expand(x, 2)
		for axis := range 2 {
			const h = 1e-4
			up, down := slices.Clone(x), slices.Clone(x)
			for r := range 3 {
				up[4*r+axis] += h
				down[4*r+axis] -= h
			}
			eu, _ := l.Expand(up, 1)
			ed, _ := l.Expand(down, 1)
			for i := range 12 {
				sum := 0.0
				for r := range 3 {
					sum += e.Hessian[i*12+4*r+axis]
				}
				if want := (eu.Gradient[i] - ed.Gradient[i]) / (2 * h); !golden.Near(sum, want, 1e-5, 1e-5) {
					t.Errorf("%v apart, coordinate %d, axis %d: %v, want %v", apart, i, axis, sum, want)
				}
			}
		}
	}
}

// TestClutterFarSteps: residuals are right where a target goes to returns beyond its reach at x⁺, and for any ratio of the rates, unit and
// offset; Σ over all rows makes up the difference of the log-likelihoods of the rows.
func TestClutterFarSteps(t *testing.T) {
	for _, c := range []struct{ background, sd, offset float64 }{{200, 1, 0}, {200, 1, 5e6}, {1e-20, 1, 0}, {2e5, 1, 0}, {200, 1e-3, 0}, {200, 20, 0}, {0, 1, 0}} {
		m := clutter3(c.offset)
		m.Returns, m.Background.Rate = Returns{100, c.sd}, 200
		x, values := sceneOf(t, m, 12)
		values = append(values, c.offset+120, c.offset)
		m.Background.Rate = c.background
		l := bound(t, m, values)
		rows, d := all(l), make([]float64, l.Len())
		e, ok := l.Expand(x, 2)
		if !ok || (e.Bounded == 0) != (c.background == 0) {
			t.Errorf("%+v: ok %v, %d rows with a bound", c, ok, e.Bounded)
		}
		for _, to := range [][2]float64{{0, 50}, {-60, -40}, {95, 95}, {-40, -30}, {-59, -41}} {
			y := slices.Clone(x)
			y[0], y[1] = c.offset+to[0], c.offset+to[1]
			for _, way := range [][2][]float64{{x, y}, {y, x}} {
				l.Residuals(way[0], way[1], rows, d)
				sum := proxyAt(e, x, way[1]) - proxyAt(e, x, way[0])
				rounding := 1e-12 * math.Abs(sum)
				for _, v := range d {
					sum += v
				}
				if want := l.LogLik(way[1], rows) - l.LogLik(way[0], rows); !golden.Near(sum, want, 1e-8, 1e-4+rounding) {
					t.Errorf("%+v, to %v: %v, want %v", c, to, sum, want)
				}
			}
		}
	}
}

// TestClutterExpandApart: a pass neither changes the state that decisions remember nor counts as theirs; threads change no bit; nor do residuals
// count, which who asks for them does.
func TestClutterExpandApart(t *testing.T) {
	m := crowd(10)
	x, values := sceneOf(t, m, 7)
	values = append(values, 130, 0)
	l, shared := bound(t, m, values), bound(t, m, values)
	shared.SetPool(mcmc.NewPool(4))
	y, block := walk(rand.New(rand.NewPCG(5, 5)), m, x, false)
	l.Set(x)
	want := l.Try(y, block)
	before, skipped := l.Terms()
	e, _ := l.Expand(y, 2)
	if a, b := l.Terms(); a != before || b != skipped {
		t.Error("a pass counts as a decision")
	}
	if have := l.Try(y, block); have != want {
		t.Errorf("after a pass a decision's difference is %v, want %v", have, want)
	}
	before, _ = l.Terms()
	l.Residuals(x, y, []int32{3, 4, 5}, make([]float64, 3))
	if after, _ := l.Terms(); after != before {
		t.Errorf("three residuals count as %d, beside what their filter counts", after-before)
	}
	es, _ := shared.Expand(y, 2)
	if e.Value != es.Value || !slices.Equal(e.Gradient, es.Gradient) || !slices.Equal(e.Hessian, es.Hessian) {
		t.Error("threads change the series")
	}
	if pieces := (len(l.series.chunks) + chunksEach - 1) / chunksEach; pieces < 3 {
		t.Errorf("%d pieces are too few for this test", pieces)
	}
	if !(e.Terms < int64(3*l.Len())) || e.Terms < 45_000 {
		t.Errorf("%d terms for %d returns", e.Terms, l.Len())
	}
}

// TestClutterNear: for moves within the radius, rows outside of a neighbourhood have a residual below 1e-6, coordinates outside of it have no
// influence on its rows, and its bounds hold for them.
func TestClutterNear(t *testing.T) {
	m := crowd(3)
	x, values := sceneOf(t, m, 7)
	values = append(values, 101, 0)
	x[4], x[5] = x[0]+12, x[1]
	l := bound(t, m, values)
	r := rand.New(rand.NewPCG(6, 6))
	within := func(radius float64) []float64 {
		y := slices.Clone(x)
		for i := 0; i < 12; i += 4 {
			angle, size := 2*math.Pi*r.Float64(), radius*math.Sqrt(r.Float64())
			y[i] += size * math.Cos(angle)
			y[i+1] += size * math.Sin(angle)
			y[i+2] += r.NormFloat64()
		}
		return y
	}
	for order := 1; order <= 2; order++ {
		if _, ok := l.Expand(x, order); !ok {
			t.Fatal("no series")
		}
		for target := range 3 {
			block, last := Block{4 * target, 4*target + 4}, 0
			for _, radius := range []float64{0, 0.1, 2, 20} {
				n := l.Near(block, radius)
				rows, inside := []int32{}, make([]bool, l.points)
				for _, span := range n.Rows {
					for i := span[0]; i < span[1]; i++ {
						rows, inside[i] = append(rows, i), true
					}
				}
				if len(rows) < last || len(rows) == l.points || len(rows) < 500 {
					t.Errorf("target %d, radius %v: %d rows of %d, after %d", target, radius, len(rows), l.points, last)
				}
				last = len(rows)
				for s, far := 0, math.Sqrt(l.reach)+radius; s < 3; s++ {
					p, _ := position(x, s)
					if !slices.Contains(n.Coordinates, 4*s) && slices.ContainsFunc(rows, func(i int32) bool { return math.Hypot(l.sorted[i].x-p.x, l.sorted[i].y-p.y) < far }) {
						t.Errorf("target %d, radius %v: target %d is not among %v", target, radius, s, n.Coordinates)
					}
				}
				single := len(n.Coordinates) == 2
				if single != (target == 2 && radius < 20) {
					t.Errorf("target %d, radius %v: coordinates %v", target, radius, n.Coordinates)
				}
				if want := l.curvature(map[bool]int{true: 1, false: 2}[single], order); n.Curvature[order-1] != want {
					t.Errorf("target %d, radius %v: bound %v, want %v", target, radius, n.Curvature[order-1], want)
				}
				d, other := make([]float64, l.points), make([]float64, l.points)
				for range 6 {
					from := within(radius)
					to, elsewhere := slices.Clone(from), slices.Clone(from)
					copy(to[block.From:block.To], within(radius)[block.From:])
					l.Residuals(from, to, all(l)[:l.points], d)
					for i, v := range d {
						if !inside[i] && !(math.Abs(v) < 1e-6) {
							t.Fatalf("target %d, radius %v: row %d outside has the residual %v", target, radius, i, v)
						}
					}
					distance := func(y []float64) (sum float64) {
						for _, i := range n.Coordinates {
							sum += (y[i] - x[i]) * (y[i] - x[i])
						}
						return math.Sqrt(sum)
					}
					l.Residuals(x, to, rows, other)
					most, y := distance(to), n.Curvature[order-1]
					most = []float64{y * most * most / 2, y * most * most * most / 6}[order-1]
					for j, i := range rows {
						moved := slices.ContainsFunc(n.Coordinates, func(c int) bool { return c/4 != target })
						if v := other[j]; !moved && !(math.Abs(v) <= most+1e-6) {
							t.Fatalf("target %d, radius %v: row %d leaves %v, bound %v", target, radius, i, v, most)
						}
					}
					for i := range elsewhere {
						if !slices.Contains(n.Coordinates, i) {
							elsewhere[i] = within(radius)[i]
						}
					}
					swapped := slices.Clone(elsewhere)
					copy(swapped[block.From:block.To], to[block.From:block.To])
					l.Residuals(elsewhere, swapped, rows, other)
					for j, i := range rows {
						if !golden.Near(other[j], d[i], 0, 1e-6) {
							t.Fatalf("target %d, radius %v: a coordinate outside of the neighbourhood changes row %d from %v to %v", target, radius, i, d[i], other[j])
						}
					}
				}
			}
		}
	}
	if n := l.Near(Block{0, 12}, 1); len(n.Coordinates) != 6 {
		t.Errorf("all targets: %v", n.Coordinates)
	}
}

// TestClutterWithoutSeries: without returns of targets the series is 0; without clutter no row has a bound, and with one target the series of
// order 2 is exact; a target nowhere has none.
func TestClutterWithoutSeries(t *testing.T) {
	m := clutter3(0)
	x, values := sceneOf(t, m, 11)
	m.Returns.Rate = 0
	m.Outside = "drop"
	l := bound(t, m, values)
	e, ok := l.Expand(x, 2)
	if !ok || slices.ContainsFunc(slices.Concat(e.Gradient, e.Hessian), func(v float64) bool { return v != 0 }) || l.Curvature(1, 1) != 0 || len(l.Near(Block{0, 4}, 1).Rows) != 0 {
		t.Errorf("no returns of targets: ok %v, %v, bound %v", ok, e, l.Curvature(1, 1))
	}
	m.Outside = "keep"
	values = append(values, 120, 0)
	if _, ok := bound(t, m, values).Expand(x, 2); ok {
		t.Error("a series at a log-likelihood of -Inf")
	}
	m.Returns.Rate = 1500
	l = bound(t, m, values)
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		y := slices.Clone(x)
		y[5] = bad
		if _, ok := l.Expand(y, 1); ok {
			t.Errorf("a series at %v", bad)
		}
	}
	m.Background.Rate = 0
	m.Initial = m.Initial[:1]
	l = bound(t, m, values)
	if e, ok = l.Expand(x[:4], 2); !ok || e.Bounded != 0 || e.Terms < int64(l.Len()) {
		t.Errorf("no clutter: ok %v, %d rows with a bound, %d terms", ok, e.Bounded, e.Terms)
	}
	d := make([]float64, l.Len())
	l.Residuals(x[:4], []float64{x[0] + 0.3, x[1] - 2, 0, 0}, all(l), d)
	for i, v := range d {
		if !golden.Near(v, 0, 0, 1e-10) {
			t.Fatalf("one target without clutter: row %d leaves %v", i, v)
		}
	}
	empty := bound(t, m, nil)
	if e, ok := empty.Expand(x[:4], 2); !ok || e.Bounded != 0 || e.Gradient[0] != 0 || empty.Curvature(2, 1) != 0 {
		t.Errorf("no returns: ok %v, %v", ok, e)
	}
}

// BenchmarkClutterExpand is a pass, of both orders.
func BenchmarkClutterExpand(b *testing.B) {
	for _, factor := range []float64{1, 12, 118} {
		m := crowd(factor)
		x, values := sceneOf(b, m, 7)
		l := bound(b, m, values)
		for order := 1; order <= 2; order++ {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%d/%d/%d", len(values)/2, order, threads), func(b *testing.B) {
					l.SetPool(mcmc.NewPool(threads))
					for b.Loop() {
						l.Expand(x, order)
					}
				})
			}
		}
	}
}

// BenchmarkClutterResiduals is the time of a row, by the number of returns and of rows of a call, drawn from the neighbourhood of a target.
func BenchmarkClutterResiduals(b *testing.B) {
	for _, factor := range []float64{1, 4, 12, 35, 118} {
		m := crowd(factor)
		x, values := sceneOf(b, m, 7)
		l := bound(b, m, values)
		l.Expand(x, 2)
		n := l.Near(Block{0, 4}, 0.1)
		r := rand.New(rand.NewPCG(1, 1))
		y := slices.Clone(x)
		y[0] += 0.01
		for _, size := range []int{1, 5, 50, 500} {
			b.Run(fmt.Sprintf("%d/%d", len(values)/2, size), func(b *testing.B) {
				rows := make([]int32, 1<<16)
				for i := range rows {
					span := n.Rows[r.IntN(len(n.Rows))]
					rows[i] = span[0] + int32(r.IntN(int(span[1]-span[0])))
				}
				d, at := make([]float64, size), 0
				b.ReportAllocs()
				for b.Loop() {
					l.Residuals(x, y, rows[at:at+size], d)
					if at += size; at+size > len(rows) {
						at = 0
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/row")
			})
		}
	}
}
