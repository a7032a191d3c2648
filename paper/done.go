package paper

import (
	"context"
	"errors"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// Done is a run that is done, as measures see it. What takes the run's own data is computed when a measure asks for it.
type Done struct {
	*starling.Run
	Metrics *eval.Metrics

	ctx      context.Context
	options  starling.Options
	assessed *eval.Assessment   // nil: not yet
	figures  map[string]float64 // those of beside; nil: not yet
}

// tell reports the progress of figures that take long.
func (d *Done) tell(s method.Status) {
	if d.options.Progress != nil {
		d.options.Progress(&starling.Progress{Status: s})
	}
}

// errLacks is the error of a measure that a run does not have.
var errLacks = errors.New("the run has no such figure")

// of is the measure of a metric that a run may lack.
func of(metric func(*eval.Metrics) *uq.Number) func(*Done) (float64, error) {
	return func(d *Done) (float64, error) {
		v := metric(d.Metrics)
		if v == nil {
			return 0, errLacks
		}
		return float64(*v), nil
	}
}

// regression returns the predictions for the run's test examples.
func (d *Done) regression() (*eval.Regression, error) {
	if d.assessed == nil {
		a, err := d.Evaluate(d.ctx, starling.On{}, d.options)
		if err != nil {
			return nil, err
		}
		d.assessed = a
	}
	if d.assessed.Regression == nil {
		return nil, errLacks
	}
	return d.assessed.Regression, nil
}

// scale is the unit of the network's targets in that of the data: 1 unless targets are standardised.
func (d *Done) scale() float64 {
	if s := d.Schema.Targets; s != nil {
		return s.SD[0] / s.To
	}
	return 1
}

// unscaled is a measure of means and truths in the network's units: standardised if its targets are.
func unscaled(f func(predicted, truth []float64) float64) func(*Done) (float64, error) {
	return func(d *Done) (float64, error) {
		r, err := d.regression()
		if err != nil {
			return 0, err
		}
		s := d.scale()
		divided := func(x []float64) []float64 {
			y := make([]float64, len(x))
			for i, v := range x {
				y[i] = v / s
			}
			return y
		}
		return f(divided(r.Mean), divided(r.Targets)), nil
	}
}

// width90 is the mean width of the central intervals of 90 %, in the target's units.
func width90(d *Done) (float64, error) {
	r, err := d.regression()
	if err != nil {
		return 0, err
	}
	widths := make([]float64, len(r.Q95))
	for i, high := range r.Q95 {
		widths[i] = high - r.Q05[i]
	}
	return uq.Mean(widths), nil
}

// validationNLL is the NLL of the posterior on the run's validation examples.
func validationNLL(d *Done) (float64, error) {
	p, err := d.Spec.Load(d.options.DataDir, d.Schema)
	if err != nil {
		return 0, &starling.DataError{Err: err}
	}
	if p.Validate == nil {
		return 0, errLacks
	}
	nll, _, err := eval.Validation(d.ctx, d.Posterior, p.Validate, p, pool.New(d.options.Threads))
	return float64(nll), err
}

// cost fills in what a run took, and what its population was: methods without one, and chains of a particle each, have no ESS.
func (d *Done) cost(run *Run) {
	if c := d.Cost; c != nil {
		run.Gradients, run.Values = c.Gradients, c.Values
	}
	run.Sampling = d.Manifest.WorkSeconds
	s := d.Spec.Way().Sampling()
	if s == nil || s.Particles < 2 || len(d.Trace) == 0 {
		return
	}
	run.Particles = s.Particles
	var ess []float64
	several := 0
	for _, l := range d.Trace {
		ess = append(ess, l.ESS)
		if l.Ancestors > 1 {
			several++
		}
	}
	run.ESS, run.Ancestors = numeral.Median(ess), float64(several)/float64(len(ess))
}
