// Package report writes pages about runs: what was learnt, how good it is, whether it knows when it does not know, and
// whether the sampler can be believed. A page is one HTML file that needs nothing beside it: no network, no script, no
// fonts. It depends on the run alone: the same run gives the same bytes.
package report

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

// Write writes the page of a run and of what it was found to be worth.
func Write(w io.Writer, run *starling.Run, j *starling.Judgement) error {
	v, err := newView(run, j)
	if err != nil {
		return err
	}
	p := page{Title: run.Spec.Name, Lead: v.lead(), Cards: v.cards(), Summary: v.summary(), Made: made(&run.Manifest)}
	p.Sections = append(p.Sections, v.scores())
	if v.classes() {
		p.Sections = append(p.Sections, v.calibration(), v.doubt(), v.examples())
	} else {
		p.Sections = append(p.Sections, v.predictions(), v.errors())
	}
	if len(v.islands) > 0 {
		p.Sections = append(p.Sections, v.sampler())
	}
	p.Sections = append(p.Sections, v.provenance())
	return p.write(w)
}

// view is a run with what several parts of the page need of it.
type view struct {
	run     *starling.Run
	j       *starling.Judgement
	set     *data.Set // that it was judged on
	islands []island  // traces; none if nothing was sampled
	groups  []group   // of classes: right, wrong, and the foreign ones
}

// group is some examples with what the posterior says of them.
type group struct {
	name    string
	set     *data.Set
	said    *uq.Predictive
	rows    []int // of set and said that belong to the group
	foreign bool
}

func newView(run *starling.Run, j *starling.Judgement) (*view, error) {
	v := &view{run: run, j: j, set: j.Set(), islands: islands(run.Trace)}
	switch {
	case j.Test != nil && j.Values != nil, j.Test == nil && j.Values == nil:
		return nil, errors.New("report: a judgement holds either classes or values")
	case j.Values != nil:
		if n := v.set.Len() * j.Values.Outputs; len(j.Values.Mean) != n || len(j.Values.Targets) != n {
			return nil, fmt.Errorf("report: %d predictions and %d targets for %d examples", len(j.Values.Mean), len(j.Values.Targets), v.set.Len())
		}
		return v, nil
	case j.Test.Len() != v.set.Len() || len(v.set.Labels) != v.set.Len() || len(j.Groups) != len(j.Problem.Groups):
		return nil, fmt.Errorf("report: predictions for %d examples and %d groups, want %d and %d",
			j.Test.Len(), len(j.Groups), v.set.Len(), len(j.Problem.Groups))
	}
	right := group{name: "right", set: v.set, said: j.Test}
	wrong := group{name: "wrong", set: v.set, said: j.Test}
	for i, y := range v.set.Labels {
		if uq.Argmax(probs(j.Test, i)) == int(y) {
			right.rows = append(right.rows, i)
		} else {
			wrong.rows = append(wrong.rows, i)
		}
	}
	v.groups = []group{right, wrong}
	for i, g := range j.Problem.Groups {
		f := group{name: g.Name, set: g.Set, said: j.Groups[i], foreign: true}
		for k := range f.said.Len() {
			f.rows = append(f.rows, k)
		}
		v.groups = append(v.groups, f)
	}
	return v, nil
}

func (v *view) classes() bool { return v.j.Test != nil }

// single says that the posterior is one network, which has nothing to disagree with.
func (v *view) single() bool { return v.run.Posterior.Size() == 1 }

// score is what examples are ordered by, from the least doubted to the most: epistemic entropy, or all of it where there
// is but one network.
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

// scores are those of the group's examples.
func (v *view) scoresOf(g group) []float64 { return pick(v.score(g.said), g.rows) }

func pick(values []float64, rows []int) []float64 {
	picked := make([]float64, len(rows))
	for i, r := range rows {
		picked[i] = values[r]
	}
	return picked
}

func probs(p *uq.Predictive, i int) []float64 { return p.Probs[i*p.Classes : (i+1)*p.Classes] }

// confidence is the probability of the class that is named for an example; NaN if none can be.
func confidence(p *uq.Predictive, i int) float64 {
	if c := uq.Argmax(probs(p, i)); c >= 0 {
		return probs(p, i)[c]
	}
	return math.NaN()
}

// test names the examples that a run was judged on.
func (v *view) test() string {
	switch {
	case v.run.Spec.Method.AsIs:
		return "examples"
	case v.j.Metrics.On == "train":
		return "training examples"
	}
	return "test examples"
}

func made(m *starling.Manifest) string {
	s := "Written by starling " + m.Version
	if m.Revision != "" {
		s += " (" + m.Revision + ")"
	}
	return s + ". This page is complete in itself: it loads nothing and runs no script."
}
