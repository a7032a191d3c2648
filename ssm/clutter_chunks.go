package ssm

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// mostPeak bounds c.
const mostPeak = 0x1p100

func newClutterLikelihood(m Clutter, values []float64) *clutterLikelihood {
	l := &clutterLikelihood{model: m, targets: len(m.Initial), all: m.Evaluate == "all", uniform: math.Inf(-1), reach: -1}
	l.peak = rng.Log(m.Returns.Rate) - log2Pi - float64(2*rng.Log(m.Returns.SD))
	if m.Background.Rate > 0 {
		l.uniform = rng.Log(m.Background.Rate) - rng.Log(m.area())
	}
	ratio := l.peak - l.uniform // log c; NaN if both are −Inf
	crowded := ratio <= rng.Log(mostPeak)
	drop := m.Outside == "drop" && m.Background.Rate > 0

	n := len(values) / 2
	l.z = make([]point, 0, n)
	inside := make([]point, 0, n)
	for i := range n {
		z := point{values[2*i], values[2*i+1]}
		in := l.inRegion(z)
		if drop && !in {
			if l.dropped == 0 {
				l.rows = make([]int32, i, n)
				for k := range l.rows {
					l.rows[k] = int32(k)
				}
			}
			l.dropped++
			continue
		}
		if l.dropped > 0 {
			l.rows = append(l.rows, int32(i))
		}
		l.z = append(l.z, z)
		if in && crowded {
			inside = append(inside, z)
		} else {
			l.bare = append(l.bare, z)
		}
	}
	slices.SortFunc(l.bare, compare)
	mu := m.Background.Rate + float64(float64(l.targets)*m.Returns.Rate)
	l.constant = -mu - rng.LogGamma(float64(len(l.z)+1))
	if len(inside) > 0 {
		l.constant += float64(float64(len(inside)) * l.uniform)
		l.chunks(inside, ratio)
	}
	l.at, l.trial, l.now = make([]point, l.targets), make([]point, l.targets), make([]point, l.targets)
	l.scratch = make([]float32, l.targets*perChunk)
	for r := range l.targets {
		l.every = append(l.every, int32(r))
	}
	return l
}

// chunks sorts points into cells and makes the chunks.
func (l *clutterLikelihood) chunks(points []point, ratio float64) {
	l.points, l.sorted, l.cells, l.ratio, l.c = len(points), points, sortIntoCells(points), ratio, float32(rng.Exp(ratio))
	n := l.cells.chunks
	l.middles, l.sums = make([]point, n), make([]float64, n)
	l.xy, l.terms = lanes.Make(n*2*perChunk), lanes.Make(n*l.targets*perChunk)
	sd := l.model.Returns.SD
	if squared := 2 * (ratio + float64(25*math.Ln2)); squared >= 0 {
		l.reach = float64(squared * float64(sd*sd))
	}
	l.cells.widen(func(c int) float64 {
		own := l.own(c)
		b := boxOf(own)
		o := point{b.x0 + float64(0.5*(b.x1-b.x0)), b.y0 + float64(0.5*(b.y1-b.y0))}
		l.middles[c] = o
		x, y := l.chunk(c)
		for i := range x {
			x[i], y[i] = inf32, inf32 // beyond the last point, where every term is 0
			if i < len(own) {
				p := l.relative(own[i], o)
				x[i], y[i] = float32(p.x), float32(p.y)
			}
		}
		return 0x1p-20 * (max(b.x1-b.x0, b.y1-b.y0) + sd)
	})
}

var inf32 = float32(math.Inf(1))

// relative is a place in standard deviations from o. Beyond 1e30 it does not matter where it is, if it is finite.
func (l *clutterLikelihood) relative(p, o point) point {
	sd := l.model.Returns.SD
	return point{max(min((p.x-o.x)/sd, 1e30), -1e30), max(min((p.y-o.y)/sd, 1e30), -1e30)}
}

// chunk returns the coordinates of a chunk.
func (l *clutterLikelihood) chunk(c int) (x, y []float32) {
	xy := l.xy[2*perChunk*c:][:2*perChunk]
	return xy[:perChunk], xy[perChunk:]
}

// count is the number of points of a chunk.
func (l *clutterLikelihood) count(c int) int { return min(perChunk, l.points-c*perChunk) }

// own returns the returns of a chunk.
func (l *clutterLikelihood) own(c int) []point { return l.sorted[c*perChunk:][:l.count(c)] }

func (l *clutterLikelihood) inRegion(z point) bool {
	g := &l.model.Background.Region
	return l.model.Background.Rate > 0 && g[0] <= z.x && z.x <= g[1] && g[2] <= z.y && z.y <= g[3]
}
