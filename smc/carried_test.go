package smc

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// observed is d parameters with priors N(0, 1), each measured once with noise of its own: their evidence and posterior are products.
func observed(d int) (p problem) {
	y, sd := make([]float64, d), make([]float64, d)
	for i := range d {
		y[i], sd[i] = 1.5*math.Sin(float64(i)), 0.4+0.4*float64(i%2)
		v := sd[i] * sd[i]
		p.logZ -= 0.5 * (y[i]*y[i]/(1+v) + math.Log(2*math.Pi*(1+v)))
		p.mean, p.vars = append(p.mean, y[i]/(1+v)), append(p.vars, v/(1+v))
	}
	p.prior = normal{d: d, sd: 1}
	p.model = density{d, func(theta, grad []float64) (l float64) {
		for i, x := range theta {
			z := (y[i] - x) / sd[i]
			l -= 0.5 * (z*z + math.Log(2*math.Pi*sd[i]*sd[i]))
			if grad != nil {
				grad[i] = z / sd[i]
			}
		}
		return l
	}}
	return p
}

// Moves of pCN are accepted seldom, and by default a stage ends with fifty of them under way. It is stuck only if they did not carry the
// particles: the log evidence tells who is right. Over 60 seeds of the cells where nothing is stuck, log Z − exact is −.04, −.17, −.59 and
// −.03, with standard deviations of .23, .34, .67 and .21, and none of 1,600 stages is stuck. The bounds are the bias and 4.9 standard
// errors of the mean of three runs, which a normal mean exceeds once in 10⁶. Steps that are tiny are off by seven nats, and most of their
// stages are stuck, although nine tenths of the moves are accepted.
func TestStuckIsNotCarried(t *testing.T) {
	testkit.Statistics(t)
	for _, c := range []struct {
		what      string
		d         int
		move      mcmc.Kernel
		stuck     bool
		bound     float64
		low, high float64 // of the mean acceptance
	}{
		{"pCN", 5, mcmc.PCN{}, false, 0.8, 0.2, 0.4},
		{"pCN", 20, mcmc.PCN{}, false, 1.2, 0.2, 0.4},
		{"pCN", 50, mcmc.PCN{}, false, 2.5, 0.2, 0.4},
		{"pCN, large steps", 5, mcmc.PCN{Step: 0.9}, false, 0.8, 0.05, 0.3},
		{"pCN, tiny steps", 20, mcmc.PCN{Step: 0.02}, true, 3, 0.8, 1},
		{"HMC, tiny steps", 20, mcmc.HMC{Steps: 4, Step: 0.004}, true, 3, 0.9, 1},
	} {
		p := observed(c.d)
		off, acceptance, low, stages, stuck := 0.0, 0.0, 0, 0, 0
		const runs = 3
		for seed := range uint64(runs) {
			st, infos := run(t, &Sampler{Model: p.model, Prior: p.prior, Path: Tempering{}, Move: c.move, Particles: 150, Seed: seed})
			off += (st.LogZ - p.logZ) / runs
			for _, info := range infos {
				stages++
				acceptance += float64(info.Acceptance)
				if info.Stuck {
					stuck++
				}
				if info.Acceptance < StuckBelow {
					low++
				}
			}
		}
		acceptance /= float64(stages)
		t.Logf("%s, D = %d: log Z off by %.2f, acceptance %.2f, %d of %d stages stuck, %d below the bound of acceptance", c.what, c.d, off, acceptance, stuck, stages, low)
		if !(acceptance > c.low && acceptance < c.high) {
			t.Errorf("%s, D = %d: acceptance %v", c.what, c.d, acceptance)
		}
		switch {
		case c.stuck && !(2*stuck > stages && math.Abs(off) > c.bound):
			t.Errorf("%s, D = %d: %d of %d stages are stuck, and log Z is off by %v", c.what, c.d, stuck, stages, off)
		case !c.stuck && !(stuck == 0 && math.Abs(off) <= c.bound):
			t.Errorf("%s, D = %d: %d of %d stages are stuck, and log Z is off by %v", c.what, c.d, stuck, stages, off)
		}
	}
}
