package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Walk is a random walk of a block's coordinates (sequential-mcmc-massive-data, section 2.1, eq. 42): with ε ~ N(0, SD² I),
//
//	x* = x + ε,   log r = log p(z | x*) − log p(z | x) + log p(x* | f(a)) − log p(x | f(a)).
//
// With SD Adapted, ε is e^s·L·N(0, I). In the burn-in, s moves towards an acceptance of .234, of .44 for a single coordinate (Andrieu
// and Thoms 2008), and L Lᵀ becomes the covariance of the chain's states (Haario, Saksman and Tamminen 2001) at the end of each of
// several windows, every one twice as long as the one before: states on the way from the start do not count for long. After
// the burn-in both stand, so that the kept states are a chain with the right law. The next scan begins with them.
//
// Where the noise of the transition is confined to a subspace (ssm.Confined), so is ε: it is projected.
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

func (Walk) walks() bool { return true }

func (w Walk) learns() bool { return w.SD == Adapted }

func (w Walk) refine(c *chain, block int) {
	s, b := c.stream(refineFrom+block), c.blocks[block]
	copy(c.y, c.x)
	if w.SD == Adapted {
		c.walk[block].propose(s, c.y[b.From:b.To])
	} else {
		for i := b.From; i < b.To; i++ {
			c.y[i] += float64(w.SD * s.Normal())
		}
	}
	changed := b
	if t, ok := c.tr.(ssm.Confined); ok {
		t.Nearest(c.before, c.y)
		changed = ssm.Block{From: 0, To: len(c.y)} // the projection may move other coordinates, too
	}
	prior := c.tr.LogDensity(c.before, c.y)
	ok, logR := c.decide(s, changed, prior-c.logPrior()+c.gain(), &c.refine)
	if ok {
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
	factor   []float64 // L

	mean, m2 []float64 // of the states of this window: mean, and sums of products of deviations
	seen     int       // states of this window
	window   int       // its length
}

const (
	trials      = 100 // draws of the prediction whose covariance the first walk has
	firstWindow = 25  // states
	gentle      = 4   // added to the states of a window, so that its first decisions move s little
	shrinkage   = 5   // states that the variances alone are worth, beside a window's covariances
)

// restore takes over what the scan before has learned, or begins with the spread of the prediction.
func (w *walkers) restore(tuning []float64, c *chain) {
	d := len(c.x)
	var draws []float64
	if len(tuning) == 0 {
		s := c.at(tunedAt).Stream()
		draws = make([]float64, trials*d)
		for j := range trials {
			c.draw(s)
			c.predict(s, c.other, draws[j*d:(j+1)*d])
		}
	}
	for _, b := range c.blocks {
		n := b.To - b.From
		k := &walker{window: firstWindow, mean: make([]float64, n), m2: make([]float64, n*n)}
		if draws != nil {
			k.logScale = usualScale(n)
			_, k.cov = moments(draws, d, b, func(int) float64 { return 1. / trials })
		} else {
			k.logScale, k.cov = tuning[0], append([]float64(nil), tuning[1:1+n*n]...)
			tuning = tuning[1+n*n:]
		}
		k.factorise()
		*w = append(*w, k)
	}
}

// usualScale is the s of a normal law with covariance L Lᵀ in many dimensions (Roberts, Gelman and Gilks 1997).
func usualScale(n int) float64 { return rng.Log(2.38 / math.Sqrt(float64(n))) }

// save returns what the next scan takes over.
func (w walkers) save() (tuning []float64) {
	for _, k := range w {
		tuning = append(append(tuning, k.logScale), k.cov...)
	}
	return tuning
}

// factorise sets L. A coordinate that stands still gets no steps. Where the covariance of the others is not positive definite, L is
// diagonal.
func (k *walker) factorise() {
	n := len(k.mean)
	k.factor = append(k.factor[:0], k.cov...)
	for i := range n {
		if k.cov[i*n+i] == 0 {
			k.factor[i*n+i] = 1
		}
	}
	if dense.Cholesky(k.factor, n) {
		for i := range n {
			if k.cov[i*n+i] == 0 {
				k.factor[i*n+i] = 0
			}
		}
	} else {
		clear(k.factor)
		for i := range n {
			k.factor[i*n+i] = math.Sqrt(max(0, k.cov[i*n+i]))
		}
	}
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
	aim := 0.234
	if len(x) == 1 {
		aim = 0.44
	}
	accepted := 0.0
	if logR > math.Inf(-1) { // NaN is refused
		accepted = rng.Exp(min(0, logR))
	}
	k.seen++
	k.logScale += (accepted - aim) / rng.Exp(0.6*rng.Log(float64(k.seen+gentle)))
	n, dev := len(x), make([]float64, len(x))
	for i, v := range x {
		dev[i] = v - k.mean[i]
		k.mean[i] += dev[i] / float64(k.seen)
	}
	for i := range n {
		for l := range n {
			k.m2[i*n+l] += float64(dev[i] * (x[l] - k.mean[l]))
		}
	}
	if k.seen == k.window {
		k.close()
	}
}

// close ends a window: its covariance becomes the walk's, unless a coordinate has not moved that did move before.
func (k *walker) close() {
	n, count, moved := len(k.mean), float64(k.seen), true
	for i := range n {
		moved = moved && (k.m2[i*n+i] > 0 || k.cov[i*n+i] == 0)
	}
	if moved {
		for i := range n {
			for l := range n {
				k.cov[i*n+l] = (k.m2[i*n+l] + k.m2[l*n+i]) / 2 / (count + shrinkage)
			}
			k.cov[i*n+i] = k.m2[i*n+i] / count
		}
		k.factorise()
		k.logScale = usualScale(n)
	}
	clear(k.mean)
	clear(k.m2)
	k.seen, k.window = 0, 2*k.window
}
