package filter

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Guided draws the index and the state near the measurements: with the Taylor series q of order 2 of the log-likelihood about x⁺ in its place,
// the law of the scan is p(x | f(a)) exp(q(x)) = c(a) N(x; μ(a), S) (tilt; sequential-mcmc-massive-data, section 2.3, eq. 43 and A6). So a* is
// drawn in proportion to c(a), and x* given a*. The ratio has what the series leaves over:
//
//	log r = log p(z | x*) − log p(z | x) − [q(x*) − q(x)].
//
// Each group g of coordinates with an index of its own has a table of c⁺_g(a): that is c(a) of the group with all others at x⁺, so that the
// table serves until x⁺ moves. Groups that the series couples, as it does targets that share returns, are drawn together, and the others one after
// another given the rest. With the c(a) of the groups that are drawn, given the others as they are, the ratio has the further terms
//
//	[log c(a*) − Σ_g log c⁺_g(a*_g)] − [log c(a) − Σ_g log c⁺_g(a_g)].
//
// A further Gaussian factor of the target, the cavity of a node, is part of q as of the target. Where −Hessian has an eigenvalue below 0, it counts
// as 0.
//
// A chain begins at such a draw. From a state far from x⁺, where the series is wrong, hardly any draw would be accepted. The series is good
// where returns are many and targets apart. Keep a refinement beside it: the law of targets that overlap is not Gaussian.
type Guided struct{}

func (Guided) moves() bool { return true }

func (Guided) order() int { return 2 }

func (Guided) weighs() bool { return true }

// suits says why a model cannot have guided draws.
func (Guided) suits(m ssm.Model) error {
	const instead = ": take joint: prior or none"
	if tr, err := m.Transition(ssm.Interval(m)); err == nil {
		if _, ok := tr.(ssm.Gaussian); !ok {
			return errors.New("joint: guided needs transitions x ~ N(A x, Q) that say so (ssm.Gaussian)" + instead)
		}
	}
	return nil
}

func (Guided) joint(c *chain) {
	begins := c.guide == nil
	if begins || &c.guide.origin[0] != &c.plus.at[0] {
		if c.guide, c.fault = newGuide(c); c.fault != nil {
			return
		}
	}
	t, s := c.guide, c.stream(jointAt)
	for k, together := range t.coupled {
		rest := -t.at(k, c.before, c.x)
		copy(c.other, c.before)
		for g := together.From; g < together.To; g++ {
			c.b[g] = t.tables[g].draw(s)
			c.take(c.other, g, c.b[g])
			rest += t.logC[g][c.a[g]] - t.logC[g][c.b[g]]
		}
		block := t.blocks[k].Block
		rest += c.sample(s, t.tilt, k, c.other, block)
		if rest += c.gain() - (t.quadratic.at(c.y) - t.quadratic.at(c.x)); begins {
			rest = math.Inf(1)
		}
		if ok, _ := c.decide(s, block, rest, &c.joint); ok {
			c.move()
			copy(c.a[together.From:together.To], c.b[together.From:together.To])
			c.before, c.other, c.prior = c.other, c.before, math.NaN()
		}
	}
}

// guide is what guided draws need about one x⁺.
type guide struct {
	*tilt               // the prediction times the series and the cavity, by blocks of coupled groups
	coupled []ssm.Block // the groups of each of these blocks
	tables  []alias     // of c⁺(a), for each group
	logC    [][]float64 // log c⁺(a)
	mean    []float64   // log of the mean of c⁺ over the particles
}

// newGuide prepares draws about the chain's x⁺.
func newGuide(c *chain) (*guide, error) {
	tr, ok := c.tr.(ssm.Gaussian)
	if !ok {
		return nil, fmt.Errorf("joint: guided needs Gaussian transitions, not %T: take joint: prior or none", c.tr)
	}
	d, q := len(c.x), &quadratic{origin: c.plus.at}
	q.gradient, q.precision = c.plus.slope(c.cavity)
	if clipped(q.precision, d) {
		c.repairs++
	}
	alone, ok := newTilt(tr, q, c.groups)
	if !ok {
		return nil, errors.New("the covariance Q of the transition is not positive semidefinite")
	}
	t := &guide{coupled: coupled(q.precision, d, c.groups)}
	before := append([]float64(nil), c.before...)
	for g := range c.groups {
		logC := make([]float64, c.n)
		for a := range logC {
			c.take(before, g, int32(a))
			logC[a] = alone.at(g, before, q.origin)
		}
		table, mean := newAlias(logC)
		t.logC, t.mean, t.tables = append(t.logC, logC), append(t.mean, mean), append(t.tables, table)
	}
	var blocks []ssm.Block
	for _, together := range t.coupled {
		blocks = append(blocks, ssm.Block{From: c.groups[together.From].From, To: c.groups[together.To-1].To})
	}
	t.tilt, _ = newTilt(tr, q, blocks) // as the groups'
	return t, nil
}

// weak is a share of two precisions below which a coupling is little: if one group is drawn after another, their draws have the correlation
// weak², .25 %.
const weak = 0.05

// coupled returns ranges of groups that a precision couples, with those between them.
func coupled(precision []float64, d int, groups []ssm.Block) (ranges []ssm.Block) {
	for g := range groups {
		last := g
		for h := g + 1; h < len(groups); h++ {
			for i := groups[g].From; i < groups[g].To; i++ {
				for j := groups[h].From; j < groups[h].To; j++ {
					if v := precision[i*d+j]; v*v > weak*weak*precision[i*d+i]*precision[j*d+j] {
						last = h
					}
				}
			}
		}
		if n := len(ranges); n > 0 && g < ranges[n-1].To {
			ranges[n-1].To = max(ranges[n-1].To, last+1)
		} else {
			ranges = append(ranges, ssm.Block{From: g, To: last + 1})
		}
	}
	return ranges
}

// alias draws numbers below its length by given weights, in a time that does not depend on how many there are (Walker 1977; Vose 1991): number
// i is kept with a probability, else its alias is taken.
type alias struct {
	keep  []float64
	other []int32
}

// newAlias makes the table of weights that are given by their logarithms, and returns the log of their mean.
func newAlias(logw []float64) (t alias, logMean float64) {
	n, top, sum := len(logw), math.Inf(-1), 0.0
	for _, l := range logw {
		top = max(top, l)
	}
	t = alias{make([]float64, n), make([]int32, n)}
	for i, l := range logw {
		t.keep[i] = rng.Exp(l - top)
		sum += t.keep[i]
	}
	var small, large []int32
	for i := range t.keep {
		t.other[i] = int32(i)
		if t.keep[i] *= float64(n) / sum; t.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		i, j := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.other[i] = j
		if t.keep[j] -= 1 - t.keep[i]; t.keep[j] < 1 {
			small, large = append(small, j), large[:len(large)-1]
		}
	}
	for _, i := range small { // by rounding alone
		t.keep[i] = 1
	}
	return t, top + rng.Log(sum/float64(n))
}

// draw draws a number.
func (t *alias) draw(s *ssm.Stream) int32 {
	i := int32(s.IntN(len(t.keep)))
	if s.Float64() < t.keep[i] {
		return i
	}
	return t.other[i]
}
