package filter

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// plan is what the chains of a scan have in common.
type plan struct {
	*Job
	blocks, groups []ssm.Block
	apart          bool // groups are drawn one after another
	learns         bool // the refinement learns in the burn-in
	decide         Decision
	order          int  // of the series about x⁺ that a chain needs; 0: none
	onset          bool // the first scan's prediction is that of the model's start itself, where it is known, not of particles drawn from it
	beside
}

// newChain starts the chain of a scan in one of the filters: a is uniform and x a draw of p(· | f(a)). Where the scan is impossible at the
// draw, the chain starts at another draw, up to mostStarts. Where a target has not found its measurements there, a start is sought
// (starts.go). A chain of a node whose target has the sites of others starts at a draw of p(· | f(a)) times them. The number of the filter is
// for its streams.
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
		groups: groups, apart: f.apart, beside: f.beside, a: make([]int32, len(groups)), b: make([]int32, len(groups)), before: make([]float64, d), other: make([]float64, d),
	}
	c.key = rng.Key{Seed: f.Seed, Purpose: rng.Predict, Island: f.Node, Iteration: st.K + 1, Particle: filter}
	if st.K == 0 && f.onset {
		if err := c.begin(f.Model); err != nil {
			return nil, err
		}
	}
	if c.tries = max(1, c.n/8); c.apart && len(groups) > 1 {
		c.tries = max(1, c.n/(16*len(groups)))
	}
	if st.K == 0 && !c.onset {
		c.widen(f.Model.Start)
	}
	c.tilt()
	s, possible := c.at(begunAt).Stream(), false
	for range mostStarts {
		c.draw(s)
		c.a, c.b, c.before, c.other = c.b, c.a, c.other, c.before
		c.predict(s, c.before, c.x)
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

// begin takes the law of the state at the first scan in place of particles, where the start and the transition are Gaussian. Of particles from a wide
// start hardly any leads near the first measurements, and with little noise no draw does.
func (c *chain) begin(m ssm.Model) error {
	start, known := m.(ssm.GaussianStart)
	tr, gaussian := c.tr.(ssm.Gaussian)
	if !known || !gaussian {
		return nil
	}
	mean, onset, err := ssm.Onset(start, tr)
	if err != nil {
		return fmt.Errorf("the state at the first scan: %w", err)
	}
	c.from, c.n, c.tr, c.onset = mean, 1, onset, true
	return nil
}

// tilt makes the laws of proposals that are tilted by the cavity. Where the transition is not Gaussian, there are none, and proposals are
// draws of the prediction.
func (c *chain) tilt() {
	g, ok := c.tr.(ssm.Gaussian)
	if c.cavity == nil || !ok {
		return
	}
	together := c.groups
	if !c.apart { // one draw of all, also where groups have indices of their own
		together = []ssm.Block{{From: 0, To: len(c.x)}}
	}
	joined, ok := newTilt(g, c.cavity, together)
	refined, also := newTilt(g, c.cavity, c.blocks)
	if ok && also {
		c.joined, c.refined = joined, refined
	}
}
