package filter

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// chain is the Markov chain of one scan.
type chain struct {
	f    *smcmc
	tr   ssm.Transition
	like ssm.Incremental
	from []float64 // n × Dim: the particles of the scan before
	n    int

	x      []float64   // the state
	groups []ssm.Block // coordinates of the state before that have an index of their own
	a      []int32     // for each group, the index of the particle that it comes from
	before []float64   // f(a), the state before
	prior  float64     // log p(x | f(a)); NaN: to be computed
	y      []float64   // the proposal
	other  []float64   // f(a*), the state before of a proposal
	b      []int32     // a*

	key     rng.Key // of the present step
	burning bool

	joint, index, refine rate
	walk                 walkers     // what a refinement by random walk has learned
	exact                *exactIndex // what the exact draw of the index needs; nil until it is used
}

// rate counts decisions.
type rate struct{ made, accepted int }

// share is the acceptance; NaN without decisions.
func (r rate) share() float64 { return float64(r.accepted) / float64(r.made) }

// chain starts the chain of a scan: a is uniform and x a draw of p(· | f(a)). Where the scan is impossible at the draw, the
// chain starts at another draw, up to mostStarts.
//
// Before the first scan the particles are draws of the model's start, where targets are independent. So each target has an index of
// its own there: N draws of each make N^P starts of P targets. Without this, few of N draws would be near the truth in all targets.
func (f *smcmc) chain(st *State, scan *ssm.Scan) (*chain, error) {
	tr, err := st.transition(f.Model, scan)
	if err != nil {
		return nil, err
	}
	like, err := bind(f.Model, scan, f.Pool)
	if err != nil {
		return nil, err
	}
	d, groups := st.Dim, []ssm.Block{{From: 0, To: st.Dim}}
	if st.K == 0 {
		groups = f.blocks
	}
	c := &chain{
		f: f, tr: tr, like: like, from: st.X, n: st.N(), x: make([]float64, d), y: make([]float64, d), burning: true,
		groups: groups, a: make([]int32, len(groups)), b: make([]int32, len(groups)), before: make([]float64, d), other: make([]float64, d),
	}
	c.key = rng.Key{Seed: f.Seed, Purpose: rng.Predict, Island: f.Node, Iteration: st.K + 1}
	s, possible := c.key.Stream(), false
	for range mostStarts {
		c.draw(s)
		c.a, c.b, c.before, c.other = c.b, c.a, c.other, c.before
		tr.Sample(s, c.before, c.x)
		if possible = !math.IsInf(like.LogLik(c.x, nil), -1); possible {
			break
		}
	}
	if !possible {
		return nil, impossible(like, scan, c.x)
	}
	like.Set(c.x)
	c.prior = math.NaN()
	c.walk.restore(st.Tuning, c)
	c.key.Purpose = rng.Chain
	return c, nil
}

const mostStarts = 1000

// impossible returns the error for a scan that had no likelihood at any start; x is the last of them.
func impossible(like ssm.Likelihood, scan *ssm.Scan, x []float64) error {
	if w, ok := like.(*whole); ok {
		like = w.Likelihood
	}
	if a, ok := like.(ssm.Accuser); ok {
		if row, ok := a.Impossible(x); ok {
			return &ImpossibleError{row, fmt.Errorf("measurement %d of the scan at %v s, %v, is impossible at each of %d states drawn from the prediction: "+
				"leave it out, or widen the model", row+1, scan.Time, scan.Row(row), mostStarts)}
		}
	}
	return &ImpossibleError{-1, fmt.Errorf("the scan at %v s is impossible at each of %d states drawn from the prediction", scan.Time, mostStarts)}
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

// accepts decides on log r. NaN is refused: a proposal without a likelihood, or without a density.
func (c *chain) accepts(s *ssm.Stream, logR float64, r *rate) bool {
	ok := logR >= 0 || rng.Log(s.Float64()) < logR
	if !c.burning {
		r.made++
		if ok {
			r.accepted++
		}
	}
	return ok
}

// move makes the proposal y the state.
func (c *chain) move() {
	c.x, c.y = c.y, c.x
	c.like.Keep()
}

func (c *chain) info() Info {
	i := noAcceptance()
	i.Joint, i.Index, i.Refine = c.joint.share(), c.index.share(), c.refine.share()
	if t, ok := c.like.(ssm.Counter); ok {
		i.Evaluated, i.Skipped = t.Terms()
	}
	i.Dropped = dropped(c.like)
	return i
}

// bind returns the likelihood of a scan. One that does not remember a state is wrapped by one that does.
func bind(m ssm.Model, scan *ssm.Scan, workers *ssm.Pool) (ssm.Incremental, error) {
	like, err := m.Bind(scan)
	if err != nil {
		return nil, err
	}
	if like == nil {
		return nil, errors.New("the model's Bind returned no likelihood")
	}
	if p, ok := like.(ssm.Pooled); ok {
		p.SetPool(workers)
	}
	if inc, ok := like.(ssm.Incremental); ok {
		return inc, nil
	}
	return &whole{Likelihood: like}, nil
}

// dropped is the number of measurements that a likelihood leaves out.
func dropped(like ssm.Likelihood) int {
	if w, ok := like.(*whole); ok {
		like = w.Likelihood
	}
	if d, ok := like.(ssm.Dropper); ok {
		return d.Dropped()
	}
	return 0
}

// whole remembers the log-likelihood of a state, and evaluates that of a proposal as a whole.
type whole struct {
	ssm.Likelihood
	ll, tried float64
	evaluated int64
}

// LogLik implements ssm.Likelihood; NaN is −Inf.
func (w *whole) LogLik(x []float64, rows []int32) float64 {
	l := w.Likelihood.LogLik(x, rows)
	if rows == nil {
		w.evaluated += int64(w.Len())
	}
	if math.IsNaN(l) {
		return math.Inf(-1)
	}
	return l
}

func (w *whole) Set(x []float64) { w.ll = w.LogLik(x, nil) }

func (w *whole) Try(x []float64, _ ssm.Block) float64 {
	w.tried = w.LogLik(x, nil)
	return w.tried - w.ll
}

func (w *whole) Keep() { w.ll = w.tried }

func (w *whole) Terms() (evaluated, skipped int64) { return w.evaluated, 0 }
