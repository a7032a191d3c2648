package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
)

// The tables of a comparison, in the order in which a reader needs them: how the configs differ, what the runs score, whether they
// sampled, and what they cost.

// otherExamples marks the scores of a run that was evaluated on other examples than the first.
const otherExamples = " †"

// headed returns the names of the runs for the heads of tables. Those that were evaluated on other examples are marked.
func (c *Comparison) headed() (names []string) {
	for i, r := range c.Runs {
		name := r.Name
		if c.other[i] {
			name += otherExamples
		}
		names = append(names, name)
	}
	return names
}

// configs is the table of the settings in which the configs differ.
func (c *Comparison) configs() table {
	names, _ := c.evaluations()
	t := table{Caption: "Settings that differ", Head: append([]string{""}, names...)}
	for i := range names {
		t.Words = append(t.Words, i+1)
	}
	var texts [][]byte
	for _, v := range c.views {
		spec := v.run.Spec
		spec.Name = ""
		texts = append(texts, spec.YAML())
	}
	for _, d := range config.Differences(texts...) {
		t.add(d.Path, d.Values...)
	}
	return t
}

// notTold marks a score that cannot be told from the best of its row.
const notTold = " ≈"

// scores are the tables of scores. A score on training examples says so, and no score is the best of a row where the runs were evaluated
// on different examples. One that cannot be told from the best is marked.
func (c *Comparison) scores() []table {
	_, all := c.evaluations()
	tables := compare(c.headed(), all)
	for _, t := range tables {
		for _, r := range t.Rows {
			best := slices.IndexFunc(r.Cells, func(one cell) bool { return one.Best })
			for i := range r.Cells {
				if c.Warnings == nil && best >= 0 && i != best {
					if same, _ := alike(c.views[i].a, c.views[best].a, r.Name); same {
						r.Cells[i].Text += notTold
					}
				}
				r.Cells[i].Text += c.views[i].trained()
				r.Cells[i].Best = r.Cells[i].Best && c.Warnings == nil
			}
		}
	}
	return tables
}

// counted are the tables of scores, which begin with the number of examples.
func (c *Comparison) counted() []table {
	tables := c.scores()
	n := row{Name: "examples"}
	for _, v := range c.views {
		n.Cells = append(n.Cells, cell{Text: count(v.a.Metrics.N)})
	}
	tables[0].Rows = slices.Insert(tables[0].Rows, 0, n)
	return tables
}

// Alike says what the mark of scores means that cannot be told from the best; empty if there is none.
func (c *Comparison) Alike() string {
	for _, t := range c.scores() {
		for _, r := range t.Rows {
			for _, one := range r.Cells {
				if strings.Contains(one.Text, notTold) {
					return fmt.Sprintf("≈: not told from the best of its row, as the paired difference over the %s is within two standard errors",
						several(c.views[0].a.Metrics.N, "example"))
				}
			}
		}
	}
	return ""
}

func (c *Comparison) alikeText() string {
	if text := c.Alike(); text != "" {
		return " " + text + "."
	}
	return ""
}

// Behind returns by how much the NLL of a run is above that of the best, and the standard error of the paired difference; NaN where the runs
// were evaluated on different examples.
func (c *Comparison) Behind(run int) (by, se float64) {
	best := 0
	for i, v := range c.views {
		if least := c.views[best].a.Metrics.NLL; v.a.Metrics.NLL < least || least != least {
			best = i
		}
	}
	x, y := c.views[run].a.Losses.Posterior, c.views[best].a.Losses.Posterior
	if c.Warnings != nil || len(x) != len(y) || len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	return eval.Paired(x, y)
}

// trained says behind a score which share of its examples the run learnt from; empty if none. A question mark: it is not known.
func (v *view) trained() string {
	m := v.a.Metrics
	switch {
	case v.given():
	case m.Untold != "":
		return " (train?)"
	case m.On == "train", m.TrainedOn == m.N:
		return " (train)"
	case m.TrainedOn > 0:
		return fmt.Sprintf(" (%s train)", percent(float64(m.TrainedOn)/float64(m.N)))
	}
	return ""
}

// health is the table that says whether the runs sampled what they should.
func (c *Comparison) health() table {
	names, _ := c.evaluations()
	return c.figures(table{Caption: "Health", Head: append([]string{""}, names...)}, []figureOfRun{
		{"R-hat of the predictions, median", func(v *view) string { return fixed(rHat(v.a.Metrics.Chains), 2) }},
		{"chains that are stuck or stood still", (*view).stuck},
		{"trajectories of a chain", (*view).trajectories},
		{"behaved as an optimiser", func(v *view) string { return v.population(finding.Optimiser{}) }},
		{"particles did not move", func(v *view) string { return v.population(unmoved...) }},
		{"warnings", (*view).warnings},
	})
}

// figureOfRun is a row of a table: a figure of every run, a dash where a run has none.
type figureOfRun struct {
	name string
	of   func(v *view) string
}

// figures adds rows to a table. A row without any value is left out.
func (c *Comparison) figures(t table, rows []figureOfRun) table {
	for _, r := range rows {
		var cells []string
		some := false
		for _, v := range c.views {
			cells = append(cells, r.of(v))
			some = some || r.of(v) != "–"
		}
		if some {
			t.add(r.name, cells...)
		}
	}
	return t
}

// chains is the number of chains that were not lost; 0 if the run has none.
func (v *view) chains() int {
	if s := v.run.Spec.Way().Sampling(); s != nil && s.Chains() {
		return len(v.islands)
	}
	return 0
}

// stuck counts the chains that are no draws of the posterior: their moves were refused, or led nowhere.
func (v *view) stuck() string {
	n := v.chains()
	if n == 0 {
		return "–"
	}
	stuck := 0
	for _, f := range finding.All[finding.ChainStuck](v.run.Findings) {
		stuck += max(1, f.Chains.Count) // runs of older versions have a finding for each chain that is stuck, without a count
	}
	for _, f := range finding.All[finding.ChainsStill](v.run.Findings) {
		stuck += max(1, f.Chains.Count)
	}
	return fmt.Sprintf("%d of %d", stuck, n)
}

// trajectories says whether chains made trajectories enough.
func (v *view) trajectories() string {
	if v.chains() == 0 {
		return "–"
	}
	for _, f := range finding.All[finding.FewTrajectories](v.run.Findings) {
		return fmt.Sprintf("too few (%d)", f.Trajectories)
	}
	return "enough"
}

// population says whether a population of particles has one of the kinds of findings.
func (v *view) population(kinds ...finding.Kind) string {
	if s := v.run.Spec.Way().Sampling(); s == nil || s.Particles < 2 || s.Chains() {
		return "–"
	}
	if v.has(kinds...) {
		return "yes"
	}
	return "no"
}

// warnings counts the findings that a reader must know of, about the run and about its predictions.
func (v *view) warnings() string { return count(finding.Warnings(v.found)) }

// Differences returns the settings in which the configs differ, as text: the names of the runs, then a setting and its value in every
// run, a dash where the run does not have it. It is nil if the configs are equal but for their names.
func (c *Comparison) Differences() (rows [][]string) {
	t := c.configs()
	if t.Rows == nil {
		return nil
	}
	return append([][]string{t.Head}, t.lines()...)
}

// Rows returns the figures as text: the name of a figure, then its value for every run. A row of one cell is a heading, or
// empty.
func (c *Comparison) Rows() (rows [][]string) {
	rows = append(rows, append([]string{""}, c.headed()...))
	for i, t := range append(c.counted(), c.health(), c.cost()) {
		if i > 0 {
			rows = append(rows, []string{""}, []string{t.Caption})
		}
		rows = append(rows, t.lines()...)
	}
	return rows
}

// lines returns the rows of a table as text for a terminal.
func (t table) lines() (lines [][]string) {
	for _, r := range t.Rows {
		line := []string{strings.ReplaceAll(r.Name, "\u00a0", " ")}
		for _, c := range r.Cells {
			line = append(line, strings.ReplaceAll(c.Text, "\u00a0", " "))
		}
		lines = append(lines, line)
	}
	return lines
}

// evaluations returns the scores of all runs, and their names.
func (c *Comparison) evaluations() (names []string, all []Scored) {
	for _, r := range c.Runs {
		names = append(names, r.Name)
		all = append(all, Scored{r.Name, &r.Metrics.Evaluation})
	}
	return names, all
}

// rHat is the median R-hat of the predictions of chains; NaN if there is none.
func rHat(c *eval.Chains) float64 {
	if c == nil || c.RHatPredictions == nil {
		return math.NaN()
	}
	return float64(c.RHatPredictions.Median)
}
