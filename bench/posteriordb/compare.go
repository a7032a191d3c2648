package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

const (
	runs     = 10  // independent runs of a sampler
	bound    = 4.5 // in Monte Carlo standard errors
	mostRHat = 1.1 // of each quantity, over the runs by chains
)

// comparison is how far runs are from the reference.
type comparison struct {
	dim       int
	mean, sd  distance // the worst of all quantities
	logZ      string   // mean and standard deviation over the runs
	rhat      distance // R-hat over the ten chains, the worst of all quantities; of populations none
	off       distance // the worst mean of all quantities, in standard deviations of the reference
	draws     float64  // independent draws of the posterior that a run's means are worth: the variance of a quantity over that of its means, geometric mean of all
	gradients int      // evaluations of the log-likelihood of all data with its gradient, in all runs
	mixed     error    // of chains: why they are no draws of one posterior; nil: they agree
	diverged  int      // proposals that diverged, in all runs: such a posterior is not to be trusted, and runs say so
}

func (c comparison) misses() bool { return !(c.mean.errors <= bound && c.sd.errors <= bound) }

// distance is a difference from the reference in Monte Carlo standard errors.
type distance struct {
	errors float64
	name   string
}

func (d distance) String() string { return fmt.Sprintf("%.1f %s", d.errors, d.name) }

// further is the larger of two distances. NaN is the largest.
func (d distance) further(errors float64, name string) distance {
	if errors > d.errors || math.IsNaN(errors) {
		return distance{errors, name}
	}
	return d
}

// compare samples the posterior ten times. Its standard deviation is estimated about the reference mean μ, √E(q−μ)², so that
// the estimate of each run has no bias from the run's own mean.
func (p posterior) compare(ctx context.Context, m method, o options, workers *mcmc.Pool) (c comparison, err error) {
	model, err := p.build(o.wide)
	if err != nil {
		return c, err
	}
	reference, err := p.moments()
	if err != nil {
		return c, err
	}
	c.dim = model.Dim()
	states, errs, diverged := make([]*smc.State, runs), make([]error, runs), make([]int, runs)
	workers.Run(runs, func(i int) {
		s := m.sampler(model, o.gradients)
		s.Seed, s.Island = o.seed, i
		states[i], diverged[i], errs[i] = sample(ctx, s)
	})
	means, squares := make([][]float64, c.dim), make([][]float64, c.dim) // of each quantity, a number for each run
	draws := make([][][]float64, c.dim)                                  // of each quantity, those of each run
	var logZ []float64
	for i, st := range states {
		if errs[i] != nil {
			return c, errs[i]
		}
		c.gradients += st.Gradients / st.Examples
		c.diverged += diverged[i]
		logZ = append(logZ, st.LogZ)
		kept := st.Ensemble()
		theta, logw := kept.Theta, kept.LogW
		values, d := model.Values(theta), c.dim
		mean, square, drawn := make([]float64, d), make([]float64, d), make([][]float64, d)
		for j := range len(values) / d {
			w := float64(d) / float64(len(values))
			if logw != nil {
				w = math.Exp(logw[j])
			}
			if w == 0 {
				continue
			}
			q := values[j*d : (j+1)*d]
			if p.quantities != nil {
				p.quantities(q)
			}
			for k, r := range reference {
				drawn[k] = append(drawn[k], q[k])
				mean[k] += float64(w * q[k])
				square[k] += float64(w * (q[k] - r.Mean) * (q[k] - r.Mean))
			}
		}
		for k := range reference {
			means[k], squares[k], draws[k] = append(means[k], mean[k]), append(squares[k], square[k]), append(draws[k], drawn[k])
		}
	}
	for k, r := range reference {
		if _, err := mcmc.Mixed(draws[k], mostRHat); err != nil && states[0].J == 1 && c.mixed == nil {
			c.mixed = fmt.Errorf("%s: %w", r.Name, err)
		}
		if states[0].J == 1 {
			c.rhat = c.rhat.further(rhat(draws[k]), r.Name)
		}
		mean, e := average(means[k])
		c.draws += math.Log(r.SD*r.SD/(e*e*runs)) / float64(len(reference))
		c.mean = c.mean.further(math.Abs(mean-r.Mean)/math.Hypot(e, r.MeanMCSE), r.Name)
		c.off = c.off.further(math.Abs(mean-r.Mean)/r.SD, r.Name)
		variance, e := average(squares[k])
		sd := math.Sqrt(variance)
		c.sd = c.sd.further(math.Abs(sd-r.SD)/math.Hypot(e/(2*sd), r.SDMCSE), r.Name)
	}
	c.draws = math.Exp(c.draws)
	if slices.ContainsFunc(logZ, func(z float64) bool { return z != 0 }) {
		mean, e := average(logZ)
		c.logZ = fmt.Sprintf("%.2f (sd %.2f)", mean, e*math.Sqrt(runs))
	}
	return c, nil
}

// average returns the mean of the runs' estimates and its standard error.
func average(x []float64) (mean, e float64) {
	mean, sd := numeral.Spread(x)
	return mean, sd / math.Sqrt(float64(len(x)))
}

// rhat is R-hat of chains that have kept different numbers of states, at the length of the shortest. Too few states count as +Inf.
func rhat(chains [][]float64) float64 {
	least := len(slices.MinFunc(chains, func(a, b []float64) int { return len(a) - len(b) }))
	same := make([][]float64, len(chains))
	for i, c := range chains {
		same[i] = c[:least]
	}
	if r := mcmc.RHat(same); !math.IsNaN(r) {
		return r
	}
	return math.Inf(1)
}
