package filter

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// EP is sequential MCMC whose measurements lie on D nodes (sequential-mcmc-massive-data, section 2.3, Algorithm 4): expectation propagation.
// Each node has a share of a scan's measurements z_d, and particles f_d of its own. What a node's measurements say of the state is summed up by
// a Gaussian factor, its site η_d (site.go). In each of L passes node d runs the chain of SMCMC on
//
//	π(x, a) ∝ p(z_d | x) p(x | f_d(a)) Π_{i≠d} η_i(x)
//
// with the sites of the pass before, makes its own anew from the moments of the states (eq. 31), and the nodes exchange them (exchange.go).
// The particles of all nodes in the last pass together are the answer; each node keeps its own for the next scan. Sites begin at nothing in each scan.
//
// Moves, decisions and starts of the chain are those of SMCMC. Draws of the prediction are tilted by the other nodes' sites (eq. 37 and 43).
//
// The answer is exact for a Gaussian likelihood and exact moments, and approximate otherwise, as the sites are Gaussian. The saving is not
// parallelism alone (A5): each node's decisions have M/D measurements, and with the same number of states over all nodes L passes evaluate L/D
// times the terms of SMCMC.
type EP struct {
	sampling
	Nodes  int `yaml:"nodes"`  // D, number of nodes that share the measurements of a scan; with 1 it is smcmc of one filter
	Passes int `yaml:"passes"` // L, passes over a scan, 1 to 16: in the first, nodes know nothing of each other's measurements

	Particles int `yaml:"particles"` // N, number of states that are kept of a scan, of all nodes together
	// Burn is the number of steps of each node's chain before, in every pass; 0: none. Left out of a config: a quarter of a node's particles,
	// at least 250.
	Burn int `yaml:"burn,zero"`

	Ancestors Ancestors `yaml:"ancestors,omitempty"` // whether each target comes from a particle of its own (target), or all from one (joint); as of smcmc

	Joint  Joint      `yaml:"joint"`  // moves the state and its index together (nil: NoJoint). Left out of a config: as of smcmc
	Index  Index      `yaml:"index"`  // moves the index alone (nil: FixedIndex)
	Refine Refinement `yaml:"refine"` // moves the state alone, after the joint move (nil: NoRefinement)
	Decide Decision   `yaml:"decide"` // how a decision looks at the node's measurements (nil: AllRows)

	Repair Repair `yaml:"repair"` // makes a site positive semidefinite whose precision is not (nil: Clip)
	// Correct multiplies the precision of a node's states by (n − d − 2)/(n − 1), which makes that of n independent draws unbiased. n is
	// the least effective number of draws of a coordinate with data, and d the number of these coordinates.
	Correct bool `yaml:"correct"`
	// Printed says whether joint: prior takes the normaliser c(a) of its draws into account. The paper leaves it out, and its chain has another
	// law (in Go: Printed leaves it out).
	Printed bool `yaml:"normaliser,not"`
}

// The usual numbers of an EP, and its bounds.
const (
	usualNodes  = 4
	usualPasses = 2
	maxPasses   = rng.MaxMutations / streamsOfPass
	mostBlocks  = 253 // of a state: a pass has streams for so many refinements beside the other decisions
)

// Defaults implements config.Defaulter.
func (m *EP) Defaults() {
	m.Nodes, m.Passes, m.Particles = cmp.Or(m.Nodes, usualNodes), cmp.Or(m.Passes, usualPasses), cmp.Or(m.Particles, usualParticles)
	c := m.chains(m.Particles / max(1, m.Nodes))
	c.Defaults()
	m.Burn, m.Joint, m.Index, m.Refine, m.Decide = c.Burn, c.Joint, c.Index, c.Refine, c.Decide
	if m.Repair == nil {
		m.Repair = Clip{}
	}
}

// SettleFor implements Settling: joint draws.
func (m EP) SettleFor(model ssm.Model) Method {
	m.Joint = settleJoint(m.Joint, model)
	return m
}

// chains is the method of a node that keeps so many states.
func (m EP) chains(particles int) SMCMC {
	return SMCMC{
		Particles: particles, Repeat: 1, Burn: m.Burn, Ancestors: m.Ancestors, Joint: m.Joint, Index: m.Index, Refine: m.Refine, Decide: m.Decide,
	}
}

// Check implements config.Checker.
func (m EP) Check(f *config.Faults) {
	f.Within("nodes", m.Nodes, 1, rng.MaxIslands)
	f.AtLeast("passes", m.Passes, 1)
	f.If(m.Passes > maxPasses, "passes", "want at most %d, have %d", maxPasses, m.Passes)
	f.AtLeast("particles", m.Particles, 2)
	f.AtLeast("burn", m.Burn, 0)
	if m.Nodes < 1 || m.Particles < 2 || m.Burn < 0 {
		return
	}
	if m.Particles < 2*m.Nodes {
		f.Conflict([]string{"particles", "nodes"}, "want at least 2 particles of each node, have %d of %d nodes", m.Particles, m.Nodes)
		return
	}
	if m.Particles >= rng.MaxParticles {
		f.Conflict([]string{"particles"}, "want fewer than %d, have %d", rng.MaxParticles, m.Particles)
		return
	}
	m.chains(m.Particles / m.Nodes).Check(f)
}

// Suits implements Method.
func (m EP) Suits(model ssm.Model) error {
	if n := len(ssm.Blocks(model)); n > mostBlocks && m.Nodes > 1 {
		return fmt.Errorf("ep takes states of at most %d blocks, which are the model's targets, and this one has %d: take smcmc", mostBlocks, n)
	}
	return m.chains(m.Particles).Suits(model)
}

// Title implements Method.
func (m EP) Title() string {
	if m.Nodes == 1 {
		return m.chains(m.Particles).Title() + ", by ep of one node"
	}
	return fmt.Sprintf("expectation propagation, %s samples a scan by %d nodes in %d passes, each after %s of burn-in",
		numeral.Count(m.Particles), m.Nodes, m.Passes, numeral.Count(m.Burn))
}

// Bytes implements Method.
func (m EP) Bytes(dim int) int64 { return m.chains(m.Particles).Bytes(dim) }

// Evidence implements Method: sites are known up to a constant, so that nodes estimate none together.
func (EP) Evidence() bool { return false }

// Filters implements Method.
func (m EP) Filters() int { return m.Nodes }

// Numbers implements Method.
func (m EP) Numbers() int { return m.Nodes }

// Sampler implements Method.
func (m EP) Sampler() finding.Sampler {
	s := m.chains(m.Particles).Sampler()
	s.Nodes = m.Nodes > 1
	return s
}

// Findings implements Method.
func (m EP) Findings() []finding.Finding {
	switch {
	case m.Nodes == 1:
		return []finding.Finding{finding.Of(finding.OneNode{})}
	case m.Passes == 1:
		return []finding.Finding{finding.Of(finding.OnePass{Nodes: m.Nodes})}
	}
	return nil
}

// On implements Method.
func (m EP) On(job Job) (Filter, error) {
	hosted := job.Hosted
	if m.Nodes > 1 {
		job.Hosted = Hosted{} // nodes themselves know nothing of processes
	}
	if err := job.check(); err != nil {
		return nil, err
	}
	if err := refused("EP", m); err != nil {
		return nil, err
	}
	if m.Repair == nil {
		m.Repair = Clip{}
	}
	if c, ok := m.Repair.(config.Checker); ok { // a config checks it by itself
		if err := refused("EP: repair", c); err != nil {
			return nil, err
		}
	}
	if err := m.Suits(job.Model); err != nil {
		return nil, fmt.Errorf("EP: %w", err)
	}
	if m.Nodes == 1 {
		return m.chains(m.Particles).On(job)
	}
	hosted, err := hosted.of(m.Nodes)
	if err != nil {
		return nil, fmt.Errorf("EP: %w", err)
	}
	if last := job.Node + m.Nodes; last > rng.MaxIslands {
		return nil, fmt.Errorf("EP: the numbers of the nodes go up to %d, want below %d", last-1, rng.MaxIslands)
	}
	if job.Pool == nil {
		job.Pool = mcmc.NewPool(0)
	}
	f := &ep{EP: m, hosted: hosted}
	for d := range m.Nodes {
		node := job
		node.Node += d
		if p, ok := job.Model.(ssm.Poisson); ok { // the counts are those of a share
			node.Model = p.Thinned(1 / float64(m.Nodes))
		}
		one, err := m.chains((d+1)*m.Particles/m.Nodes - d*m.Particles/m.Nodes).On(node)
		if err != nil {
			return nil, err
		}
		f.nodes = append(f.nodes, one.(*smcmc))
	}
	f.all = *f.nodes[0]
	f.all.Job, f.all.Particles, f.all.Repeat, f.all.shared = job, m.Particles, m.Nodes, true
	return f, nil
}

// ep is the Filter of an EP with more than one node.
type ep struct {
	EP
	nodes  []*smcmc
	all    smcmc // the nodes as filters whose particles are joined
	hosted Hosted
}

// Init implements Filter.
func (f *ep) Init(ctx context.Context) (*State, error) {
	st := &State{Dim: f.all.Model.Dim(), LogZ: math.NaN()}
	for _, node := range f.nodes {
		st.X = append(st.X, node.start(node.Particles)...)
	}
	return st, nil
}

// Step implements Filter.
func (f *ep) Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error) {
	if err := given(ctx, st, scan); err != nil {
		return Info{}, err
	}
	if err := st.fits(f.all.Model, f.Particles, false); err != nil {
		return Info{}, err
	}
	if _, err := st.transition(f.all.Model, scan); err != nil { // an error of all nodes alike
		return Info{}, err
	}
	shares := divide(scan, f.Nodes, rng.Key{Seed: f.all.Seed, Purpose: rng.Shares, Island: f.all.Node, Iteration: st.K + 1})
	sites, about := make([]Site, f.Nodes), &Nodes{Terms: make([]int64, f.Nodes)}
	for i := range shares {
		if shares[i].Measured() == 0 {
			about.Without++
		}
	}
	var info Info
	var kept, tuning []float64
	for pass := range f.Passes {
		all, err := f.pass(ctx, pass, st, scan, shares, sites)
		if err != nil {
			return Info{}, err
		}
		list := make([]told, f.Nodes)
		for d := range all {
			list[d] = all[d].told
			tuning, kept = append(tuning, all[d].tuning...), append(kept, all[d].kept...)
			sites[d] = all[d].site
		}
		before := info
		info = f.all.info(list)
		about.add(all, shares, info, pass == f.Passes-1)
		info.continues(before)
		if pass == f.Passes-1 {
			info.gather(list)
		}
	}
	info.MCSE, info.Nodes = nil, about // the nodes share their sites: their spread is not the error of the mean
	st.X, st.K, st.Time, st.Tuning = kept, st.K+1, scan.Time, tuning
	return info, nil
}

// pass runs the chains of the nodes here, given the sites of the pass before, and returns what all nodes have made.
func (f *ep) pass(ctx context.Context, number int, st *State, scan *ssm.Scan, shares []portion, sites []Site) ([]*contribution, error) {
	here := make([]Contribution, f.hosted.To-f.hosted.From)
	was, t := *st, len(st.Tuning)/f.Passes
	was.Tuning = st.Tuning[number*t : (number+1)*t] // each pass has a law of its own, and walks of its own
	f.all.Pool.Run(len(here), func(i int) {
		d := f.hosted.From + i
		here[i] = f.chain(ctx, d, number, f.all.part(&was, d), &shares[d].Scan, sites)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	came, err := f.hosted.By.Exchange(ctx, st.K, number, here)
	if err != nil {
		return nil, err
	}
	if len(came) != f.Nodes {
		return nil, fmt.Errorf("the exchange has brought what %d nodes have made, not %d", len(came), f.Nodes)
	}
	all := make([]*contribution, f.Nodes)
	for d := range all {
		var ok bool
		if all[d], ok = came[d].(*contribution); !ok {
			return nil, fmt.Errorf("the exchange has brought a %T of node %d, which is none of this package", came[d], d+1)
		}
		if err := all[d].fault; err != nil {
			return nil, shares[d].placed(f.all.Model, scan, err)
		}
		err := all[d].fits(st.Dim, f.nodes[d].Particles, len(f.all.blocks), number == f.Passes-1)
		if err == nil && len(all[d].tuning) != len(all[0].tuning) {
			err = fmt.Errorf("walks of %d numbers, and node 1 some of %d", len(all[d].tuning), len(all[0].tuning))
		}
		if err != nil {
			return nil, fmt.Errorf("node %d does not run this filter: it has made %w", d+1, err)
		}
	}
	return all, nil
}

// chain is what node d makes in a pass, beginning with its part of the state.
func (f *ep) chain(ctx context.Context, d, pass int, st *State, share *ssm.Scan, sites []Site) *contribution {
	last, kept := pass == f.Passes-1, make([]float64, len(st.X))
	node := *f.nodes[d]
	node.beside = beside{product(sites, d, nil), streamsOfPass * pass, f.Printed, true}
	c, err := node.run(ctx, 0, st, share, kept)
	if err != nil {
		return &contribution{fault: err}
	}
	made := &contribution{told: c.tell()}
	switch {
	case last:
		made.kept = kept
	case share.Measured() > 0:
		if made.site, made.repaired, err = c.site(kept, sites, d, f.Repair, f.Correct); err != nil {
			return &contribution{fault: err}
		}
	}
	return made
}

// add takes a pass into account, with what its chains tell together.
func (n *Nodes) add(made []*contribution, shares []portion, all Info, last bool) {
	n.Passes = append(n.Passes, ByKind{all.Joint, all.Index, all.Refine})
	most := int64(0)
	for d, c := range made {
		n.Terms[d] += c.evaluated
		most = max(most, c.evaluated)
		if last || shares[d].Measured() == 0 {
			continue
		}
		n.Sites++
		switch {
		case c.site.Precision == nil:
			n.Empty++
		case c.repaired:
			n.Repaired++
		}
	}
	n.Critical += most
}

// continues adds what earlier passes have cost.
func (info *Info) continues(before Info) {
	info.Evaluated, info.Skipped, info.Residuals = info.Evaluated+before.Evaluated, info.Skipped+before.Skipped, info.Residuals+before.Residuals
	info.Passes, info.PassTerms, info.Repairs = info.Passes+before.Passes, info.PassTerms+before.PassTerms, info.Repairs+before.Repairs
}

// gather makes the measurements that a target explains, and those that the model leaves out, those of all nodes together. A target is lost if one
// of them has lost it.
func (info *Info) gather(chains []told) {
	clear(info.Explained)
	info.Dropped = 0
	for _, c := range chains {
		info.Dropped += c.dropped
		for r, n := range c.explained {
			info.Explained[r] += n
		}
	}
}
