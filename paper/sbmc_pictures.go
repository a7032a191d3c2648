package paper

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/chart"
)

// drawSBMC draws accuracy and foreign entropy over s and over P (Figures 5 and 21 of Liang et al.), and entropies by group (Figure 7), of the runs
// that there are: means over the seeds with their standard errors.
func drawSBMC(t *Table, runs []Run) (pictures []Picture, err error) {
	rows := map[string]*Row{}
	all := t.Rows(runs)
	for i := range all {
		rows[all[i].Name] = &all[i]
	}
	for _, p := range []struct {
		name string
		of   []byte
	}{{"over-s", t.drawOverS(rows)}, {"over-p", t.drawOverP(rows)}, {"by-group", t.drawGroups(rows)}} {
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

// overBoth draws accuracy and foreign entropy of the samplers over x.
func (t *Table) overBoth(rows map[string]*Row, id string, axis chart.Axis, at []float64, samplers []sampler) []byte {
	var panels []panel
	for _, y := range []struct{ name, title, label string }{
		{"accuracy", "accuracy", "accuracy in %"}, {epistemic + foreignMean, "foreign inputs", "epistemic entropy in nats, mean of four groups"},
	} {
		c := chart.Chart{ID: id + "-" + y.name, Title: y.title, X: axis, Y: chart.Axis{Label: y.label}, Height: sbmcHeight}
		for i, s := range samplers {
			line := chart.Line{Class: fmt.Sprint("s", i)}
			points := chart.Points{Class: line.Class}
			for _, x := range at {
				r := rows[s.names(x)]
				if r == nil {
					continue
				}
				mean, sd := r.Mean(figure(y.name))
				if math.IsNaN(mean) {
					continue
				}
				spread := 0.
				if sd == sd {
					spread = sd / t.Errors.over(len(r.Runs))
				}
				line.X, line.Y = append(line.X, x), append(line.Y, mean)
				points.X, points.Y = append(points.X, x), append(points.Y, mean)
				points.Low, points.High = append(points.Low, mean-spread), append(points.High, mean+spread)
				c.Desc += fmt.Sprintf("%s at %v: %.3f. ", s.title, x, mean)
			}
			if line.X != nil {
				c.Marks = append(c.Marks, line, points)
			}
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
			mean, sd := r.Mean(figure(epistemic + g))
			if math.IsNaN(mean) {
				continue
			}
			dot := chart.Dot{Name: g, Value: mean, Low: mean, High: mean, Class: "s0"}
			if sd == sd {
				spread := sd / t.Errors.over(len(r.Runs))
				dot.Low, dot.High = mean-spread, mean+spread
			}
			c.Rows = append(c.Rows, dot)
			c.Desc += fmt.Sprintf("%s %.3f. ", g, mean)
		}
		panels = append(panels, panel{onMNIST7 + name, string(c.SVG())})
	}
	if panels == nil {
		return nil
	}
	return sideBySide(panels, 2, float64(60+19*len(groups)), nil)
}
