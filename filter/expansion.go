package filter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/ssm"
)

// A chain may expand its likelihood about a state x⁺ (ssm.Expandable): subsampling and guided draws need it near the bulk of the posterior.
// The first x⁺ is the mode of the likelihood times a normal law with the moments of the prediction (newton.go). The search begins at the mean of the prediction
// and at the chain's start. Beyond reach of its measurements the gradient of a target is 0, so a target that has not found them there is also
// sought where they are densest (seek.go). At the end of the burn-in x⁺ is the mean of the states of its second half, moved by one more step.

const improvement = 1 // steps from the mean of the burn-in

// errNoSeries refuses a likelihood without a series.
var errNoSeries = errors.New("the model's likelihood has no Taylor series (ssm.Expandable), which decide: subsample and joint: guided need: " +
	"take decide: all and joint: prior")

// expandable is the likelihood of the chain as one with a series.
func (c *chain) expandable() (ssm.Expandable, error) {
	if like, ok := seriesOf(c.like, len(c.x)); ok {
		return like, nil
	}
	return nil, errNoSeries
}

// hasSeries refuses a model whose likelihoods have no series. One that has no likelihood of an empty scan is found out by the first scan.
func hasSeries(m ssm.Model) error {
	like, err := m.Bind(&ssm.Scan{})
	if err != nil || like == nil {
		return nil
	}
	if _, ok := like.(ssm.Expandable); !ok {
		return errNoSeries
	}
	return nil
}

// expand seeks the first x⁺ of the scan.
func (c *chain) expand() error {
	like, err := c.expandable()
	if err != nil {
		return err
	}
	mean, cov := c.predicted()
	var ok bool
	if c.newton, ok = newNewton(like, mean, cov, c.cavity); !ok {
		return fmt.Errorf("the covariance of the predicted states is not positive semidefinite: %v", cov)
	}
	best, found := c.newton.climb(mean, mostPasses)
	if other, ok := c.newton.climb(c.x, mostPasses); ok && (!found || other.value > best.value) {
		best, found = other, true
	}
	if !found {
		return fmt.Errorf("the log-likelihood has no derivatives at the mean of the predicted states, %v, nor at the start of the chain, %v: "+
			"take joint: prior and decide: all, which need none", mean, c.x)
	}
	if finder, ok := own(c.like).(ssm.Finder); ok {
		best = c.newton.seek(finder, c.blocks, cov, best)
	}
	c.settle(best)
	return nil
}

// burn takes the state after step m into account, of so many steps of burn-in, and moves x⁺ at their end.
func (c *chain) burn(m, steps int) {
	if c.order == 0 || m < steps/2 || m >= steps {
		return
	}
	if c.half == nil {
		c.half = make([]float64, len(c.x))
	}
	for i, v := range c.x {
		c.half[i] += (v - c.plus.at[i]) / float64(steps-steps/2)
	}
	if m < steps-1 {
		return
	}
	for i, v := range c.plus.at {
		c.half[i] += v
	}
	best, ok := c.newton.climb(c.half, 1+improvement)
	if !ok {
		best = c.plus
	}
	c.settle(best)
}

// settle makes a spot x⁺, with the series that the chain needs: the last pass may have been elsewhere, or of another order.
func (c *chain) settle(s spot) {
	if n := c.newton; n.order != c.order || !slices.Equal(n.at, s.at) {
		n.look(s.at, c.order)
	}
	c.plus = s
	c.decider.expanded(c)
}

// predicted is the mean and the covariance of the state before the scan: exact for a Gaussian transition, else of a draw for each
// particle. Coordinates that have ancestors of their own are independent.
func (c *chain) predicted() (mean, cov []float64) {
	d := len(c.x)
	states := c.from
	g, gaussian := c.tr.(ssm.Gaussian)
	if !gaussian {
		states = c.predictions()
	}
	mean, cov = make([]float64, d), make([]float64, d*d)
	for _, b := range c.groups {
		m, v := moments(states, d, b, func(int) float64 { return 1 / float64(c.n) })
		copy(mean[b.From:b.To], m)
		for i := range m {
			copy(cov[(b.From+i)*d+b.From:], v[i*len(m):(i+1)*len(m)])
		}
	}
	if !gaussian {
		return mean, cov
	}
	return ssm.Propagate(g, mean, cov)
}
