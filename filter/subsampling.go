package filter

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// subsampling is the decider of a chain whose decisions are made by some of the rows (Subsample).
type subsampling struct {
	Subsample
	c      *chain
	rule   bernstein
	synced bool // the likelihood's state is the chain's
	summed bool // the last decision was made by the sum

	// What x⁺ decides.
	like        ssm.Expandable
	near        ssm.Localised // nil: all rows
	coordinates []int         // on which the likelihood depends
	targets     [][]int       // those of each block of the chain
	free        []int32       // the rows without a bound
	regions     []*region     // found so far

	// The present decision.
	region  *region
	spread  float64 // R
	shuffle shuffle
	rows    ssm.Stream // which rows are drawn
	opened  rng.Key    // of the stream
	list    []int32
	d       []float64
}

// region is where the decisions on a block draw their rows while all states are within 2^level of x⁺.
type region struct {
	block       ssm.Block
	level       int
	ranges      []span
	n           int   // rows
	coordinates []int // on which their residuals depend
	curvature   float64
	most        int     // rows that a decision looks at
	closest     float64 // c/R of its last round if V = 0
}

// span is a range of rows; before it are so many rows of the region.
type span struct{ before, from int32 }

func (s *subsampling) expanded(c *chain) {
	s.like, s.regions = c.newton.like, s.regions[:0]
	if s.near = nil; s.Rows == NearRows {
		s.near, _ = s.like.(ssm.Localised)
	}
	s.coordinates = coordinatesOf(s.like, len(c.x))
	s.targets = s.targets[:0]
	for _, b := range c.blocks {
		var list []int
		for _, i := range s.coordinates {
			if b.From <= i && i < b.To {
				list = append(list, i)
			}
		}
		s.targets = append(s.targets, list)
	}
	s.free = s.free[:0]
	for i := c.plus.Bounded; i < s.like.Len(); i++ {
		s.free = append(s.free, int32(i))
	}
	s.d = append(s.d[:0], make([]float64, len(s.free))...)
}

func (s *subsampling) keep(c *chain) {
	if s.synced = s.summed; s.summed {
		c.like.Keep()
	}
}

func (s *subsampling) decide(c *chain, b ssm.Block, logU, rest float64) (bool, float64) {
	logR, seen, decided := s.sample(b, logU, rest)
	c.residuals += int64(seen)
	if c.looked = (rate{sampled: 1, of: int64(s.like.Len()), rows: int64(seen)}); !decided {
		if !s.synced {
			c.like.Set(c.x)
			s.synced = true
		}
		logR = c.try(b) + rest
		c.looked.rows, c.looked.summed = c.looked.of, 1
	}
	s.summed = !decided
	return logU < logR, logR // NaN is refused
}

// sample decides by some of the rows, and returns what is known of log r and the number of rows that it has seen. decided is false if the
// sum has to decide.
func (s *subsampling) sample(b ssm.Block, logU, rest float64) (logR float64, seen int, decided bool) {
	r := s.find(b)
	if r == nil || r.n <= len(s.free) {
		return 0, 0, false
	}
	s.region, s.spread = r, s.bound(r)
	if !(s.spread <= math.MaxFloat64) {
		return 0, 0, false
	}
	linear, quadratic := s.proxy()
	logR = rest + linear
	expected := quadratic // of the residuals
	if s.c.order == 2 {
		logR, expected = logR+quadratic, 0
	}
	if seen = len(s.free); seen > 0 {
		d := s.d[:seen]
		s.like.Residuals(s.c.x, s.c.y, s.free, d)
		for _, v := range d {
			logR += v
		}
	}
	n := float64(r.n)
	psi := (logU - logR) / n
	if !(float64(r.closest*s.spread) <= math.Abs(psi-expected/n)) { // NaN: a state could not have given a row
		return 0, seen, false
	}
	s.shuffle.begin(r.n)
	mean, drawn, decided := s.rule.above(s, r.most, s.spread, psi)
	return logR + float64(n*mean), seen + drawn, decided
}

// find returns the region of the present decision; nil if there is none, because a state is not finite.
func (s *subsampling) find(b ssm.Block) *region {
	far := 0.0
	if s.near == nil {
		b = ssm.Block{}
		far = max(s.distance(s.coordinates, s.c.x), s.distance(s.coordinates, s.c.y))
	} else {
		for _, list := range s.targets {
			far = max(far, s.distance(list, s.c.x), s.distance(list, s.c.y)) // NaN if one is
		}
	}
	if !(far <= math.MaxFloat64) {
		return nil
	}
	_, level := math.Frexp(far)
	for _, r := range s.regions {
		if r.level == level && r.block == b {
			return r
		}
	}
	r := s.newRegion(b, level)
	s.regions = append(s.regions, r)
	return r
}

func (s *subsampling) newRegion(b ssm.Block, level int) *region {
	r := &region{block: b, level: level}
	rows, radius := [][2]int32{{0, int32(s.c.plus.Bounded)}}, math.Ldexp(1, level)
	if s.near == nil {
		r.coordinates, r.curvature = s.coordinates, s.like.Curvature(s.c.order, radius)
	} else {
		n := s.near.Near(b, radius)
		rows, r.coordinates, r.curvature = n.Rows, n.Coordinates, n.Curvature[s.c.order-1]
	}
	for _, v := range rows {
		r.ranges = append(r.ranges, span{int32(r.n), v[0]})
		r.n += int(v[1] - v[0])
	}
	r.most = min(r.n-1, max(1, int(float64(s.GiveUp*float64(r.n))+1e-9)))
	r.closest = s.rule.closest(r.most)
	return r
}

// distance is the distance of a state from x⁺ in some coordinates.
func (s *subsampling) distance(coordinates []int, x []float64) float64 {
	sum, plus := 0.0, s.c.plus.at
	for _, i := range coordinates {
		v := x[i] - plus[i]
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

// bound is R of the present decision.
func (s *subsampling) bound(r *region) float64 {
	from, to, step := s.distance(r.coordinates, s.c.x), s.distance(r.coordinates, s.c.y), 0.0
	for _, i := range r.coordinates {
		v := s.c.y[i] - s.c.x[i]
		step += float64(v * v)
	}
	step = math.Sqrt(step)
	if s.c.order == 1 {
		return float64(r.curvature * min(float64(from*from)+float64(to*to), float64(step*(from+to))))
	}
	square := float64(from*from) + float64(to*to)
	return r.curvature / 3 * min(float64(from*from*from)+float64(to*to*to), float64(step*(square+float64(from*to))))
}

// proxy is proxy(x*) − proxy(x) of all rows together, g·s + sᵀ H (δ + δ*)/2 with the step s: its two parts.
func (s *subsampling) proxy() (linear, quadratic float64) {
	x, y, at, d := s.c.x, s.c.y, s.c.plus.at, len(s.c.x)
	for _, i := range s.coordinates {
		step := y[i] - x[i]
		if step == 0 {
			continue
		}
		linear += float64(step * s.c.plus.Gradient[i])
		bend := 0.0
		for _, j := range s.coordinates {
			bend += float64(s.c.plus.Hessian[i*d+j] * ((x[j] - at[j]) + (y[j] - at[j])))
		}
		quadratic += float64(0.5 * step * bend)
	}
	return linear, quadratic
}

// next implements drawn.
func (s *subsampling) next(n int) []float64 {
	key := s.c.key
	if key.Purpose = rng.Rows; key != s.opened {
		s.rows, s.opened = *key.Stream(), key
	}
	s.list = s.list[:0]
	for range n {
		s.list = append(s.list, s.region.row(s.shuffle.next(&s.rows)))
	}
	if n > len(s.d) {
		s.d = make([]float64, 2*n)
	}
	d := s.d[:n]
	s.like.Residuals(s.c.x, s.c.y, s.list, d)
	most := float64(0.5*s.spread*(1+looseness)) + harmless/float64(s.region.n)
	for j, v := range d {
		if !(math.Abs(v) <= most) {
			s.c.fault = fmt.Errorf("row %d of the Taylor series has a residual of %.6g, and the bounds of the model's likelihood allow %.6g (order %d, %.6g within %.6g of x⁺): "+
				"Curvature, or that of Near, is too small: correct it, or take decide: all",
				s.list[j], v, 0.5*s.spread, s.c.order, s.region.curvature, math.Ldexp(1, s.region.level))
			return nil
		}
	}
	return d
}

// A residual may be above the bound by what rounding makes of it.
const (
	looseness = 1e-6 // of the bound
	harmless  = 1e-3 // nats of all rows together
)

// row is row i of the region.
func (r *region) row(i int32) int32 {
	low, high := 0, len(r.ranges)-1
	for low < high {
		if mid := (low + high + 1) / 2; r.ranges[mid].before <= i {
			low = mid
		} else {
			high = mid - 1
		}
	}
	v := &r.ranges[low]
	return v.from + i - v.before
}
