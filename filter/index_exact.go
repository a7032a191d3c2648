package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// ExactIndex draws the index from its conditional law P(a) ∝ p(x | f(a)) (sequential-mcmc-massive-data, section 2.1, eq. 28): a Gibbs step,
// always accepted.
type ExactIndex struct {
	Draw Draw `yaml:",short"` // empty: Rejection
}

// Draw is a way to draw the index. The law is the same.
type Draw string

const (
	// Rejection draws uniform indices and accepts one with probability p(x | f(a))/max, for transitions with a known maximum
	// (ssm.Bounded). After N/8 refusals, N/(16 P) where each of P targets has an index, and for other transitions, it computes all N probabilities. Whether they are computed
	// depends on the refused indices alone, which say nothing about the next draw: the law is the same. (Dau and Chopin 2023
	// bound the cost of backward smoothing in this way.)
	Rejection Draw = "rejection"
	// Scan computes all N probabilities for each draw.
	Scan Draw = "scan"
)

// Defaults implements config.Defaulter.
func (e *ExactIndex) Defaults() {
	if e.Draw == "" {
		e.Draw = Rejection
	}
}

// Check implements config.Checker.
func (e ExactIndex) Check(f *config.Faults) {
	if e.Draw != "" {
		f.OneOf("", string(e.Draw), string(Rejection), string(Scan))
	}
}

// Examples implements config.Exampler.
func (ExactIndex) Examples() []string { return []string{string(Scan)} }

func (ExactIndex) changes() bool { return true }

func (e ExactIndex) index(c *chain) {
	s := c.stream(indexAt)
	if c.shift(s) {
		return
	}
	if c.exact == nil {
		c.exact = newExactIndex(c)
	}
	for g := range c.groups {
		c.exact.at(g)
		a, ok := int32(0), false
		if e.Draw != Scan && c.exact.bounded {
			a, ok = c.exact.reject(s)
		}
		if !ok {
			a = c.exact.scan(s)
		}
		if a != c.a[g] {
			c.take(c.before, g, a)
			c.a[g], c.prior = a, math.NaN()
		}
	}
}

// exactIndex computes p(x | f(a)) for the particles of a scan and one x after another, up to a factor that is the same for all
// particles.
type exactIndex struct {
	c       *chain
	bounded bool

	// For a Gaussian transition N(A·f(a), Q) with Q = L Lᵀ: log p(x | f(a)) = const − |ξ − m_a|²/2 with ξ = L⁻¹(x − o) and
	// m_a = L⁻¹(A·f(a) − o). The origin o is the prediction of the first particle. Groups of coordinates are independent, so that a
	// group's distance is that of its coordinates.
	factor, origin []float64
	m              []float64 // n × Dim; nil for other transitions
	xi             []float64

	// The same in float32 for the kernel of a scan, coordinate by coordinate in whole vectors; nil until the first scan.
	columns, terms, sums, xi32 []float32

	most float64   // the largest log-density; 0 for Gaussian transitions
	g    int       // the group whose index is drawn
	w    []float64 // n, scratch: log-densities, then cumulative weights
}

func newExactIndex(c *chain) *exactIndex {
	d := len(c.x)
	e := &exactIndex{c: c, w: make([]float64, c.n)}
	if b, ok := c.tr.(ssm.Bounded); ok {
		e.bounded, e.most = true, b.MaxLogDensity()
	}
	g, ok := c.tr.(ssm.Gaussian)
	if !ok {
		return e
	}
	a, q := g.Gaussian()
	factor := append([]float64(nil), q...)
	if !dense.Cholesky(factor, d) {
		return e
	}
	e.bounded, e.most = true, 0
	e.factor, e.origin, e.xi = factor, make([]float64, d), make([]float64, d)
	e.m = make([]float64, c.n*d)
	for j := range c.n {
		row, f := e.m[j*d:(j+1)*d], c.from[j*d:(j+1)*d]
		for i := range row {
			for l, v := range f {
				row[i] += float64(a[i*d+l] * v)
			}
		}
	}
	copy(e.origin, e.m[:d])
	for j := range c.n {
		row := e.m[j*d : (j+1)*d]
		for i := range row {
			row[i] -= e.origin[i]
		}
		dense.Forward(factor, row)
	}
	return e
}

// at begins to draw the index of a group, for the chain's state.
func (e *exactIndex) at(g int) {
	e.g = g
	if e.m == nil {
		copy(e.c.other, e.c.before)
		return
	}
	for i, v := range e.c.x {
		e.xi[i] = v - e.origin[i]
	}
	dense.Forward(e.factor, e.xi)
}

// log is log p(x | f(a)) minus the largest log-density.
func (e *exactIndex) log(a int) float64 {
	if e.m == nil {
		e.c.take(e.c.other, e.g, int32(a))
		return e.c.tr.LogDensity(e.c.other, e.c.x) - e.most
	}
	b, d, sum := e.c.groups[e.g], len(e.xi), 0.0
	for i, v := range e.m[a*d+b.From : a*d+b.To] {
		u := e.xi[b.From+i] - v
		sum += float64(u * u)
	}
	return -0.5 * sum
}

// reject draws by rejection; ok is false if none of the chain's tries was accepted.
func (e *exactIndex) reject(s *ssm.Stream) (a int32, ok bool) {
	n := len(e.w)
	for range e.c.tries {
		a := s.IntN(n)
		if l, u := e.log(a), s.Float64(); u < rng.Exp(l) {
			return int32(a), true
		}
	}
	return 0, false
}

// scan draws by all N probabilities. For a Gaussian transition they are float32, within 2e-7 + 1.5e-7 |ξ − m_a|² of themselves, but for the
// rounding of ξ and m_a to float32: 6e-8 of their distance from the first particle's prediction, in standard deviations of Q. Where all of them vanish in float32, and for other transitions, they are float64.
func (e *exactIndex) scan(s *ssm.Stream) int32 {
	u := s.Float64()
	if e.m != nil {
		if a, ok := e.scanKernel(u); ok {
			return a
		}
	}
	top := math.Inf(-1)
	for a := range e.w {
		e.w[a] = e.log(a)
		top = max(top, e.w[a])
	}
	if math.IsInf(top, -1) || math.IsNaN(top) { // no particle can lead here: the index stays
		return e.c.a[e.g]
	}
	sum := 0.0
	for a, l := range e.w {
		sum += rng.Exp(l - top)
		e.w[a] = sum
	}
	u *= sum
	low, high := 0, len(e.w)-1
	for low < high {
		if mid := (low + high) / 2; e.w[mid] > u {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return int32(low)
}

// scanKernel draws the particle at position u of the cumulative probabilities: first the chunk, then the particle in it.
func (e *exactIndex) scanKernel(u float64) (a int32, ok bool) {
	n, b := len(e.w), e.c.groups[e.g]
	stride := (n + lanes.Lanes - 1) / lanes.Lanes * lanes.Lanes
	if e.columns == nil {
		d := len(e.xi)
		e.columns, e.terms, e.xi32 = make([]float32, d*stride), make([]float32, stride), make([]float32, d)
		e.sums = make([]float32, (n+lanes.MaxDensities-1)/lanes.MaxDensities)
		for j := range n {
			for i, v := range e.m[j*d : (j+1)*d] {
				e.columns[i*stride+j] = float32(v)
			}
		}
	}
	for i := b.From; i < b.To; i++ {
		e.xi32[i] = float32(e.xi[i])
	}
	lanes.NormalTerms(e.columns[b.From*stride:b.To*stride], n, e.xi32[b.From:b.To], e.terms, e.sums)
	total := 0.0
	for _, v := range e.sums {
		total += float64(v)
	}
	if !(total > vanishing) {
		return 0, false
	}
	rest, chunk := u*total, 0
	for chunk < len(e.sums)-1 && rest >= float64(e.sums[chunk]) {
		rest -= float64(e.sums[chunk])
		chunk++
	}
	// The terms of a chunk do not add up to just its sum, which float32 rounds.
	terms, sum := e.terms[chunk*lanes.MaxDensities:min(n, (chunk+1)*lanes.MaxDensities)], 0.0
	for _, v := range terms {
		sum += float64(v)
	}
	rest *= sum / float64(e.sums[chunk])
	last := 0
	for i, v := range terms {
		if v == 0 {
			continue
		}
		last = i
		if rest -= float64(v); rest < 0 {
			break
		}
	}
	return int32(chunk*lanes.MaxDensities + last), sum > 0
}

// vanishing is a sum of float32 probabilities in which small ones may be missing.
const vanishing = 1e-20

// Where the noise of the transition is confined to a subspace (ssm.Confined), hardly any two particles lead to the same state: the law
// P(a) ∝ p(x | f(a)) of the index has one value. So the index is proposed together with the state that it can lead to:
//
//	a* uniform,   x* = the state nearest to x that f(a*) leads to,
//	log r = log p(z | x*) − log p(z | x) + log p(x* | f(a*)) − log p(x | f(a)).
//
// x* is x, shifted by what depends on a and a* alone, and the shift back is the same with the other sign. So the density of the
// proposal cancels. Where all particles lead to the same subspace, x* is x.

// shift refines the index for a transition whose noise is confined; it is false for other transitions.
func (c *chain) shift(s *ssm.Stream) bool {
	t, ok := c.tr.(ssm.Confined)
	if !ok {
		return false
	}
	for range shifts {
		for g := range c.groups {
			a := int32(s.IntN(c.n))
			copy(c.other, c.before)
			c.take(c.other, g, a)
			copy(c.y, c.x)
			t.Nearest(c.other, c.y)
			next := t.LogDensity(c.other, c.y)
			if ok, _ := c.decide(s, ssm.Block{From: 0, To: len(c.y)}, next-c.logPrior()+c.gain(), &c.index); ok {
				c.move()
				c.a[g], c.before, c.other, c.prior = a, c.other, c.before, next
			}
		}
	}
	return true
}

// shifts is the number of proposals in a step of the chain. Each costs a likelihood.
const shifts = 8
