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

// SMCMC is sequential Markov chain Monte Carlo (sequential-mcmc-massive-data, section 2.1, Algorithm 1 with its misprints corrected).
// The filter of scan k−1 is N particles f(1) … f(N) without weights. A Markov chain on the state x and the
// index a of a particle has the invariant law
//
//	π_k(x, a) ∝ p(z_k | x) p(x | f(a)) / N.
//
// Of several targets, each has an index of its own (ancestors.go).
// Each of its steps makes up to three kinds of decision, with log u < log r for a uniform u:
//
//	Joint    a new index and a new state together (joint.go, guided.go)
//	Index    a new index for the same state (index.go, index_exact.go)
//	Refine   new coordinates, block by block, for the same index (refine.go, walk.go)
//
// Decide says how they look at the measurements: at all of them (decide.go), or at as many as it takes (subsample.go).
//
// The chain starts at a draw of the prediction. After a burn-in the states of its steps are particles of scan k.
// There are no weights that could collapse. In their place the chain may mix badly: ESS, R-hat and the number of distinct
// ancestors in Info tell.
//
// The particles are divided among several such filters, each with a chain and particles of its own. Their spread gives the error of
// the means (repeat.go), and they run at the same time.
type SMCMC struct {
	sampling
	// Particles is N, the number of states that are kept of a scan, of all filters together; N + Repeat·Burn is below 2²⁰.
	Particles int `yaml:"particles"`
	// Repeat is the number of independent filters among which the particles are divided: 1, or at least 4. Their spread is the whole
	// Monte Carlo error of a mean, and shows chains that stay in one of several modes. 1 gives no error. Left out: as many as have
	// 250 particles each, at most 8; 1 below 1,000 particles.
	Repeat int `yaml:"repeat"`
	// Burn is the number of steps of each filter's chain before; 0: none. Left out of a config: a quarter of a filter's
	// particles, at least 250, in which a walk learns its steps.
	Burn int `yaml:"burn,zero"`

	// Ancestors says whether each target comes from a particle of its own of the scan before (target), or all from one (joint). target
	// forgets how targets depend on each other from scan to scan, and needs a model that says which coordinates are a target's. joint is
	// what the paper ran; it dies out as targets become more. Left out: target for such a model, else joint.
	Ancestors Ancestors `yaml:"ancestors,omitempty"`

	// Joint moves the state and its index together (nil: NoJoint). Left out of a config: guided for a model that has what it needs, Gaussian
	// transitions and a likelihood with a Taylor series, as all built-in models have; else prior.
	Joint  Joint      `yaml:"joint"`
	Index  Index      `yaml:"index"`  // moves the index alone (nil: FixedIndex)
	Refine Refinement `yaml:"refine"` // moves the state alone, after the joint move (nil: NoRefinement)

	Decide Decision `yaml:"decide"` // how a decision looks at the measurements (nil: AllRows)
}

// Defaults implements config.Defaulter.
func (m *SMCMC) Defaults() {
	m.Particles = cmp.Or(m.Particles, usualParticles)
	m.Repeat = m.Filters()
	if m.Burn == 0 {
		m.Burn = max(leastBurn, m.Particles/max(1, m.Repeat)/4)
	}
	if m.Joint == nil {
		m.Joint = PriorJoint{}
	}
	if m.Index == nil {
		m.Index = ExactIndex{}
	}
	if m.Refine == nil {
		m.Refine = Walk{SD: Adapted}
	}
	if m.Decide == nil {
		m.Decide = AllRows{}
	}
}

// SettleFor implements Settling: joint draws.
func (m SMCMC) SettleFor(model ssm.Model) Method {
	m.Joint = settleJoint(m.Joint, model)
	return m
}

// settleJoint is a joint draw, or the usual one for a model.
func settleJoint(given Joint, model ssm.Model) Joint {
	if given != nil {
		return given
	}
	like, err := model.Bind(&ssm.Scan{})
	if _, ok := like.(ssm.Expandable); ok && err == nil && normalSteps(model) {
		return Guided{}
	}
	return PriorJoint{}
}

// leastBurn is the least burn-in where a config gives none: three windows of an adapted walk end in it (walk.go).
const leastBurn = 250

// filters is the number of filters.
func (m SMCMC) Filters() int {
	if m.Repeat == 0 {
		return usualRepeat(m.Particles)
	}
	return m.Repeat
}

// Check implements config.Checker.
func (m SMCMC) Check(f *config.Faults) {
	f.AtLeast("particles", m.Particles, 2)
	f.AtLeast("burn", m.Burn, 0)
	f.If(m.Repeat < 0 || m.Repeat > 1 && m.Repeat < fewestFilters, "repeat", "want 1, or at least %d: the spread of fewer filters says nothing, have %d", fewestFilters, m.Repeat)
	repeat := m.Filters()
	if m.Particles >= 2 && repeat > 1 && m.Particles < 2*repeat {
		f.Conflict([]string{"particles", "repeat"}, "want at least 2 particles of each filter, have %d of %d filters", m.Particles, repeat)
	}
	if all := m.Particles + repeat*m.Burn; m.Particles >= 2 && m.Burn >= 0 && all >= rng.MaxParticles {
		f.Conflict([]string{"particles", "burn", "repeat"}, "want particles + repeat·burn below %d, have %d", rng.MaxParticles, all)
	}
	if m.Refine != nil && m.Refine.learns() && m.Burn == 0 {
		f.Conflict([]string{"burn", "refine"}, "sd: adapted learns in the burn-in, and there is none: want burn above 0, or a number as sd")
	}
	if (m.Joint == nil || !m.Joint.moves()) && (m.Refine == nil || !m.Refine.moves()) {
		f.Conflict([]string{"joint", "refine"}, "nothing would move the state: want joint: prior or guided, or a refinement")
	}
}

// Suits implements Method.
func (m SMCMC) Suits(model ssm.Model) error {
	if m.order() > 0 {
		if err := hasSeries(model); err != nil {
			return err
		}
	}
	if err := m.Ancestors.suits(model); err != nil || m.Joint == nil {
		return err
	}
	return m.Joint.suits(model)
}

// order is that of the series about x⁺ that a chain needs; 0: none. That of decisions counts: joint draws by a series have x⁺ with all its
// derivatives, whatever its order (spot).
func (m SMCMC) order() int {
	if m.Decide != nil && m.Decide.order() > 0 {
		return m.Decide.order()
	}
	if m.Joint == nil {
		return 0
	}
	return m.Joint.order()
}

// Title implements Method.
func (m SMCMC) Title() string {
	if r := m.Filters(); r > 1 {
		return fmt.Sprintf("sequential MCMC, %s samples a scan by %d filters, each after %s of burn-in", numeral.Count(m.Particles), r, numeral.Count(m.Burn))
	}
	return fmt.Sprintf("sequential MCMC, %s samples a scan after %s of burn-in", numeral.Count(m.Particles), numeral.Count(m.Burn))
}

// Bytes implements Method.
func (m SMCMC) Bytes(dim int) int64 { return int64(m.Particles) * int64(32*dim+20) }

// Evidence implements Method: guided draws estimate it, where all measurements are looked at. A chain has none.
func (m SMCMC) Evidence() bool {
	return m.Joint != nil && m.Joint.weighs() && (m.Decide == nil || m.Decide.order() == 0)
}

// Findings implements Method: filters that have few particles each.
func (m SMCMC) Findings() []finding.Finding {
	repeat := m.Filters()
	each, enough := m.Particles/max(1, repeat), sharedErrors*repeat
	if repeat == 1 || each >= enough {
		return nil
	}
	return []finding.Finding{finding.Of(finding.SmallFilters{Filters: repeat, Each: each, Enough: enough})}
}

// Sampler implements Method.
func (m SMCMC) Sampler() finding.Sampler {
	s := finding.Sampler{Chains: true, Joint: m.Joint != nil && m.Joint.moves(), Guided: m.Joint != nil && m.Joint.weighs()}
	s.Index = m.Index != nil && m.Index.changes()
	s.Walk = m.Refine != nil && m.Refine.walks()
	return s
}

// On implements Method.
func (m SMCMC) On(job Job) (Filter, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	if err := refused("SMCMC", m); err != nil {
		return nil, err
	}
	for _, part := range []any{m.Ancestors, m.Joint, m.Index, m.Refine, m.Decide} { // a config checks them by itself
		if c, ok := part.(config.Checker); ok {
			if err := refused("SMCMC", c); err != nil {
				return nil, err
			}
		}
	}
	if err := m.Suits(job.Model); err != nil {
		return nil, fmt.Errorf("SMCMC: %w", err)
	}
	if m.Joint == nil {
		m.Joint = NoJoint{}
	}
	if m.Index == nil {
		m.Index = FixedIndex{}
	}
	if m.Refine == nil {
		m.Refine = NoRefinement{}
	}
	if m.Decide == nil {
		m.Decide = AllRows{}
	}
	if t, ok := job.Model.(ssm.Tracker); ok && (t.Targets() < 1 || t.Dim()%t.Targets() != 0) {
		return nil, fmt.Errorf("SMCMC: a state of %d numbers is not one of %d targets", t.Dim(), t.Targets())
	}
	blocks := ssm.Blocks(job.Model)
	if most := rng.MaxMutations - refineFrom; len(blocks) > most {
		return nil, fmt.Errorf("SMCMC: a state of %d blocks, want at most %d", len(blocks), most)
	}
	m.Repeat = m.Filters()
	if job.Pool == nil {
		job.Pool = mcmc.NewPool(0)
	}
	return &smcmc{SMCMC: m, Job: job, blocks: blocks}, nil
}

// smcmc is the Filter of an SMCMC.
type smcmc struct {
	SMCMC
	Job
	beside
	blocks []ssm.Block
}

// Init implements Filter.
func (f *smcmc) Init(context.Context) (*State, error) {
	st := &State{Dim: f.Model.Dim(), X: f.start(f.Particles), LogZ: math.NaN()}
	if f.Evidence() {
		st.LogZ = 0
	}
	return st, nil
}

// Step implements Filter.
func (f *smcmc) Step(ctx context.Context, st *State, scan *ssm.Scan) (Info, error) {
	if err := given(ctx, st, scan); err != nil {
		return Info{}, err
	}
	if err := st.fits(f.Model, f.Particles, false); err != nil {
		return Info{}, err
	}
	chains, errs, kept := make([]told, f.Repeat), make([]error, f.Repeat), make([]float64, len(st.X))
	f.Pool.Run(f.Repeat, func(r int) {
		c, err := f.run(ctx, r, f.part(st, r), scan, kept[f.from(r)*st.Dim:f.from(r+1)*st.Dim])
		if errs[r] = err; err == nil {
			chains[r] = c.tell()
		}
	})
	for _, err := range errs {
		if err != nil {
			return Info{}, err
		}
	}
	var tuning []float64
	for _, c := range chains {
		tuning = append(tuning, c.tuning...)
	}
	info := f.info(chains)
	st.X, st.K, st.Time, st.Tuning = kept, st.K+1, scan.Time, tuning
	st.LogZ += info.LogEvidence // NaN: none
	return info, nil
}

// from is the first particle of filter r; that of filter Repeat is the number of particles.
func (f *smcmc) from(r int) int { return r * f.Particles / f.Repeat }

// part is the state of filter r alone.
func (f *smcmc) part(st *State, r int) *State {
	p, d, t := *st, st.Dim, len(st.Tuning)/f.Repeat
	p.X, p.Tuning = st.X[f.from(r)*d:f.from(r+1)*d], st.Tuning[r*t:(r+1)*t]
	return &p
}

// plan is what the chains of scan k + 1 have in common.
func (f *smcmc) plan(k int) plan {
	return plan{&f.Job, f.blocks, f.Ancestors.groups(f.blocks, k), f.Ancestors != Together, f.Refine.learns(), f.Decide, f.order(), f.Joint.weighs(), f.beside}
}

// run makes the chain of filter r, and keeps its states.
func (f *smcmc) run(ctx context.Context, r int, st *State, scan *ssm.Scan, kept []float64) (*chain, error) {
	c, err := newChain(f.plan(st.K), r, st, scan)
	if err != nil {
		return nil, err
	}
	first := f.from(r) + r*f.Burn // the steps of all chains are numbered one after another
	for m := range f.Burn + st.N() {
		if m%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		c.burning, c.key.Particle = m < f.Burn, first+m
		f.Joint.joint(c)
		f.Index.index(c)
		for p := range f.blocks {
			f.Refine.refine(c, p)
		}
		if c.infinite != nil {
			return nil, infinite(scan, c.infinite)
		}
		if c.fault != nil {
			return nil, fmt.Errorf("the scan at %v s: %w", scan.Time, c.fault)
		}
		c.burn(m, f.Burn)
		if i := m - f.Burn; i >= 0 {
			copy(kept[i*st.Dim:], c.x)
			if (i+1)*looks/st.N() > i*looks/st.N() {
				c.look()
			}
			c.kept = append(c.kept, c.a...)
		}
	}
	c.summary = summarise(kept, st.Dim)
	c.still(c.summary)
	if f.Evidence() && !f.shared {
		c.weigh(r)
	}
	if c.infinite != nil {
		return nil, infinite(scan, c.infinite)
	}
	return c, nil
}

// info is what the chains of a scan tell together.
func (f *smcmc) info(chains []told) Info {
	info := noAcceptance()
	info.Dropped = chains[0].dropped
	var joint, index, refine rate
	var list [][]summary
	for _, c := range chains {
		list = append(list, c.summary)
		joint.add(c.joint)
		index.add(c.index)
		refine.add(c.refine)
		info.Evaluated, info.Skipped, info.Residuals = info.Evaluated+c.evaluated, info.Skipped+c.skipped, info.Residuals+c.residuals
		info.Passes, info.PassTerms = info.Passes+c.passes, info.PassTerms+c.passTerms
		info.Ancestors, info.Repairs = info.Ancestors+c.ancestors, info.Repairs+c.repairs
		info.explain(c.expected, c.explained)
	}
	info.Ancestors /= f.Repeat
	info.Joint, info.Index, info.Refine = joint.share(), index.share(), refine.share()
	if joint.sampled+index.sampled+refine.sampled > 0 {
		info.Seen = &ByKind{joint.seen(), index.seen(), refine.seen()}
		info.BySum = &ByKind{joint.bySum(), index.bySum(), refine.bySum()}
	}
	info.compare(list, f.Particles/f.Repeat)
	if f.Evidence() && !f.shared {
		var list []evidence
		for _, c := range chains {
			list = append(list, c.evidence)
		}
		info.weigh(list)
	}
	return info
}
