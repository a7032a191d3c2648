package filter

import (
	"fmt"
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
	tries    int         // of an index by rejection
	a        []int32     // for each group, the index of the particle that it comes from
	before   []float64   // f(a), the state before
	prior    float64     // log p(x | f(a)); NaN: to be computed
	y        []float64   // the proposal
	other    []float64   // f(a*), the state before of a proposal
	infinite []float64   // a proposal whose log-likelihood is +Inf; nil: there was none
	b        []int32     // a*

	decider decider    // how decisions look at the measurements
	order   int        // of the series about x⁺ that decisions or proposals need; 0: none
	plus    *plus      // x⁺; nil: none
	cavity  *quadratic // a Gaussian factor of the target, beside the prediction and the likelihood; nil: none
	joined  *tilt      // the prediction times it, in the blocks of joint proposals; nil: none
	refined *tilt      // and in those of refinements
	half    []float64  // the mean of the states of the second half of the burn-in

	key     rng.Key // of the present step
	burning bool

	joint, index, refine rate
	walk                 walkers     // what a refinement by random walk has learned
	kept                 []int32     // the indices of the states that are kept
	summary              []summary   // and what these states say
	explained            []float64   // measurements that each target explains, the mean over some of these states; nil: unknown
	exact                *exactIndex // what the exact draw of the index needs; nil until it is used
}

// rate counts decisions.
type rate struct{ made, accepted int }

func (r *rate) add(o rate) { r.made, r.accepted = r.made+o.made, r.accepted+o.accepted }

// share is the acceptance; NaN without decisions.
func (r rate) share() float64 { return float64(r.accepted) / float64(r.made) }

// plan is what the chains of a scan have in common.
type plan struct {
	*Job
	blocks, groups []ssm.Block
	apart          bool // groups are drawn one after another
	learns         bool // the refinement learns in the burn-in
	decide         Decision
	order          int // of the series about x⁺ that a chain needs; 0: none
}

// newChain starts the chain of a scan in one of the filters: a is uniform and x a draw of p(· | f(a)). Where the scan is impossible at the
// draw, the chain starts at another draw, up to mostStarts. Where a target has not found its measurements there, a start is sought
// (starts.go). The number of the filter is for its streams.
func newChain(f plan, filter int, st *State, scan *ssm.Scan) (*chain, error) {
	tr, err := st.transition(f.Model, scan)
	if err != nil {
		return nil, err
	}
	like, err := bind(f.Model, scan, f.Pool)
	if err != nil {
		return nil, err
	}
	d, groups := st.Dim, f.groups
	c := &chain{
		blocks: f.blocks, tr: tr, like: like, from: st.X, n: st.N(), x: make([]float64, d), y: make([]float64, d), burning: true,
		groups: groups, apart: f.apart, a: make([]int32, len(groups)), b: make([]int32, len(groups)), before: make([]float64, d), other: make([]float64, d),
	}
	c.key = rng.Key{Seed: f.Seed, Purpose: rng.Predict, Island: f.Node, Iteration: st.K + 1, Particle: filter}
	if c.tries = max(1, c.n/8); c.apart && len(groups) > 1 {
		c.tries = max(1, c.n/(16*len(groups)))
	}
	if st.K == 0 {
		c.widen(f.Model.Start)
	}
	s, possible := c.key.Stream(), false
	for range mostStarts {
		c.draw(s)
		c.a, c.b, c.before, c.other = c.b, c.a, c.other, c.before
		tr.Sample(s, c.before, c.x)
		l := logLik(like, c.x)
		if math.IsInf(l, 1) {
			return nil, infinite(scan, c.x)
		}
		if possible = !math.IsInf(l, -1); possible {
			break
		}
	}
	if !possible {
		return nil, impossible(like, scan, c.x, fmt.Sprintf("%d states drawn from the prediction", mostStarts))
	}
	like.Set(c.x)
	c.prior = math.NaN()
	c.seek()
	c.order, c.decider = f.order, f.decide.begin(c)
	if c.order > 0 {
		if err := c.expand(); err != nil {
			return nil, fmt.Errorf("the scan at %v s: %w", scan.Time, err)
		}
	}
	if f.learns {
		c.walk.restore(st.Tuning, c)
	}
	c.key.Purpose = rng.Chain
	return c, nil
}

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
// factor, the law is tilted by it, where the block is the g-th of t; logC is then the logarithm of its normaliser (tilt).
func (c *chain) sample(s *ssm.Stream, t *tilt, g int, before []float64, b ssm.Block) (logC float64) {
	if t != nil {
		copy(c.y, c.x)
		logC = t.at(g, before, c.x)
		t.sample(s, g, c.y)
		return logC
	}
	c.tr.Sample(s, before, c.y)
	copy(c.y[:b.From], c.x[:b.From])
	copy(c.y[b.To:], c.x[b.To:])
	return 0
}

// normaliser is log c(a) of the chain's own state before; 0 without a tilt.
func (c *chain) normaliser(t *tilt, g int) float64 {
	if t == nil {
		return 0
	}
	return t.at(g, c.before, c.x)
}

// stream returns the random numbers of a decision of the present step.
func (c *chain) stream(decision int) *ssm.Stream {
	k := c.key
	k.Mutation = decision
	return k.Stream()
}

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

// Decisions within a step of a chain, as the field Mutation of their streams.
const (
	jointAt = iota
	indexAt
	refineFrom // block p is refined at refineFrom + p
)
