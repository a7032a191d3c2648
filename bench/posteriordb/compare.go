package main

import (
	"context"
	"fmt"
	"math"
	"slices"

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
func (p posterior) compare(ctx context.Context, m method, seed uint64, workers *mcmc.Pool) (c comparison, err error) {
	model, err := p.build()
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
		s := m.sampler(model)
		s.Seed, s.Island = seed, i
		states[i], diverged[i], errs[i] = sample(ctx, s)
	})
	chains := make([][][]float64, c.dim)                                 // of each quantity, the states of each run
	means, squares := make([][]float64, c.dim), make([][]float64, c.dim) // of each quantity, a number for each run
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
		mean, square := make([]float64, d), make([]float64, d)
		for k := range reference {
			chains[k] = append(chains[k], nil)
		}
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
				chains[k][i] = append(chains[k][i], q[k])
				mean[k] += w * q[k]
				square[k] += w * (q[k] - r.Mean) * (q[k] - r.Mean)
			}
		}
		for k := range reference {
			means[k], squares[k] = append(means[k], mean[k]), append(squares[k], square[k])
		}
	}
	for k, r := range reference {
		if _, err := mcmc.Mixed(chains[k], mostRHat); err != nil && states[0].J == 1 && c.mixed == nil {
			c.mixed = fmt.Errorf("%s: %w", r.Name, err)
		}
		mean, e := average(means[k])
		c.mean = c.mean.further(math.Abs(mean-r.Mean)/math.Hypot(e, r.MeanMCSE), r.Name)
		variance, e := average(squares[k])
		sd := math.Sqrt(variance)
		c.sd = c.sd.further(math.Abs(sd-r.SD)/math.Hypot(e/(2*sd), r.SDMCSE), r.Name)
	}
	if slices.ContainsFunc(logZ, func(z float64) bool { return z != 0 }) {
		mean, e := average(logZ)
		c.logZ = fmt.Sprintf("%.2f (sd %.2f)", mean, e*math.Sqrt(runs))
	}
	return c, nil
}

// average returns the mean of the runs' estimates and its standard error.
func average(x []float64) (mean, e float64) {
	mean, sd := spread(x)
	return mean, sd / math.Sqrt(float64(len(x)))
}
