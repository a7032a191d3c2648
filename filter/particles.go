package filter

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/ssm"
)

// checkParticles refuses a number of particles.
func checkParticles(f *config.Faults, n int) { f.Within("particles", n, 2, rng.MaxParticles) }

// usualParticles is N where a config gives none.
const usualParticles = 4000

// sampling is what the methods have in common whose states are particles.
type sampling struct{}

// Suits implements Method: any model has a prediction to draw from.
func (sampling) Suits(ssm.Model) error { return nil }

// Samples implements Method.
func (sampling) Samples() bool { return true }

// Sampler implements Method: weighted particles have no such setting.
func (sampling) Sampler() finding.Sampler { return finding.Sampler{Weighted: true} }

// Filters implements Method.
func (sampling) Filters() int { return 1 }

// Numbers implements Method.
func (sampling) Numbers() int { return 1 }

// weighting is a job of weighted particles.
type weighting struct {
	Job
	n int
}

// Init implements Filter.
func (f *weighting) Init(context.Context) (*State, error) {
	return &State{Dim: f.Model.Dim(), X: f.start(f.n), LogW: even(f.n)}, nil
}

// scan begins a scan.
func (f *weighting) scan(ctx context.Context, st *State, scan *ssm.Scan) (*moving, error) {
	if err := given(ctx, st, scan); err != nil {
		return nil, err
	}
	if err := st.fits(f.Model, f.n, true); err != nil {
		return nil, err
	}
	tr, err := st.transition(f.Model, scan)
	if err != nil {
		return nil, err
	}
	return &moving{Job: &f.Job, ctx: ctx, tr: tr, scan: scan, k: st.K + 1, n: f.n, d: st.Dim}, nil
}

// moving is a scan that particles are moved to.
type moving struct {
	*Job
	ctx  context.Context
	tr   ssm.Transition
	scan *ssm.Scan
	k    int // of the scan, from 1
	n, d int

	dropped int // measurements that the model leaves out
}

// move draws the particles x from their ancestors. It adds to their log-weights the log-likelihood, less base and less what the
// ancestors were chosen by.
func (m *moving) move(st *State, from []int32, logw, chosen []float64) (x []float64, base float64, err error) {
	x, ll := make([]float64, len(st.X)), make([]float64, m.n)
	if err := m.each(moved, func(like ssm.Likelihood, s *ssm.Stream, j int) {
		to := x[j*m.d : (j+1)*m.d]
		m.tr.Sample(s, st.Particle(int(from[j])), to)
		ll[j] = logLik(like, to)
	}); err != nil {
		return nil, 0, err
	}
	if base, err = m.relate(x, ll); err != nil {
		return nil, 0, err
	}
	for j, l := range ll {
		logw[j] += l - chosen[from[j]]
	}
	return x, base, nil
}

// relate replaces the log-likelihoods of the particles x by their differences from the largest, if that is below deep. It returns
// what was subtracted.
func (m *moving) relate(x, ll []float64) (base float64, err error) {
	row := func(j int) []float64 { return x[j*m.d : (j+1)*m.d] }
	for j, l := range ll {
		if math.IsInf(l, 1) {
			return 0, infinite(m.scan, row(j))
		}
	}
	top := slices.Index(ll, slices.Max(ll))
	if !(ll[top] < deep) || math.IsInf(ll[top], -1) {
		return 0, nil
	}
	like, err := bound(m.Model, m.scan)
	if err != nil {
		return 0, err
	}
	was := slices.Clone(ll)
	for range mostTops { // the largest of logarithms without digits need not be the largest
		for j, l := range was {
			ll[j] = difference(like, l, was[top], row(j), row(top))
		}
		next := slices.Index(ll, slices.Max(ll))
		if ll[next] <= 0 {
			break
		}
		top = next
	}
	return was[top], nil
}

// mostTops bounds the search for the largest of log-likelihoods by their differences, which finds it at once but for rounding.
const mostTops = 3

// end takes the state to the scan: the particles x with normalised weights, and the log evidence of the scan.
func (m *moving) end(st *State, from []int32, resampled bool, x, logw []float64, ess, logZ float64) Info {
	info := noAcceptance()
	if info.Resampled = resampled; resampled {
		st.Genealogy = descend(st.Genealogy, from)
	}
	st.X, st.LogW, st.K, st.Time = x, logw, m.k, m.scan.Time
	st.LogZ += logZ
	info.LogEvidence, info.Ancestors, info.Evaluated = logZ, distinct(from, 1, m.n), int64(m.n)*int64(m.scan.Measured())
	info.Dropped = m.dropped
	info.sampled(st, ess)
	return info
}

// each calls do for all particles, on the pool's threads. Each thread has a likelihood of its own.
//
// s has the random numbers of the stage: one stream for every share particles in order, whatever the threads.
func (m *moving) each(stage int, do func(like ssm.Likelihood, s *ssm.Stream, j int)) error {
	workers := m.Pool
	if workers == nil {
		workers = mcmc.NewPool(0)
	}
	tasks := (m.n + share - 1) / share
	likes := make(chan ssm.Likelihood, workers.Threads())
	errs := make([]error, tasks)
	workers.Run(tasks, func(t int) {
		if errs[t] = m.ctx.Err(); errs[t] != nil {
			return
		}
		var like ssm.Likelihood
		select {
		case like = <-likes:
		default:
			var err error
			if like, err = bound(m.Model, m.scan); err != nil {
				errs[t] = err
				return
			}
		}
		s := rng.Key{Seed: m.Seed, Purpose: rng.Predict, Island: m.Node, Iteration: m.k, Mutation: stage, Particle: t * share}.Stream()
		for j := t * share; j < min(m.n, (t+1)*share); j++ {
			do(like, s, j)
		}
		select {
		case likes <- like:
		default:
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	m.dropped = dropped(<-likes)
	return nil
}

// share is the number of particles of a task.
const share = 256

// The stages of a scan, as the field Mutation of the streams.
const (
	moved     = iota // particles move
	predicted        // predictions by which an auxiliary filter chooses
)

// ancestors draws n ancestors with normalised weights.
func (m *moving) ancestors(scheme smc.Scheme, w []float64) []int32 {
	from := make([]int32, m.n)
	s := rng.Key{Seed: m.Seed, Purpose: rng.Resample, Island: m.Node, Iteration: m.k}.Stream()
	scheme.Ancestors(w, s.Float64, from)
	return from
}

// exps returns e to the log-weights.
func exps(logw []float64) []float64 {
	w := make([]float64, len(logw))
	for j, l := range logw {
		w[j] = rng.Exp(l)
	}
	return w
}

// even returns the log-weights of n particles that weigh the same.
func even(n int) []float64 {
	w, l := make([]float64, n), -rng.Log(float64(n))
	for j := range w {
		w[j] = l
	}
	return w
}

// effective is the effective sample size of normalised weights.
func effective(weights []float64) float64 {
	sum := 0.0
	for _, w := range weights {
		sum += float64(w * w)
	}
	return 1 / sum
}

// sampled adds to an Info what weighted particles tell: the effective sample size of the scan's weights, and the errors of the means.
func (info *Info) sampled(st *State, ess float64) {
	info.ESS = st.without(ess)
	mean, _ := st.Moments()
	info.MCSE = meanErrors(st.X, exps(st.LogW), mean, st.Genealogy)
}

// normalise normalises log-weights. Weights that are all 0 say that the scan is impossible.
func (m *moving) normalise(logw []float64, x []float64) (logSum, ess float64, err error) {
	for _, l := range logw {
		if l > math.Inf(-1) {
			return weights.Normalise(logw, "particle")
		}
	}
	like, err := bound(m.Model, m.scan)
	if err == nil {
		err = impossible(like, m.scan, x[:m.d], fmt.Sprintf("%d particles", m.n))
	}
	return 0, 0, err
}

// start draws the particles before the first scan.
func (j *Job) start(n int) []float64 {
	d := j.Model.Dim()
	x := make([]float64, n*d)
	for i := range n {
		j.Model.Start(rng.Key{Seed: j.Seed, Purpose: rng.State, Island: j.Node, Particle: i}.Stream(), x[i*d:(i+1)*d])
	}
	return x
}

// distinct counts the different numbers below n in each column of a list of rows, and returns the smallest count.
func distinct(list []int32, columns, n int) (least int) {
	least = n
	for g := range columns {
		seen, count := make([]bool, n), 0
		for i := g; i < len(list); i += columns {
			if !seen[list[i]] {
				seen[list[i]] = true
				count++
			}
		}
		least = min(least, count)
	}
	return least
}

// without returns the ESS of each of the coordinates of weighted particles: NaN for those that have one value in all particles.
func (st *State) without(ess float64) []float64 {
	out := make([]float64, st.Dim)
	for i := range out {
		out[i] = math.NaN()
		for j := i; j < len(st.X); j += st.Dim {
			if st.X[j] != st.X[i] {
				out[i] = ess
				break
			}
		}
	}
	return out
}
