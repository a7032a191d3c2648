package starling

import (
	"context"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// Judgement is what a run's posterior says of the examples that it was judged on, and what that is worth: all that a
// report shows of it.
type Judgement struct {
	Metrics *Metrics
	Problem *data.Problem    // what it was judged on
	Test    *uq.Predictive   // of the posterior for the examples of Set; nil for regression
	Groups  []*uq.Predictive // likewise for Problem.Groups, in their order
	Values  *ValuesJudgement // of regression; nil for classes
}

// ValuesJudgement is the posterior's prediction of the values of n examples, each array [n, Outputs] in the units of the
// target.
type ValuesJudgement struct {
	Outputs       int
	Targets       []float64 // what is true
	Mean          []float64
	Aleatoric     []float64 // standard deviation of the noise that the particles believe in
	Epistemic     []float64 // standard deviation of the particles' means
	Q05, Q50, Q95 []float64 // quantiles of the mixture
	PIT           []float64 // share of the mixture below the target: uniform on [0, 1] if it is calibrated
}

func newValuesJudgement(v *bnn.EvaluatedRegression, truth []float64) *ValuesJudgement {
	return &ValuesJudgement{
		Outputs: v.Outputs, Targets: truth, Mean: v.Mean, Aleatoric: v.Aleatoric, Epistemic: v.Epistemic,
		Q05: every(v.Quantiles, 0, 3), Q50: every(v.Quantiles, 1, 3), Q95: every(v.Quantiles, 2, 3), PIT: v.PIT,
	}
}

// Set is the examples that Test and Values are about: the problem's test part, or its training part if nothing was held
// out.
func (j *Judgement) Set() *data.Set {
	_, set := judged(j.Problem)
	return set
}

// judged is the part of a problem that ensembles are scored on, and its name.
func judged(p *data.Problem) (string, *data.Set) {
	if p.Test == nil {
		return "train", p.Train
	}
	return "test", p.Test
}

// On says what a run is judged on; the zero value: its own data, which must be the same as they were.
type On struct {
	Data   string   // another data set by name, or a file of examples
	Labels string   // the targets, if Data is a file of inputs alone
	OOD    []string // sets or files whose inputs are foreign groups
}

// Judge judges the ensembles of a run anew: on its own data they get the same metrics bit for bit. Errors are a
// *ConfigError for a name that is not known, and a *DataError for data that are not as they were, or do not fit.
func (r *Run) Judge(ctx context.Context, on On, o Options) (*Judgement, error) {
	problem, err := r.problem(on, o)
	if err != nil {
		return nil, err
	}
	j, err := r.Spec.judge(ctx, &r.Ensembles, problem, pool.New(o.Threads))
	if err != nil && ctx.Err() == nil {
		err = &DataError{err}
	}
	return j, err
}
