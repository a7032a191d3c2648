package report

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// Evaluated is a run with its evaluation, under a name that is unique in a comparison.
type Evaluated struct {
	Name string
	*starling.Run
	*eval.Assessment
}

// Comparison compares several runs.
type Comparison struct {
	Runs     []Evaluated
	Warnings []string // reasons why figures may not be comparable
	Notes    []string // caveats for comparing the figures
	Sweep    *Sweep   // the sweep that the runs are of; nil: none
	views    []*view
	other    []bool // of each run: it was evaluated on other examples than the first
}

// Sweep is what a page about the runs of a sweep begins with: how they were compared without test examples.
type Sweep struct {
	Title, Lead string
	Text        []string   // how the choice was made
	Head        []string   // of the table: run, value, …
	Rows        [][]string // one for each run
	Best        int        // the row of the best run; −1: none was chosen
}

// choice is the section of the page with the table of a sweep.
func (s *Sweep) choice() section {
	t := table{Caption: "Runs of the sweep, by what they were chosen by", Head: s.Head}
	for i, r := range s.Rows {
		t.add(r[0], r[1:]...)
		for k := range t.Rows[i].Cells {
			t.Rows[i].Cells[k].Best = i == s.Best
		}
	}
	return section{ID: "choice", Title: "The choice", Text: s.Text, Tables: []table{t}}
}

// NewComparison compares runs. It refuses to compare classification with regression, and runs of different classes or
// outputs; the error names them. Runs that were evaluated on different examples are marked by a warning.
func NewComparison(runs []Evaluated) (*Comparison, error) {
	if len(runs) < 2 {
		return nil, errors.New("a comparison needs at least two runs")
	}
	c := &Comparison{Runs: runs}
	for _, r := range runs {
		v, err := newView(r.Run, r.Assessment)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		c.views = append(c.views, v)
	}
	c.other = make([]bool, len(runs))
	first := c.views[0]
	var others []string
	for i, v := range c.views[1:] {
		a, b := runs[0].Name, runs[i+1].Name
		switch {
		case first.classes() != v.classes():
			kind := map[bool]string{true: "is a classification", false: "is a regression"}
			return nil, fmt.Errorf("%s %s, %s %s: they have no figures in common", a, kind[first.classes()], b, kind[v.classes()])
		case first.classes() && first.a.Test.Classes != v.a.Test.Classes:
			return nil, fmt.Errorf("%s has %d classes and %s has %d: they did not learn the same task", a, first.a.Test.Classes, b, v.a.Test.Classes)
		case !first.classes() && first.a.Regression.Outputs != v.a.Regression.Outputs:
			return nil, fmt.Errorf("%s predicts %s and %s predicts %d: they did not learn the same task",
				a, several(first.a.Regression.Outputs, "number"), b, v.a.Regression.Outputs)
		case !same(first, v):
			c.other[i+1] = true
			others = append(others, fmt.Sprintf("%s on %s %s of %s (%s)", b, count(v.set.Len()), v.part(), v.a.Problem.Name, short(v.checksum())))
		}
	}
	if others != nil {
		c.Warnings = append(c.Warnings, fmt.Sprintf("The runs were evaluated on different examples (those marked † on others than the first), so do not compare their scores one by one: "+
			"%s on %s %s of %s (%s), %s.", runs[0].Name, count(first.set.Len()), first.part(), first.a.Problem.Name, short(first.checksum()), numeral.List(others)))
	}
	if others := c.scaled(); others != nil {
		c.Notes = append(c.Notes, fmt.Sprintf("Do not compare the log evidences: they are densities of the targets as the network learns them, "+
			"and %s learnt them on other scales than %s.", numeral.List(others), c.withEvidence()[0].Name))
	}
	var optimised, still, merged []string
	for i, r := range runs {
		switch v := c.views[i]; {
		case v.has(finding.Optimiser{}):
			optimised = append(optimised, r.Name)
		case v.has(unmoved...):
			still = append(still, r.Name)
		case v.has(finding.Merged{}) && r.Metrics.LogEvidence != nil:
			merged = append(merged, r.Name)
		}
	}
	if optimised != nil {
		c.Notes = append(c.Notes, finding.Of(finding.OptimisedRuns{Runs: finding.List(optimised)}).Sentence())
	}
	if still != nil {
		c.Notes = append(c.Notes, finding.Of(finding.UnmovedRuns{Runs: finding.List(still)}).Sentence())
	}
	for i, v := range c.views {
		if why := v.a.Metrics.Untold; why != "" {
			c.Notes = append(c.Notes, fmt.Sprintf("Whether %s learnt from some of the examples that it was evaluated on is not known: %s.", runs[i].Name, why))
		}
		if says := v.learntFrom(runs[i].Name); says != "" {
			c.Notes = append(c.Notes, says)
		}
	}
	if merged != nil {
		c.Notes = append(c.Notes, finding.Of(finding.MergedRuns{Runs: finding.List(merged)}).Sentence())
	}
	return c, nil
}

// withEvidence lists the runs that have a log evidence.
func (c *Comparison) withEvidence() (runs []Evaluated) {
	for _, r := range c.Runs {
		if r.Metrics.LogEvidence != nil {
			runs = append(runs, r)
		}
	}
	return runs
}

// scaled names the runs whose targets are scaled differently from the first run's, so that their evidences are not
// comparable.
func (c *Comparison) scaled() (names []string) {
	scale := func(r Evaluated) []float64 {
		sd := make([]float64, r.Schema.Outputs, r.Schema.Outputs+1)
		for i := range sd {
			if sd[i] = 1; r.Schema.Targets != nil {
				sd[i] = r.Schema.Targets.SD[i] / r.Schema.Targets.To
			}
		}
		if s := r.Schema.Targets; s != nil && s.Log { // of another scale, whatever the deviations are
			sd = append(sd, 0)
		}
		return sd
	}
	for _, r := range c.withEvidence() {
		if !slices.Equal(scale(r), scale(c.withEvidence()[0])) {
			names = append(names, r.Name)
		}
	}
	return names
}

// checksum returns the checksum of the examples that a run was evaluated on.
func (v *view) checksum() string { return v.set.Checksum() }

func short(checksum string) string { return checksum[:12] }

// same reports whether two runs were evaluated on the same examples in the same order, whatever their standardisation is and, where their
// inputs are other columns of the same rows, whatever these are.
func same(a, b *view) bool {
	if a.checksum() == b.checksum() {
		return true
	}
	n := a.set.Len()
	if b.set.Len() != n || !slices.Equal(a.set.Labels, b.set.Labels) {
		return false
	}
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-5*(1+math.Abs(x)) }
	if !a.classes() && !data.SameTargets(a.a.Regression.Targets, b.a.Regression.Targets) {
		return false
	}
	if !slices.Equal(a.columns(), b.columns()) {
		return a.set.SameRows(b.set)
	}
	for i := range n {
		if !slices.EqualFunc(a.original(i), b.original(i), near) {
			return false
		}
	}
	return true
}

// columns are the names of the inputs; nil for arrays.
func (v *view) columns() []string {
	if v.run.Schema == nil {
		return nil
	}
	return v.run.Schema.Features()
}

// original returns example i of the set that the run was evaluated on, in the units of its file.
func (v *view) original(i int) []float64 {
	x := make([]float64, v.set.Features())
	v.set.Row(i, x)
	if s := v.run.Schema; s != nil && s.Inputs != nil {
		if s.Intercept {
			x = x[1:]
		}
		if len(s.Inputs.SD) == len(x) {
			s.Inputs.Restore(x)
		}
	}
	return x
}

// cost is the table of size, evidence and cost, a row a figure.
func (c *Comparison) cost() table {
	names, _ := c.evaluations()
	rows := []figureOfRun{
		{"parameters", func(v *view) string { return count(v.run.Net.Parameters()) }},
		{"of them random", func(v *view) string { return v.random() }},
		{"networks", func(v *view) string { return count(v.run.Posterior.Size()) }},
		{"log evidence", func(v *view) string { return fixed(number(v.a.Metrics.LogEvidence), 1) }},
		{"its standard error", func(v *view) string { return fixed(number(v.a.Metrics.LogEvidenceError), 1) }},
		{"bias by its ladder", func(v *view) string { return fixed(number(v.a.Metrics.LadderBias), 1) }},
		{"gradients, examples", func(v *view) string { return v.gradientsOf("") }},
	}
	for _, phase := range phases(c.views) {
		rows = append(rows, figureOfRun{"of them in phase " + phase, func(v *view) string { return v.gradientsOf(phase) }})
	}
	rows = append(rows,
		figureOfRun{"seconds at work", func(v *view) string { return v.atWork() }},
		figureOfRun{"seconds of evaluation", func(v *view) string { return v.evaluating() }},
	)
	return c.figures(table{Caption: "Size, evidence and cost", Head: append([]string{""}, names...)}, rows)
}

// random is the number of parameters that are random, a dash where all are.
func (v *view) random() string {
	if !v.run.Net.Partly() {
		return "–"
	}
	return count(v.run.Net.Dim())
}

// Write writes the page.
func (c *Comparison) Write(w io.Writer) error {
	names, all := c.evaluations()
	first := c.views[0]
	p := page{
		Kind:  onRuns,
		Title: numeral.List(names),
		Lead:  fmt.Sprintf("%s side by side, evaluated on %s %s of %s.", several(len(c.Runs), "run"), count(first.set.Len()), first.part(), first.a.Problem.Name),
		Made:  "Written by starling. " + alone,
	}
	if c.Warnings != nil {
		p.Summary = []topic{{Title: "Different examples", Warnings: c.Warnings}}
		p.Lead = fmt.Sprintf("%s side by side, evaluated on different examples.", several(len(c.Runs), "run"))
	}
	if c.Notes != nil {
		p.Summary = append(p.Summary, topic{Title: "What you need to know to compare", Warnings: c.Notes})
	}
	methods := table{Caption: "Runs", Head: []string{"run", "network", "method", "seed"}, Words: []int{1, 2}}
	for i, v := range c.views {
		methods.add(names[i], v.run.Net.Title(), v.run.Spec.Title(), fmt.Sprint(v.run.Spec.Seed))
	}
	figures := section{
		ID: "figures", Title: "Figures", Text: []string{"Arrows show whether more or less is better; the best of a row is bold." + c.alikeText() + dash(all) + " Seconds at work leave out pauses and evaluation."},
		Tables: append(c.counted(), c.health(), c.cost()),
	}
	pictures := section{ID: "pictures", Title: "Side by side"}
	nll := c.dots("nll", "NLL", "negative log-likelihood, nats per example", false, func(v *view) (at, low, high float64) {
		return float64(v.a.Metrics.NLL), 0, 0
	})
	if first.classes() {
		pictures.Figures = append(pictures.Figures, c.dots("accuracy", "Accuracy", "accuracy", true, func(v *view) (at, low, high float64) {
			at = number(v.a.Metrics.Accuracy)
			low, high = uq.Wilson(at*float64(v.a.Metrics.N), float64(v.a.Metrics.N))
			return at, low, high
		}))
	} else {
		pictures.Figures = append(pictures.Figures, c.dots("rmse", "RMSE", "root mean square error", false, func(v *view) (at, low, high float64) {
			return number(v.a.Metrics.RMSE), 0, 0
		}))
	}
	scores := &pictures.Figures[0]
	scores.Title += " and NLL"
	scores.Charts = append(scores.Charts, nll.Charts...)
	scores.Data.Head = append(scores.Data.Head, "NLL")
	for i, r := range nll.Data.Rows {
		scores.Data.Rows[i].Cells = append(scores.Data.Rows[i].Cells, r.Cells...)
	}
	pictures.Figures = append(pictures.Figures, c.calibration(), c.riskCoverage())
	runs := section{ID: "runs", Title: "The runs", Tables: []table{methods}}
	settings := section{ID: "settings", Title: "How the configs differ", Text: []string{"A dash: the config does not have the setting."}, Tables: []table{c.configs()}}
	if settings.Tables[0].Rows == nil {
		settings.Text, settings.Tables = []string{"They do not, but for their names."}, nil
	}
	if learning := learning(names, c.views); learning != nil {
		pictures.Figures = append(pictures.Figures, *learning)
	}
	p.Sections = []section{settings, figures, pictures}
	if found := detected(names, c.views); found.Figures != nil {
		p.Sections = append(p.Sections, found)
	}
	if c.Sweep != nil {
		p.Title, p.Lead = c.Sweep.Title, c.Sweep.Lead
		p.Sections = append([]section{c.Sweep.choice()}, p.Sections...)
	}
	if samplers := c.samplers(); samplers.Figures != nil {
		p.Sections = append(p.Sections, samplers)
	}
	p.Sections = append(p.Sections, runs)
	return p.write(w)
}

// dots shows one figure of every run, with an interval where it has one.
func (c *Comparison) dots(id, title, label string, share bool, of func(*view) (at, low, high float64)) figure {
	d := chart.Dots{ID: id, Title: title + " by run", X: chart.Axis{Label: label, Percent: share}}
	data := &table{Caption: title, Head: []string{"run", title}}
	write := significant[float64]
	if share {
		write = percent
		data.Head = append(data.Head, "95\u00a0% interval")
	}
	for i, v := range c.views {
		at, low, high := of(v)
		d.Rows = append(d.Rows, chart.Dot{Name: c.Runs[i].Name, Value: at, Low: low, High: high, Note: write(at), Class: "s0"})
		cells := []string{write(at)}
		if share {
			cells = append(cells, write(low)+" to "+write(high))
		}
		data.add(c.Runs[i].Name, cells...)
		d.Desc += fmt.Sprintf("%s: %s. ", c.Runs[i].Name, write(at))
	}
	f := figure{Title: title, Charts: []template.HTML{d.SVG()}, Data: data}
	if share {
		f.Caption = "Lines are 95\u00a0% intervals of each run by itself."
	}
	return f
}

// calibration draws the reliability of all runs, or the coverage of their intervals.
func (c *Comparison) calibration() figure {
	share := chart.Axis{Min: 0, Max: 1, Percent: true}
	picture := chart.Chart{ID: "reliability", Title: "Reliability of all runs", X: share, Y: share, Marks: []chart.Mark{chart.Rule{X: 1, Y: 1}}}
	f := figure{
		Title: "Reliability",
		Caption: "Above the diagonal a run is underconfident: more often right than it says. Below it is overconfident. Bins of fewer than " +
			"ten examples are left out.",
		Data: &table{Caption: "Calibration", Head: []string{"run", "ECE"}},
	}
	picture.X.Label, picture.Y.Label = "confidence", "accuracy"
	if !c.views[0].classes() {
		picture.Title, picture.X.Label, picture.Y.Label = "Coverage of all runs", "level of the interval", "share of targets inside"
		f.Title, f.Caption, f.Data.Head = "Coverage", "Below the diagonal, intervals are too narrow; above it, too wide.", []string{"run", "in 90\u00a0% intervals"}
	}
	for i, v := range c.views {
		name, figure := c.Runs[i].Name, ""
		var x, y []float64
		if v.classes() {
			for _, b := range uq.Reliability(v.a.Test.Probs, v.a.Test.Classes, v.set.Labels, uq.Bins) {
				if b.Count >= 10 {
					x, y = append(x, b.Confidence), append(y, b.Accuracy)
				}
			}
			figure = fixed(number(v.a.Metrics.ECE), 3)
		} else {
			for level := 1.; level < 20; level++ {
				x, y = append(x, level/20), append(y, uq.Coverage(v.a.Regression.PIT, level/20))
			}
			figure = percent(uq.Coverage(v.a.Regression.PIT, .9))
		}
		picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: class(i)}, chart.Points{X: x, Y: y, Class: class(i), Radius: 2.2})
		picture.Desc += fmt.Sprintf("%s: %s %s. ", name, f.Data.Head[1], figure)
		f.Legend = append(f.Legend, lineKey(class(i), name))
		f.Data.add(name, figure)
	}
	f.Legend = append(f.Legend, lineKey("rule", "calibrated"))
	f.Charts = []template.HTML{picture.SVG()}
	return f
}

// riskCoverage draws the risk-coverage curves of all runs.
func (c *Comparison) riskCoverage() figure {
	var risks []risk
	for i, v := range c.views {
		r := risk{name: c.Runs[i].Name, class: class(i)}
		if v.classes() {
			r.of = uq.RiskCoverage(v.score(v.a.Test), v.mistakes())
		} else {
			r.of = rootRisk(v.spreads(), v.squares())
		}
		risks = append(risks, r)
	}
	f := declining(chart.Chart{ID: "risk-coverage", Title: "Risk and coverage of all runs"}, "run", !c.views[0].classes(), risks)
	if c.views[0].classes() {
		f.Caption += " Examples are declined by epistemic entropy, or by entropy where a run has a single network. The AURC among the scores is by the " +
			"highest probability."
	}
	return f
}
