package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Walk is a random walk of a block's coordinates (sequential-mcmc-massive-data, eq. 42): with ε ~ N(0, SD² I),
//
//	x* = x + ε,   log r = log p(z | x*) − log p(z | x) + log p(x* | f(a)) − log p(x | f(a)).
//
// With SD Adapted, ε is e^s·L·N(0, I). In the burn-in, L Lᵀ follows the covariance of the chain's states (Haario, Saksman and
// Tamminen 2001), and s moves towards an acceptance of .234, of .44 for a single coordinate (Andrieu and Thoms 2008, algorithm
// 4). Then both stand, so that the kept states are a chain with the right law. The next scan begins with them.
type Walk struct {
	SD float64 `yaml:"sd" words:"adapted=-1"` // in the units of the state
}

// Adapted is the SD of a walk whose steps are learned in the burn-in.
const Adapted = -1

// Defaults implements config.Defaulter.
func (w *Walk) Defaults() {
	if w.SD == 0 {
		w.SD = Adapted
	}
}

// Check implements config.Checker.
func (w Walk) Check(f *config.Faults) {
	f.If(w.SD != Adapted && (!(w.SD > 0) || math.IsInf(w.SD, 1)), "sd", "want a number above 0, or adapted")
}

// Examples implements config.Exampler.
func (Walk) Examples() []string { return []string{"{sd: 0.1}", "{sd: adapted}"} }

func (Walk) moves() bool { return true }

func (w Walk) learns() bool { return w.SD == Adapted }

func (w Walk) refine(c *chain, block int) {
	s, b := c.stream(refineFrom+block), c.f.blocks[block]
	copy(c.y, c.x)
	if w.SD == Adapted {
		c.walk[block].propose(s, c.y[b.From:b.To])
	} else {
		for i := b.From; i < b.To; i++ {
			c.y[i] += float64(w.SD * s.Normal())
		}
	}
	logR, prior := math.Inf(-1), c.tr.LogDensity(c.particle(c.a), c.y)
	if prior > math.Inf(-1) {
		logR = c.like.Try(c.y, b) + prior - c.logPrior()
	}
	if c.accepts(s, logR, &c.refine) {
		c.move()
		c.prior = prior
	}
	if w.SD == Adapted && c.burning {
		c.walk[block].learn(c.x[b.From:b.To], logR)
	}
}

// walkers are the walks of all blocks; nil where the refinement learns nothing.
type walkers []*walker

// walker is what the walk of one block has learned.
type walker struct {
	logScale float64   // s
	cov      []float64 // n × n
	mean     []float64 // n, of the states of this scan's burn-in
	factor   []float64 // L
	made     int       // steps of this scan's burn-in
}

const (
	trials   = 100 // draws of the prediction whose covariance the first walk has
	inertia  = 50  // states that the covariance at the start of a burn-in is worth
	refactor = 16  // steps after which L follows the covariance
)

// restore takes over what the scan before has learned, or begins with the spread of the prediction.
func (w *walkers) restore(tuning []float64, c *chain) {
	if !c.f.Refine.learns() {
		return
	}
	d := len(c.x)
	var draws []float64
	if len(tuning) == 0 {
		s := rng.Key{Seed: c.key.Seed, Purpose: rng.Predict, Island: c.key.Island, Iteration: c.key.Iteration, Mutation: 1}.Stream()
		draws = make([]float64, trials*d)
		for j := range trials {
			c.tr.Sample(s, c.particle(int32(s.IntN(c.n))), draws[j*d:(j+1)*d])
		}
	}
	for _, b := range c.f.blocks {
		n := b.To - b.From
		k := &walker{mean: append([]float64(nil), c.x[b.From:b.To]...)}
		if draws != nil {
			k.logScale = rng.Log(2.38 / math.Sqrt(float64(n)))
			_, k.cov = moments(draws, d, b, func(int) float64 { return 1. / trials })
		} else {
			k.logScale, k.cov = tuning[0], append([]float64(nil), tuning[1:1+n*n]...)
			tuning = tuning[1+n*n:]
		}
		k.factorise()
		*w = append(*w, k)
	}
}

// save returns what the next scan takes over.
func (w walkers) save() (tuning []float64) {
	for _, k := range w {
		tuning = append(append(tuning, k.logScale), k.cov...)
	}
	return tuning
}

// stand ends the learning.
func (w walkers) stand() {
	for _, k := range w {
		k.factorise()
	}
}

// factorise sets L. Where the covariance is not positive definite, L is diagonal; a coordinate that has not moved at all has a step
// of the smallest size that moves it.
func (k *walker) factorise() {
	n := len(k.mean)
	factor := append([]float64(nil), k.cov...)
	if !dense.Cholesky(factor, n) {
		clear(factor)
		for i := range n {
			factor[i*n+i] = max(math.Sqrt(max(0, k.cov[i*n+i])), 1e-8*math.Abs(k.mean[i]), 1e-150)
		}
	}
	k.factor = factor
}

// propose adds a step to a block's coordinates.
func (k *walker) propose(s *ssm.Stream, x []float64) {
	n, scale := len(x), rng.Exp(k.logScale)
	for i := range n {
		step := scale * s.Normal()
		for l := i; l < n; l++ {
			x[l] += float64(k.factor[l*n+i] * step)
		}
	}
}

// learn takes the state after a decision, and the ratio that decided, into account.
func (k *walker) learn(x []float64, logR float64) {
	k.made++
	aim := 0.234
	if len(x) == 1 {
		aim = 0.44
	}
	accepted := 0.0
	if logR > math.Inf(-1) { // NaN is refused
		accepted = min(1, rng.Exp(min(0, logR)))
	}
	k.logScale += (accepted - aim) / rng.Exp(0.6*rng.Log(float64(k.made)))
	rate, n := 1/float64(inertia+k.made), len(x)
	for i, v := range x {
		k.mean[i] += float64(max(rate, 1/float64(k.made)) * (v - k.mean[i]))
	}
	for i := range n {
		for l := range n {
			k.cov[i*n+l] += float64(rate * (float64((x[i]-k.mean[i])*(x[l]-k.mean[l])) - k.cov[i*n+l]))
		}
	}
	if k.made%refactor == 0 {
		k.factorise()
	}
}
