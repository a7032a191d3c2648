package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// chain is the Markov chain of one scan.
type chain struct {
	blocks []ssm.Block
	tr     ssm.Transition
	like   ssm.Incremental
	from   []float64 // n × Dim: the particles of the scan before
	n      int

	x        []float64   // the state
	groups   []ssm.Block // coordinates of the state before that have an index of their own (Ancestors)
	apart    bool        // groups are drawn one after another
	onset    bool        // the first scan, from the model's start itself: from has its mean alone
	tries    int         // of an index by rejection
	a        []int32     // for each group, the index of the particle that it comes from
	before   []float64   // f(a), the state before
	prior    float64     // log p(x | f(a)); NaN: to be computed
	y        []float64   // the proposal
	other    []float64   // f(a*), the state before of a proposal
	infinite []float64   // a proposal whose log-likelihood is +Inf; nil: there was none
	b        []int32     // a*

	decider decider   // how decisions look at the measurements
	order   int       // of the series about x⁺ that decisions or proposals need; 0: none
	newton  *newton   // the search for x⁺; nil: none
	plus    spot      // x⁺, with the series of order 2 there
	beside            // what measurements elsewhere say of the state
	joined  *tilt     // the prediction times the cavity, in the blocks of joint proposals; nil: none
	refined *tilt     // and in those of refinements
	guide   *guide    // guided draws about x⁺; nil: to be prepared
	repairs int       // of matrices that must be positive semidefinite
	half    []float64 // the mean of the states of the second half of the burn-in

	key     rng.Key // of the present decision
	burning bool

	looked    rate  // how a Subsample made the present decision
	residuals int64 // terms of the likelihood that decisions have looked at one by one
	fault     error // the model contradicts itself

	joint, index, refine rate
	walk                 walkers     // what a refinement by random walk has learned
	kept                 []int32     // the indices of the states that are kept
	summary              []summary   // and what these states say
	explained            []float64   // measurements that each target explains, the mean over some of these states; nil: unknown
	evidence             evidence    // of the scan, where its draws are weighted
	exact                *exactIndex // what the exact draw of the index needs; nil until it is used
}

// beside is what the chain of a node knows of the measurements that other nodes hold (ep.go). The zero value is that of a filter which has all
// of them.
type beside struct {
	cavity  *quadratic // a Gaussian factor of the target, beside the prediction and the likelihood: the product of their sites; nil: none
	first   int        // field Mutation of the first stream of a step: streamsOfPass times the number of the pass, from 0
	printed bool       // joint proposals leave out c(a), if they have one (EP.Printed)
	shared  bool       // other nodes hold some of the measurements: the chain's own do not give the evidence of the scan
}

// rate counts decisions.
type rate struct {
	made, accepted int

	// Those that a Subsample made: how many measurements they had and have looked at, and how many were made by the sum.
	sampled, summed int
	of, rows        int64
}

func (r *rate) add(o rate) {
	r.made, r.accepted = r.made+o.made, r.accepted+o.accepted
	r.sampled, r.summed, r.of, r.rows = r.sampled+o.sampled, r.summed+o.summed, r.of+o.of, r.rows+o.rows
}

// share is the acceptance; NaN without decisions.
func (r rate) share() float64 { return float64(r.accepted) / float64(r.made) }

// seen is the share of the measurements that decisions have looked at, and bySum that of the decisions by the sum; NaN without a Subsample.
func (r rate) seen() float64  { return float64(r.rows) / float64(r.of) }
func (r rate) bySum() float64 { return float64(r.summed) / float64(r.sampled) }

// draw draws an index for each group, uniformly, and sets other to the state before that they make.
func (c *chain) draw(s *ssm.Stream) {
	for g := range c.groups {
		c.b[g] = int32(s.IntN(c.n))
		c.take(c.other, g, c.b[g])
	}
}

// take sets the coordinates of a group to those of a particle.
func (c *chain) take(before []float64, g int, a int32) {
	b := c.groups[g]
	copy(before[b.From:b.To], c.from[int(a)*len(before)+b.From:])
}

// sample makes a proposal of the state, with the coordinates of a block drawn from p(· | before). If the target has a further Gaussian
// factor, the law is tilted by it, where the block is the g-th of t. rest is the logarithm of what the draw leaves over of the factor: its
// normaliser (tilt) or, without a tilt, the factor at the proposal.
func (c *chain) sample(s *ssm.Stream, t *tilt, g int, before []float64, b ssm.Block) (rest float64) {
	if t != nil {
		copy(c.y, c.x)
		rest = t.at(g, before, c.x)
		t.sample(s, g, c.y)
		return rest
	}
	c.tr.Sample(s, before, c.y)
	copy(c.y[:b.From], c.x[:b.From])
	copy(c.y[b.To:], c.x[b.To:])
	return c.cavity.at(c.y)
}

// predict sets x to a draw of the prediction from a state before and then, if it is tilted, of one of its blocks given the others after another.
func (c *chain) predict(s *ssm.Stream, before, x []float64) {
	c.tr.Sample(s, before, x)
	if c.joined == nil {
		return
	}
	for g := range c.joined.blocks {
		c.joined.at(g, before, x)
		c.joined.sample(s, g, x)
	}
}

// rest is what sample would have returned for the chain's own state.
func (c *chain) rest(t *tilt, g int) float64 {
	if t == nil {
		return c.cavity.at(c.x)
	}
	return t.at(g, c.before, c.x)
}

// stream returns the random numbers of a decision of the present step.
func (c *chain) stream(decision int) *ssm.Stream {
	c.key.Mutation = c.first + decision
	return c.key.Stream()
}

// at is the key of some random numbers of the present step and pass.
func (c *chain) at(place int) rng.Key {
	k := c.key
	k.Mutation = c.first + place
	return k
}

// streamsOfPass bounds the streams of a step, which the field Mutation of a key tells apart: its decisions, or those of a chain's start.
const streamsOfPass = 256

// logPrior is log p(x | f(a)) of the chain's state.
func (c *chain) logPrior() float64 {
	if math.IsNaN(c.prior) {
		c.prior = c.tr.LogDensity(c.before, c.x)
	}
	return c.prior
}

// try is the log-likelihood of the proposal, which differs from the state in a block alone, minus the state's.
func (c *chain) try(b ssm.Block) float64 {
	l := c.like.Try(c.y, b)
	if math.IsInf(l, 1) {
		c.infinite = append([]float64(nil), c.y...)
	}
	return l
}

// decider decides on the proposals of one chain.
type decider interface {
	// decide decides on the chain's proposal y, which differs from x in a block alone. logR is the right side, or what is known of it.
	decide(c *chain, b ssm.Block, logU, rest float64) (ok bool, logR float64)
	// keep makes the proposal that was accepted last the state of the likelihood.
	keep(c *chain)
	// expanded says that the likelihood has a new x⁺.
	expanded(c *chain)
}

// decide decides on the proposal y, which differs from x in a block alone. rest is the logarithm of the ratio without the
// measurements. NaN and −Inf are refused: a proposal without a likelihood, or without a density.
func (c *chain) decide(s *ssm.Stream, b ssm.Block, rest float64, r *rate) (ok bool, logR float64) {
	logU := rng.Log(s.Float64()) // drawn in any case, so that all Decisions see the same numbers
	c.looked = rate{}
	if logR = math.Inf(-1); rest > logR {
		ok, logR = c.decider.decide(c, b, logU, rest)
	}
	c.count(ok, r)
	if !c.burning {
		r.add(c.looked)
	}
	return ok, logR
}

// accepts decides on log r without the measurements.
func (c *chain) accepts(s *ssm.Stream, logR float64, r *rate) bool {
	ok := logR >= 0 || rng.Log(s.Float64()) < logR
	c.count(ok, r)
	return ok
}

// count counts a decision.
func (c *chain) count(accepted bool, r *rate) {
	if c.burning {
		return
	}
	r.made++
	if accepted {
		r.accepted++
	}
}

// move makes the proposal y, which was accepted, the state.
func (c *chain) move() {
	c.x, c.y = c.y, c.x
	c.decider.keep(c)
}

// gain is what the proposal adds to the further factor of the target.
func (c *chain) gain() float64 { return c.cavity.at(c.y) - c.cavity.at(c.x) }

// Decisions within a step of a chain, as the field Mutation of their streams.
const (
	jointAt = iota
	indexAt
	refineFrom // block p is refined at refineFrom + p
)
