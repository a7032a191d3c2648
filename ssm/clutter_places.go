package ssm

import (
	"cmp"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Expected implements Finder.
func (l *clutterLikelihood) Expected() float64 { return l.model.Returns.Rate }

// Explained implements Finder: the share of return i that belongs to target r is λ_X N(z_i; position_r, sd² I) over the return's density.
func (l *clutterLikelihood) Explained(x, n []float64) {
	at := l.now
	positions(x, at)
	terms, counts := make([]float64, len(at)), make([]int64, len(at))
	for _, z := range l.z {
		top, near := math.Inf(-1), false
		for r, p := range at {
			dx, dy := (z.x-p.x)/l.model.Returns.SD, (z.y-p.y)/l.model.Returns.SD
			half := float64(0.5 * (float64(dx*dx) + float64(dy*dy)))
			terms[r] = l.peak - half
			top, near = max(top, terms[r]), near || half < explains
		}
		if !near {
			continue
		}
		sum := 0.0
		if l.inRegion(z) {
			top = max(top, l.uniform)
			sum = rng.Exp(l.uniform - top)
		}
		for r, t := range terms {
			if terms[r] = 0; t > top-40 {
				terms[r] = rng.Exp(t - top)
			}
			sum += terms[r]
		}
		for r, t := range terms {
			counts[r] += int64(unit * (t / sum))
		}
	}
	for r, v := range counts {
		n[r] = float64(v) / unit
	}
}

// unit is a return in the fixed point of a sum of shares, which does not depend on the order of the returns.
const unit = 1 << 32

// explains is half of the squared distance, in standard deviations, beyond which a return is no target's.
const explains = 50

const (
	cellSide = 3 // of a cell of returns, in standard deviations
	window   = 2 // returns within so many standard deviations of a place count for it
	shifts   = 5 // of a place to the mean of its window
)

// Places implements Finder. Returns are counted in square cells. From the mean of each of the fullest cells a place moves to the mean of the
// returns around it, a few times (mean shift), and counts them. Places whose windows overlap are one, the first.
func (l *clutterLikelihood) Places(most int) [][]float64 {
	type cell struct {
		x, y float64
		n    int
		sum  point
	}
	sd := l.model.Returns.SD
	in := func(z point) cell {
		return cell{x: math.Floor(z.x / (cellSide * sd)), y: math.Floor(z.y / (cellSide * sd))}
	}
	before := func(a, b cell) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) }
	points := slices.Clone(l.z)
	slices.SortFunc(points, func(p, q point) int { return cmp.Or(before(in(p), in(q)), compare(p, q)) })
	var cells []cell
	for _, z := range points {
		c := in(z)
		if len(cells) == 0 || before(cells[len(cells)-1], c) != 0 {
			cells = append(cells, c)
		}
		last := &cells[len(cells)-1]
		last.n, last.sum = last.n+1, point{last.sum.x + z.x, last.sum.y + z.y}
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return b.n - a.n })
	var places []cell // with the place as its sum
	known := func(p point) bool {
		return slices.ContainsFunc(places, func(q cell) bool { return math.Hypot(p.x-q.sum.x, p.y-q.sum.y) < 2*window*sd })
	}
	for _, c := range cells {
		p, n := point{c.sum.x / float64(c.n), c.sum.y / float64(c.n)}, 0
		if len(places) == most {
			break
		}
		if known(p) {
			continue
		}
		for range shifts {
			var sum point
			n = 0
			for _, z := range points {
				if dx, dy := z.x-p.x, z.y-p.y; float64(dx*dx)+float64(dy*dy) <= float64(window*window*sd)*sd {
					n, sum = n+1, point{sum.x + z.x, sum.y + z.y}
				}
			}
			if n == 0 {
				break
			}
			p = point{sum.x / float64(n), sum.y / float64(n)}
		}
		if !known(p) {
			places = append(places, cell{n: n, sum: p})
		}
	}
	slices.SortStableFunc(places, func(a, b cell) int { return b.n - a.n })
	var list [][]float64
	for _, p := range places {
		list = append(list, []float64{p.sum.x, p.sum.y})
	}
	return list
}
