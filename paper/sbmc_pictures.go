package paper

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/chart"
)

// drawSBMC draws accuracy and foreign entropy over s and over P (Figures 5 and 21 of Liang et al.), entropies by group (Figure 7), and what decisions
// do (Figures 13 and 14), of the runs that there are: means over the seeds with their standard errors.
func drawSBMC(t *Table, runs []Run) (pictures []Picture, err error) {
	rows := map[string]*Row{}
	all := t.Rows(runs)
	for i := range all {
		rows[all[i].Name] = &all[i]
	}
	for _, p := range []struct {
		name string
		of   []byte
	}{
		{"over-s", t.drawOverS(rows)}, {"over-p", t.drawOverP(rows)}, {"by-group", t.drawGroups(rows)},
		{"confusion", t.drawConfusion(rows)}, {"two-level", t.drawTwoLevel(rows)},
	} {
		if p.of != nil {
			pictures = append(pictures, Picture{p.name, p.of})
		}
	}
	return pictures, nil
}

// sampler is a way to sample whose cells make a line: at some x, those of the names.
type sampler struct {
	title string
	names func(x float64) string
}

const sbmcHeight = 300

// means are means of a figure over x, with their standard errors.
type means struct{ x, mean, low, high []float64 }

// add adds the mean over a row's runs, and returns it: NaN, which is not added, if there are no runs, or one of them lacks the figure.
func (m *means) add(t *Table, r *Row, x float64, of func(Run) float64) float64 {
	if r == nil {
		return math.NaN()
	}
	mean, low, high := t.interval(r, of)
	if !math.IsNaN(mean) {
		m.x, m.mean, m.low, m.high = append(m.x, x), append(m.mean, mean), append(m.low, low), append(m.high, high)
	}
	return mean
}

// marks are a line with a point and its interval at each x; nil without any.
func (m *means) marks(class string) []chart.Mark {
	if m.x == nil {
		return nil
	}
	return []chart.Mark{chart.Line{X: m.x, Y: m.mean, Class: class}, chart.Points{X: m.x, Y: m.mean, Low: m.low, High: m.high, Class: class}}
}

// overBoth draws accuracy and foreign entropy of the samplers over x.
func (t *Table) overBoth(rows map[string]*Row, id string, axis chart.Axis, at []float64, samplers []sampler) []byte {
	var panels []panel
	for _, y := range []struct{ name, title, label string }{
		{"accuracy", "accuracy", "accuracy in %"}, {epistemic + foreign, "foreign inputs", "epistemic entropy in nats, mean of four groups"},
	} {
		c := chart.Chart{ID: id + "-" + y.name, Title: y.title, X: axis, Y: chart.Axis{Label: y.label}, Height: sbmcHeight}
		for i, s := range samplers {
			var line means
			for _, x := range at {
				if mean := line.add(t, rows[s.names(x)], x, figure(y.name)); !math.IsNaN(mean) {
					c.Desc += fmt.Sprintf("%s at %v: %.3f. ", s.title, x, mean)
				}
			}
			c.Marks = append(c.Marks, line.marks(fmt.Sprint("s", i))...)
		}
		if c.Marks == nil {
			return nil
		}
		panels = append(panels, panel{c.Title, string(c.SVG())})
	}
	var legend []key
	for i, s := range samplers {
		legend = append(legend, key{fmt.Sprint("s", i), s.title})
	}
	return sideBySide(panels, 2, sbmcHeight, legend)
}

// drawOverS has P = 1 for all s, and P = 8 where the paper has it.
func (t *Table) drawOverS(rows map[string]*Row) []byte {
	names := map[float64]string{1: "s1", .5: "s50", .25: "s25", .1: "s10", .01: "s01"}
	var samplers []sampler
	for _, p := range []int{1, 8} {
		for _, m := range []string{"SMC", "HMC"} {
			samplers = append(samplers, sampler{fmt.Sprintf("S-%s, P = %d", m, p), func(s float64) string { return cellOf(names[s], m, p) }})
		}
	}
	return t.overBoth(rows, "over-s", chart.Axis{Label: "s", Log: true}, []float64{.01, .1, .25, .5, 1}, samplers)
}

// drawOverP has s = .1 and .25.
func (t *Table) drawOverP(rows map[string]*Row) []byte {
	var samplers []sampler
	for _, s := range []struct{ cell, title string }{{"s10", ".1"}, {"s25", ".25"}} {
		for _, m := range []string{"SMC", "HMC"} {
			samplers = append(samplers, sampler{fmt.Sprintf("S-%s, s = %s", m, s.title), func(p float64) string { return cellOf(s.cell, m, int(p)) }})
		}
	}
	return t.overBoth(rows, "over-p", chart.Axis{Label: "islands P", Log: true}, []float64{1, 2, 4, 8}, samplers)
}

// cellOf is the cell of a sampler: SMC or HMC.
func cellOf(s, sampler string, p int) string {
	return fmt.Sprintf("%s%s-%cmc-p%d", onMNIST7, s, map[string]rune{"SMC": 's', "HMC": 'h'}[sampler], p)
}

// drawGroups has a panel for each of a few cells: the entropy of right and wrong answers and of foreign inputs.
func (t *Table) drawGroups(rows map[string]*Row) []byte {
	var panels []panel
	groups := append([]string{right, wrong}, mnist7Groups...)
	for _, name := range []string{"ensemble", "s10-smc-p8", "s10-hmc-p8", "gold-2e5"} {
		r := rows[onMNIST7+name]
		if r == nil || r.Runs == nil {
			continue
		}
		c := chart.Dots{ID: "groups-" + name, Title: name, X: chart.Axis{Label: "epistemic entropy in nats", Zero: true}}
		for _, g := range groups {
			mean, low, high := t.interval(r, figure(epistemic+g))
			if math.IsNaN(mean) {
				continue
			}
			c.Rows = append(c.Rows, chart.Dot{Name: g, Value: mean, Low: low, High: high, Class: "s0"})
			c.Desc += fmt.Sprintf("%s %.3f. ", g, mean)
		}
		panels = append(panels, panel{onMNIST7 + name, string(c.SVG())})
	}
	if panels == nil {
		return nil
	}
	return sideBySide(panels, 2, float64(60+19*len(groups)), nil)
}
