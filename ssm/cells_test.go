package ssm

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// clouds are sets of points that trees find hard, and one that they do not.
func clouds(r *rand.Rand, n int) map[string][]point {
	sets := map[string][]point{}
	for name, draw := range map[string]func(i int) point{
		"normal":  func(int) point { return point{100 * r.NormFloat64(), r.NormFloat64()} },
		"sorted":  func(i int) point { return point{float64(i), float64(-i)} },
		"equal":   func(int) point { return point{3, 4} },
		"lattice": func(int) point { return point{float64(r.IntN(5)), float64(r.IntN(9))} },
		"line":    func(int) point { return point{7, r.Float64()} },
		"far":     func(i int) point { return point{math.Exp(30 * r.NormFloat64()), 1e300 * r.Float64()} },
	} {
		for i := range n {
			sets[name] = append(sets[name], draw(i))
		}
	}
	return sets
}

func TestCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 255, 256, 257, 511, 513, 3000} {
		for name, points := range clouds(r, n) {
			other := slices.Clone(points)
			r.Shuffle(n, func(i, j int) { other[i], other[j] = other[j], other[i] })
			all := slices.Clone(points)
			slices.SortFunc(all, compare)
			tr, again := sortIntoCells(points), sortIntoCells(other)
			if !slices.Equal(points, other) || !slices.Equal(tr.nodes, again.nodes) {
				t.Errorf("%s: another order of %d points gives other cells", name, n)
			}
			if want := (n + perChunk - 1) / perChunk; tr.chunks != want {
				t.Errorf("%s: %d points in %d chunks, want %d", name, n, tr.chunks, want)
			}
			sorted := slices.Clone(points)
			slices.SortFunc(sorted, compare)
			if !slices.Equal(sorted, all) {
				t.Errorf("%s: %d points are no longer the same ones", name, n)
			}
			tr.widen(func(int) float64 { return 0.5 })
			for range 20 {
				places := []point{points[r.IntN(n)], {points[r.IntN(n)].x + 3, 200 * r.NormFloat64()}}[:1+r.IntN(2)]
				reach := 5 * r.Float64()
				var want []int32
				for c := range tr.chunks {
					b := boxOf(points[c*perChunk : min((c+1)*perChunk, n)])
					b = box{b.x0 - 0.5, b.x1 + 0.5, b.y0 - 0.5, b.y1 + 0.5}
					if slices.ContainsFunc(places, func(p point) bool { return b.squared(p) <= reach*reach }) {
						want = append(want, int32(c))
					}
				}
				if have := tr.within(places, reach*reach, nil); !slices.Equal(have, want) {
					t.Fatalf("%s: within %v of %v are the chunks %v, want %v", name, reach, places, have, want)
				}
			}
		}
	}
	if tr := sortIntoCells(nil); tr.chunks != 0 || len(tr.within([]point{{0, 0}}, 1e300, nil)) != 0 {
		t.Error("no points have cells")
	}
}

func TestBoxDistance(t *testing.T) {
	b := box{1, 3, -2, 5}
	for p, want := range map[point]float64{{2, 0}: 0, {1, 5}: 0, {0, 0}: 1, {5, 0}: 4, {2, 8}: 9, {0, -3}: 2,
		{math.Inf(1), 0}: math.Inf(1)} {
		if have := b.squared(p); have != want {
			t.Errorf("squared distance of %v is %v, want %v", p, have, want)
		}
	}
}

// TestClutterMemory: a likelihood holds at most 120 bytes a return, with all the terms of three targets and of a proposal.
func TestClutterMemory(t *testing.T) {
	factor := 118.
	if testing.Short() || testkit.Race {
		factor = 12
	}
	m := crowd(factor)
	m.Evaluate = "all"
	x, values := sceneOf(t, m, 7)
	y := slices.Clone(x)
	for i := range y {
		y[i]++
	}
	bytes := memoryOf(func() any {
		l := bound(t, m, values)
		l.Set(x)
		l.Try(y, Block{0, m.Dim()})
		l.Keep()
		return l
	}) / float64(len(values)/2)
	runtime.KeepAlive(values)
	t.Logf("%d returns: %.1f bytes each", len(values)/2, bytes)
	if bytes > 120 {
		t.Errorf("%d returns take %.0f bytes each", len(values)/2, bytes)
	}
}
