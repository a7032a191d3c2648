package filter

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// A chain starts at a draw of the prediction. Where the prediction is wide beside the noise of the measurements, the draw is far from
// them, the likelihood is flat there, and no step of a walk leads to them. So a start is also sought where the measurements are densest
// (ssm.Finder). A target that explains fewer than half of its mean number of measurements at the draw is put to each of the densest places in
// turn, with the particle of the scan before whose draw was nearest, and with its other coordinates given the place. Of all these states
// and the draw, the one of highest posterior density p(z | x) p(x | f(a)) is the start; a second round sees where the first has put the
// others.
//
// This leaves the law of the chain alone: a start is no draw of it, and the burn-in forgets it. What a start decides is in which of several modes
// a chain stays that does not cross between them. A chain with ancestors: joint starts at the draw, as the paper's.

const (
	fewest     = 0.5 // a target that explains less than this share of its measurements is sought
	mostPlaces = 16  // places that are tried for a target
	rounds     = 2
	moreStarts = 8 // times as many particles as a filter has, before the first scan
)

// The streams of a scan beside those of its decisions, as the field Mutation.
const (
	begunAt   = iota // the start itself
	tunedAt          // draws of the prediction whose spread a walk begins with
	soughtAt         // one for each particle, where a start is sought
	startsAt         // particles before the first scan: the same in all passes of a node
	weighedAt        // draws that estimate the evidence (guided.go)
	stillAt          // draws that tell a coordinate that stands still from a chain that accepts nothing (still.go)
)

// widen takes more draws of the model's start as the particles before the first scan. Where the start is wide beside what the scan tells, a
// filter's own particles leave few ancestors. They are as many as the filter has, since it keeps no more of a scan; before the first,
// any number is to be had.
func (c *chain) widen(start func(s *ssm.Stream, x []float64)) {
	if _, ok := own(c.like).(ssm.Finder); !ok || !c.apart {
		return
	}
	d, key := len(c.x), c.key
	key.Mutation = startsAt
	s := key.Stream()
	from := make([]float64, moreStarts*c.n*d)
	copy(from, c.from)
	for a := c.n; a < moreStarts*c.n; a++ {
		start(s, from[a*d:(a+1)*d])
	}
	c.from, c.n = from, moreStarts*c.n
}

// seek moves the start of a chain to where the targets' measurements are.
func (c *chain) seek() {
	finder, ok := own(c.like).(ssm.Finder)
	if !ok || !c.apart {
		return
	}
	var places [][]float64
	var draws []float64
	want, have := fewest*finder.Expected(), make([]float64, len(c.groups))
	for range rounds {
		finder.Explained(c.x, have)
		if slices.Min(have) >= want {
			return
		}
		if draws == nil {
			places, draws = finder.Places(mostPlaces), c.predictions()
		}
		for g, b := range c.groups {
			if have[g] < want {
				c.put(g, b, draws, places)
			}
		}
	}
}

// predictions draws the state that each particle leads to.
func (c *chain) predictions() []float64 {
	d := len(c.x)
	key := c.at(soughtAt)
	key.Purpose = rng.Predict
	draws, s := make([]float64, c.n*d), key.Stream()
	for a := range c.n {
		c.tr.Sample(s, c.from[a*d:(a+1)*d], draws[a*d:(a+1)*d])
	}
	return draws
}

// put moves a target to the place where the posterior density of the state is highest, if it is higher than now.
func (c *chain) put(g int, b ssm.Block, draws []float64, places [][]float64) {
	d, best := len(c.x), 0.0
	found, from := append([]float64(nil), c.x...), c.a[g]
	for _, p := range places {
		at := b.From + len(p)
		a, nearest := 0, math.Inf(1)
		for j := range c.n {
			squared := 0.0
			for i, v := range p {
				u := draws[j*d+b.From+i] - v
				squared += float64(u * u)
			}
			if squared < nearest {
				a, nearest = j, squared
			}
		}
		copy(c.y, c.x)
		copy(c.y[b.From:b.To], draws[a*d+b.From:a*d+b.To])
		c.given(b.From, at, b.To, p)
		copy(c.other, c.before)
		c.take(c.other, g, int32(a))
		gain := c.tr.LogDensity(c.other, c.y) - c.logPrior() + c.gain()
		if gain += c.like.Try(c.y, b); gain > best { // NaN is not above
			best, from = gain, int32(a)
			copy(found, c.y)
		}
	}
	if best > 0 {
		copy(c.x, found)
		c.a[g] = from
		c.take(c.before, g, from)
		c.prior = math.NaN()
		c.like.Set(c.x)
	}
}

// given moves coordinates from … at − 1 of the proposal, a draw, to a place, and those from at to to with them: for a Gaussian transition by
// their regression on the place, so that they are a draw given the place.
func (c *chain) given(from, at, to int, place []float64) {
	if g, ok := c.tr.(ssm.Gaussian); ok {
		_, q := g.Gaussian()
		regress(q, len(c.y), from, at, to, place, c.y)
		return
	}
	copy(c.y[from:at], place)
}

// regress moves coordinates from … at − 1 of x to a place, and those from at to to by their regression on them, with a d×d covariance. If that
// of the place is singular, the others stay.
func regress(cov []float64, d, from, at, to int, place, x []float64) {
	n := at - from
	shift := make([]float64, n)
	for i, v := range place {
		shift[i] = v - x[from+i]
		x[from+i] = v
	}
	factor := make([]float64, n*n)
	for i := range n {
		copy(factor[i*n:(i+1)*n], cov[(from+i)*d+from:])
	}
	if !dense.Cholesky(factor, n) {
		return
	}
	dense.Solve(factor, shift)
	for i := at; i < to; i++ {
		for l, v := range shift {
			x[i] += float64(cov[i*d+from+l] * v)
		}
	}
}

// looks is the number of a chain's states in which the measurements of each target are counted.
const looks = 2

// look counts the measurements that each target explains.
func (c *chain) look() {
	finder, ok := own(c.like).(ssm.Finder)
	if !ok || finder.Len() == 0 {
		return
	}
	n := make([]float64, len(c.blocks))
	finder.Explained(c.x, n)
	if c.explained == nil {
		c.explained = make([]float64, len(n))
	}
	for r, v := range n {
		c.explained[r] += float64(v / looks)
	}
}

// explain adds to an Info how many measurements each target explains in one filter, of the mean number that is expected: in the filter where they
// are fewest.
func (info *Info) explain(expected float64, counts []float64) {
	for r, n := range counts {
		if len(info.Explained) == r {
			info.Explained, info.Lost = append(info.Explained, n), append(info.Lost, false)
		}
		info.Explained[r] = min(info.Explained[r], n)
		info.Lost[r] = lost(info.Explained[r], expected)
	}
}

// lost reports whether a target that explains so many measurements has lost them: fewer than half of the mean number, and a Poisson number
// is so small with probability below 1e-6 (Chernoff's bound).
func lost(explained, mean float64) bool {
	n := max(explained, 0)
	excess := mean - n
	if n > 0 {
		excess += float64(n * rng.Log(n/mean))
	}
	return n < fewest*mean && excess > 13.8
}
