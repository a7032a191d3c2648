package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// Fits are runs of starling fit.
var Fits = &Kind{
	Parse: func(file string, text []byte, sets ...string) (Work, error) {
		spec, err := starling.ParseSpec(file, text, sets...)
		return fit{spec}, err
	},
	Costs: []Measure{
		{Name: "ess", Title: "ESS", Legend: "median over the iterations", Most: math.Inf(1), Of: populated(ess), Form: func(f Figure) string { return fmt.Sprintf("%.1f", f.centre()) }},
		{
			Name: "ancestors", Title: "anc>1", Legend: "share of the iterations with more than one surviving ancestor", Of: populated(ancestors),
			Most: 1 + 1e-9, // earlier versions summed it, with rounding errors
			Form: func(f Figure) string { return fmt.Sprintf("%.0f %%", 100*f.centre()) },
		},
		{Name: "gradients", Title: "gradients", Short: "grads", Legend: "of single examples, over all particles", Most: math.Inf(1), Form: millions, Of: evaluations(func(c *eval.Cost) int { return c.Gradients })},
		{Name: "values", Title: "values", Most: math.Inf(1), Beside: true, Of: evaluations(func(c *eval.Cost) int { return c.Values })},
		sampled(0, "without evaluation, which has a column of its own"),
		{Name: "evaluation_seconds", Title: "evaluation", Digits: 1, Most: math.Inf(1), Of: one(func(d Done) (float64, error) { return d.manifest().EvaluationSeconds, nil })},
	},
}

// fit is the Work of Fits.
type fit struct{ starling.Spec }

// Kind implements Work.
func (f fit) Kind() starling.Kind { return starling.FitRuns }

// Run implements Work.
func (f fit) Run(ctx context.Context, o starling.Options) ([]string, error) {
	result, err := starling.Fit(ctx, f.Spec, o)
	if err != nil {
		return nil, err
	}
	return result.Notes(), nil
}

// Whole implements Work.
func (f fit) Whole(dir string) *starling.Whole { return &starling.Whole{Dir: dir, Fit: &f.Spec} }

// Open implements Work. Options say where data are, for figures that take them.
func (f fit) Open(ctx context.Context, dir string, o starling.Options) (Done, error) {
	r, err := starling.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	spec := f.Spec
	if spec.Model.Input == nil { // the run's has what it found in the data
		spec.Model.Input = r.Spec.Model.Input
	}
	if err := r.Differs(spec); err != nil {
		return nil, &DifferentError{err}
	}
	d := &fitDone{Run: r, ctx: ctx, options: o}
	d.Metrics, err = r.ReadMetrics()
	return d, err
}

// fitDone is the Done of Fits. What takes the run's own data is computed when a measure asks for it.
type fitDone struct {
	*starling.Run
	Metrics *eval.Metrics

	ctx         context.Context
	options     starling.Options
	assessed    *eval.Assessment   // nil: not yet
	figures     map[string]float64 // those of beside; nil: not yet
	test        *uq.Predictive     // of the test examples; nil: not yet
	calibration *unseen            // nil: not yet
	ofClass1    *uq.Number         // of a group of Regrouped, kept with it; nil: not known
	origin      *bnn.Ensemble      // the first of runs together; nil: it is none of Together
	twoLevel    Values             // of a group of Regrouped that decides by a classifier, as twoLevel has it; nil: it is none
}

// tell reports the progress of figures that take long.
func (d *fitDone) tell(s method.Status) {
	if d.options.Progress != nil {
		d.options.Progress(&starling.Progress{Status: s})
	}
}

func (d *fitDone) manifest() *starling.Manifest { return &d.Run.Manifest }

func (d *fitDone) particles() int {
	if s := d.population(); s != nil {
		return s.Particles
	}
	return 0
}

// of is the measure of a metric that a run may lack.
func of(metric func(*eval.Metrics) *uq.Number) func(*fitDone) (float64, error) {
	return func(d *fitDone) (float64, error) {
		v := metric(d.Metrics)
		if v == nil {
			return 0, errLacks
		}
		return float64(*v), nil
	}
}

// optional is a measure of a metric that many runs lack.
func optional(metric func(*eval.Metrics) *uq.Number) func(Done) (Values, error) {
	return func(d Done) (Values, error) {
		if own, ok := d.(*fitDone); ok {
			if v := metric(own.Metrics); v != nil {
				return Values{*v}, nil
			}
		}
		return nil, nil
	}
}

// beside is a measure of the sheets.
func beside(name string, metric func(*eval.Metrics) *uq.Number) Measure {
	return Measure{Name: name, Title: name, Most: math.Inf(1), Beside: true, Of: optional(metric)}
}

// problem reads the run's data, anew each time: who asks may change them.
func (d *fitDone) problem() (*data.Problem, error) {
	p, err := d.Spec.Load(d.options.DataDir, d.Schema)
	if err != nil {
		return nil, &starling.DataError{Err: err}
	}
	return p, nil
}

// regression returns the predictions for the run's test examples.
func (d *fitDone) regression() (*eval.Regression, error) {
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
func (d *fitDone) scale() float64 {
	if s := d.Schema.Targets; s != nil {
		return s.SD[0] / s.To
	}
	return 1
}

// unscaled is a measure of means and truths in the network's units: standardised if its targets are.
func unscaled(f func(predicted, truth []float64) float64) func(*fitDone) (float64, error) {
	return func(d *fitDone) (float64, error) {
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
func width90(d *fitDone) (float64, error) {
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
func validationNLL(d *fitDone) (float64, error) {
	p, err := d.problem()
	if err != nil {
		return 0, err
	}
	if p.Validate == nil {
		return 0, errLacks
	}
	nll, _, err := eval.Validation(d.ctx, d.Posterior, p.Validate, p, pool.New(d.options.Threads))
	return float64(nll), err
}

// unseen are a run's data, and its predictions for their calibration examples.
type unseen struct {
	data *data.Problem
	*uq.Predictive
}

// unseen predicts the calibration examples, once for all figures.
func (d *fitDone) unseen() (*unseen, error) {
	if d.calibration == nil {
		p, err := d.problem()
		if err != nil {
			return nil, err
		}
		if p.Calibrate == nil {
			return nil, errLacks
		}
		known, err := d.Posterior.Predict(d.ctx, p.Calibrate, pool.New(d.options.Threads))
		if err != nil {
			return nil, err
		}
		d.calibration = &unseen{p, known}
	}
	return d.calibration, nil
}

// population is the sampling of a run that has a population: chains of a particle each are none.
func (d *fitDone) population() *method.Sampling {
	s := d.Spec.Way().Sampling()
	if s == nil || s.Particles < 2 || len(d.Trace) == 0 {
		return nil
	}
	return s
}

// populated is a measure of the iterations of a population; runs without one have none.
func populated(f func(trace []starling.TraceLine) float64) func(Done) (Values, error) {
	return func(d Done) (Values, error) {
		if own, ok := d.(*fitDone); ok && own.population() != nil {
			return Values{uq.Number(f(own.Trace))}, nil
		}
		return nil, nil
	}
}

func ess(trace []starling.TraceLine) float64 {
	var all []float64
	for _, l := range trace {
		all = append(all, l.ESS)
	}
	return numeral.Median(all)
}

func ancestors(trace []starling.TraceLine) float64 {
	several := 0
	for _, l := range trace {
		if l.Ancestors > 1 {
			several++
		}
	}
	return float64(several) / float64(len(trace))
}

// evaluations is a measure of evaluations of the likelihood, in examples, over the particles.
func evaluations(f func(*eval.Cost) int) func(Done) (Values, error) {
	return one(func(d *fitDone) (float64, error) {
		if d.Cost == nil {
			return 0, nil
		}
		return float64(f(d.Cost)), nil
	})
}
