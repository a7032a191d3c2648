package report

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// view is a run and its evaluation, with values that several parts of the page need.
type view struct {
	run      *starling.Run
	a        *eval.Assessment
	set      *data.Set         // evaluated on
	sampling *method.Sampling  // nil if nothing was sampled
	islands  []island          // traces; none if nothing was sampled
	found    []finding.Finding // of the run, then of its predictions
	groups   []group           // for classification: right answers, wrong answers, then the out-of-distribution groups
}

// group is some examples with the posterior's predictions for them.
type group struct {
	name string
	set  *data.Set
	said *uq.Predictive
	rows []int // of set and said that belong to the group
	ood  bool  // out of distribution: none of its examples belongs to a known class
}

func newView(run *starling.Run, a *eval.Assessment) (*view, error) {
	v := &view{run: run, a: a, set: a.Set(), sampling: run.Spec.Way().Sampling()}
	if v.sampling != nil {
		v.islands = islands(run.Trace)
	}
	switch {
	case a.Test != nil && a.Regression != nil, a.Test == nil && a.Regression == nil:
		return nil, errors.New("report: want an evaluation either of classes or of a regression")
	case a.Regression != nil:
		if n := v.set.Len() * a.Regression.Outputs; len(a.Regression.Mean) != n || len(a.Regression.Targets) != n {
			return nil, fmt.Errorf("report: %d predictions and %d targets for %d examples", len(a.Regression.Mean), len(a.Regression.Targets), v.set.Len())
		}
		v.find()
		return v, nil
	case a.Test.Len() != v.set.Len() || len(v.set.Labels) != v.set.Len() || len(a.Groups) != len(a.Problem.Groups):
		return nil, fmt.Errorf("report: predictions for %d examples and %d groups, want %d and %d",
			a.Test.Len(), len(a.Groups), v.set.Len(), len(a.Problem.Groups))
	}
	right := group{name: "right", set: v.set, said: a.Test}
	wrong := group{name: "wrong", set: v.set, said: a.Test}
	for i, y := range v.set.Labels {
		if uq.Argmax(probs(a.Test, i)) == int(y) {
			right.rows = append(right.rows, i)
		} else {
			wrong.rows = append(wrong.rows, i)
		}
	}
	v.groups = []group{right, wrong}
	for i, g := range a.Problem.Groups {
		f := group{name: g.Name, set: g.Set, said: a.Groups[i], ood: true}
		for k := range f.said.Len() {
			f.rows = append(f.rows, k)
		}
		v.groups = append(v.groups, f)
	}
	v.find()
	return v, nil
}

func (v *view) classes() bool { return v.a.Test != nil }

// single reports whether the posterior is one network, which has no epistemic uncertainty.
func (v *view) single() bool { return v.run.Posterior.Size() == 1 }

// given reports whether the network was trained elsewhere: nothing was learnt from the data, and all examples are used for
// evaluation.
func (v *view) given() bool { return v.run.Spec.Method.Needs().Whole }

// score returns the uncertainty by which examples are ordered: epistemic entropy, or total entropy for a single network.
func (v *view) score(p *uq.Predictive) []float64 {
	if v.single() {
		return p.Total
	}
	return p.Epistemic
}

func (v *view) scoreName() string {
	if v.single() {
		return "entropy"
	}
	return "epistemic entropy"
}

// scoresOf returns the uncertainties of a group's examples.
func (v *view) scoresOf(g group) []float64 { return pick(v.score(g.said), g.rows) }

// restarts is the number of MAP restarts.
func (v *view) restarts() int {
	if v.run.Restarts == nil {
		return 0
	}
	return v.run.Restarts.Size()
}

// part names the examples that a run was evaluated on.
func (v *view) part() string {
	switch {
	case v.given():
		return "examples"
	case v.a.Metrics.On == "train":
		return "training examples"
	}
	return "test examples"
}

// className is what a class is called.
func (v *view) className(c int) string {
	switch {
	case c < 0:
		return "none"
	case c < len(v.set.Names):
		return v.set.Names[c]
	case v.run.Schema != nil && c < len(v.run.Schema.Names):
		return v.run.Schema.Names[c]
	}
	return fmt.Sprint(c)
}

// mistakes marks the examples that are answered wrongly.
func (v *view) mistakes() []bool {
	wrong := make([]bool, v.set.Len())
	for _, i := range v.groups[1].rows {
		wrong[i] = true
	}
	return wrong
}

func pick(values []float64, rows []int) []float64 {
	picked := make([]float64, len(rows))
	for i, r := range rows {
		picked[i] = values[r]
	}
	return picked
}

func probs(p *uq.Predictive, i int) []float64 { return p.Probs[i*p.Classes : (i+1)*p.Classes] }

// confidence is the probability of the answer for an example; NaN if there is no answer.
func confidence(p *uq.Predictive, i int) float64 {
	if c := uq.Argmax(probs(p, i)); c >= 0 {
		return probs(p, i)[c]
	}
	return math.NaN()
}
