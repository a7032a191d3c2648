package ssm

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Informed implements Informed: the positions.
func (l *clutterLikelihood) Informed() []int {
	list := make([]int, 0, 2*l.targets)
	for r := range l.targets {
		list = append(list, 4*r, 4*r+1)
	}
	return list
}

// Expand implements Expandable.
func (l *clutterLikelihood) Expand(x []float64, order int) (e Expansion, ok bool) {
	if l.series == nil {
		l.series = &clutterSeries{at: make([]point, l.targets), from: make([]point, l.targets), to: make([]point, l.targets),
			steps: make([]targetStep, l.targets), bare: make([]float64, l.targets)}
	}
	s := l.series
	s.order = order
	evaluated, skipped := l.evaluated, l.skipped
	e.Value = l.LogLik(x, nil)
	e.Terms, l.evaluated, l.skipped = l.evaluated-evaluated, evaluated, skipped
	positions(x, s.at)
	l.findShares()
	for _, c := range s.chunks {
		e.Terms += int64(l.count(int(c)))
	}
	e.Terms += int64(len(l.bare))
	e.Bounded = l.points
	sums := l.sumShares(order)
	d, sd := 4*l.targets, l.model.Returns.SD
	e.Gradient = make([]float64, d)
	ok = isFinite(e.Value)
	for _, p := range s.at {
		ok = ok && isFinite(p.x) && isFinite(p.y)
	}
	coordinate := func(i int) int { return i/2*4 + i%2 }
	n := 2 * l.targets
	for i, v := range sums[:n] {
		e.Gradient[coordinate(i)] = v / sd
		ok = ok && isFinite(v/sd)
	}
	if order == 2 {
		e.Hessian = make([]float64, d*d)
		for i := range n {
			for j := range i + 1 {
				v := sums[n+i*n+j] / sd / sd
				e.Hessian[coordinate(i)*d+coordinate(j)], e.Hessian[coordinate(j)*d+coordinate(i)] = v, v
				ok = ok && isFinite(v)
			}
		}
	}
	return e, ok
}

// findShares sets which targets are within reach of which chunk, and makes room for their shares.
func (l *clutterLikelihood) findShares() {
	s, n := l.series, 0
	if l.cells != nil {
		n = l.cells.chunks
	}
	counts := make([]int, n+1)
	lists := make([][]int32, l.targets)
	for r, p := range s.at {
		if n > 0 && !math.IsInf(p.x, 0) && !math.IsInf(p.y, 0) {
			lists[r] = l.cells.within([]point{p}, l.reach, nil)
		}
		for _, c := range lists[r] {
			counts[c]++
		}
	}
	s.start, s.base, s.chunks = make([]int, n+1), make([]int, n+1), s.chunks[:0]
	for c := range n {
		s.start[c+1] = s.start[c] + counts[c]
		s.base[c+1] = s.base[c] + counts[c]*l.count(c)
		if counts[c] > 0 {
			s.chunks = append(s.chunks, int32(c))
		}
	}
	s.target = make([]int32, s.start[n])
	clear(counts)
	for r, list := range lists {
		for _, c := range list {
			s.target[s.start[c]+counts[c]] = int32(r)
			counts[c]++
		}
	}
	if size := s.base[n] + len(l.bare)*l.targets; size > cap(s.shares) {
		s.shares = make([]float64, size)
	} else {
		s.shares = s.shares[:size]
	}
}

// sumShares sets the shares and returns Σ ρ_r a_r, two numbers a target, and for order 2 behind it the sum of the matrix in the second
// formula of clutterSeries, its lower triangle. Pieces of chunks are summed apart, so that the number of threads changes no bit.
func (l *clutterLikelihood) sumShares(order int) []float64 {
	s, n := l.series, 2*l.targets
	size := n
	if order == 2 {
		size += n * n
	}
	pieces := (len(s.chunks) + chunksEach - 1) / chunksEach
	s.parts = append(s.parts[:0], make([]float64, (pieces+1)*size)...)
	piece := func(i int) {
		sums := s.parts[(i+1)*size:][:size]
		for _, c := range s.chunks[i*chunksEach : min((i+1)*chunksEach, len(s.chunks))] {
			l.expandChunk(int(c), sums)
		}
	}
	if l.pool == nil || pieces < 2 {
		for i := range pieces {
			piece(i)
		}
	} else {
		l.pool.Run(pieces, piece)
	}
	total := s.parts[:size]
	for i := range l.bare {
		l.expandBare(i, total)
	}
	for i := range pieces {
		for k, v := range s.parts[(i+1)*size:][:size] {
			total[k] += v
		}
	}
	return total
}

// expandChunk sets the shares of a chunk and adds its sums.
func (l *clutterLikelihood) expandChunk(c int, sums []float64) {
	s, sd := l.series, l.model.Returns.SD
	targets := s.target[s.start[c]:s.start[c+1]]
	shares := s.shares[s.base[c]:s.base[c+1]]
	for _, z := range l.own(c) {
		own := shares[:len(targets)]
		shares = shares[len(targets):]
		g := 1.0
		for k, r := range targets {
			own[k] = l.weight(z, s.at[r], sd)
			g += own[k]
		}
		for k := range own {
			own[k] /= g
		}
		addShares(sums, targets, own, z, s.at, sd)
	}
}

// weight is w_r of a return.
func (l *clutterLikelihood) weight(z, at point, sd float64) float64 {
	dx, dy := (z.x-at.x)/sd, (z.y-at.y)/sd
	return rng.Exp(l.ratio - float64(0.5*(float64(dx*dx)+float64(dy*dy))))
}

// expandBare is expandChunk of a return that is not in the cells. Its weights are known by their logarithms alone.
func (l *clutterLikelihood) expandBare(i int, sums []float64) {
	s, z := l.series, l.bare[i]
	shares := s.shares[s.base[len(s.base)-1]+i*l.targets:][:l.targets]
	l.logShares(z, s.at, shares)
	addShares(sums, l.every, shares, z, s.at, l.model.Returns.SD)
}

// logShares sets shares to ρ of a return, by the logarithms of its weights. They are not finite where its density is 0.
func (l *clutterLikelihood) logShares(z point, at []point, shares []float64) {
	sd := l.model.Returns.SD
	top, clutter := math.Inf(-1), math.Inf(-1)
	if l.inRegion(z) {
		clutter = l.uniform
		top = clutter
	}
	for r, p := range at {
		dx, dy := (z.x-p.x)/sd, (z.y-p.y)/sd
		shares[r] = l.peak - float64(0.5*(float64(dx*dx)+float64(dy*dy)))
		top = max(top, shares[r])
	}
	sum := rng.Exp(clutter - top)
	for r, v := range shares {
		shares[r] = rng.Exp(v - top)
		sum += shares[r]
	}
	for r := range shares {
		shares[r] /= sum
	}
}
