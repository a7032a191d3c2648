package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// setting is one line of a comparison: runs whose configs differ in nothing but name and seed.
type setting struct {
	name  string // of its first run
	views []*view
}

// settings are those of runs with these names, in their order.
func settings(runs []string, views []*view) (all []setting) {
	at := map[string]int{}
	for i, v := range views {
		spec := v.run.Spec
		spec.Name, spec.Seed = "", 0
		config := string(spec.YAML())
		k, known := at[config]
		if !known {
			k, at[config] = len(all), len(all)
			all = append(all, setting{name: runs[i]})
		}
		all[k].views = append(all[k].views, v)
	}
	return all
}

// curves are the ROC curves of the runs of a setting that have the group.
func (s setting) curves(name string, m detector) (curves []*uq.Curve) {
	for _, v := range s.views {
		for _, g := range v.groups {
			if !g.ood || g.name != name {
				continue
			}
			if k := v.roc(g, m); k != nil {
				curves = append(curves, k)
			}
		}
	}
	return curves
}

// detected draws the ROC curves of runs with these names: for each out-of-distribution group that at least two of them have, a figure for each detector. A
// setting of several runs has one line, the mean at each false positive rate, and a band of one standard deviation.
func detected(runs []string, views []*view) section {
	s := section{ID: "detection", Title: "Out-of-distribution inputs", Text: []string{rocText}}
	all, banded := settings(runs, views), false
	var names []string // of groups, in the order in which they first occur
	has := map[string]int{}
	for _, v := range views {
		for _, g := range v.groups {
			if g.ood {
				if has[g.name]++; has[g.name] == 1 {
					names = append(names, g.name)
				}
			}
		}
	}
	for i, name := range names {
		if has[name] < 2 {
			continue
		}
		for k, m := range detectors {
			title := name + ", by " + m.name
			picture := rocChart(fmt.Sprintf("roc-%d-%d", i, k), title)
			f := figure{Title: title, Data: &table{Caption: title, Head: append([]string{"first run", "runs"}, detection...)}}
			for j, set := range all {
				curves := set.curves(name, m)
				if curves == nil {
					continue
				}
				one := repeated(curves)
				label := set.name
				if len(curves) > 1 {
					f.Caption, banded = "A band is one standard deviation over the runs to either side of their mean.", true
					label += ", " + several(len(curves), "run")
				}
				f.Legend = append(f.Legend, lineKey(class(j), label+": "+one.area(2)))
				f.Data.add(set.name, count(len(curves)), one.area(3), one.at(.05), one.at(.2))
				picture.Desc += fmt.Sprintf("%s: area %s. ", label, one.area(2))
				picture.Marks = append(picture.Marks, one.marks(class(j))...)
			}
			if f.Legend == nil {
				continue
			}
			f.Legend = append(f.Legend, chanceKey())
			f.Charts = []template.HTML{picture.SVG()}
			s.Figures = append(s.Figures, f)
		}
	}
	if banded {
		s.Text = append(s.Text, "Runs whose configs differ in the seed alone are one line, under the name of the first: the mean of their true positive rates at each "+
			"false positive rate. Numbers are means ± one standard deviation over these runs.")
	}
	for _, v := range views {
		if v.single() {
			s.Text = append(s.Text, "A run of a single network has no epistemic entropy: total entropy stands in its place.")
			break
		}
	}
	return s
}

// repeated are the ROC curves of the runs of a setting.
type repeated []*uq.Curve

// told writes the mean of a number of each curve and, of several, its standard deviation.
func (s repeated) told(of func(*uq.Curve) float64, write func(v float64) string) string {
	var x []float64
	for _, c := range s {
		x = append(x, of(c))
	}
	mean, se := uq.MeanSE(x)
	if len(s) == 1 {
		return write(mean)
	}
	return write(mean) + " ± " + write(se*math.Sqrt(float64(len(x))))
}

func (s repeated) area(decimals int) string {
	return s.told((*uq.Curve).Area, func(v float64) string { return fixed(v, decimals) })
}

func (s repeated) at(fpr float64) string {
	return s.told(func(c *uq.Curve) float64 { return c.At(fpr) }, percent)
}

// marks are the line of a curve or, of several, that of their mean, over its band.
func (s repeated) marks(style string) []chart.Mark {
	if len(s) == 1 {
		line := s[0].Thin(withinROC)
		return []chart.Mark{chart.Line{X: line.FPR, Y: line.TPR, Class: style}}
	}
	const steps = 200
	grid := make([]float64, steps+1)
	for i := range grid {
		grid[i] = float64(i) / steps
	}
	mean, sd := uq.MeanROC(s, grid)
	low, high := make([]float64, len(grid)), make([]float64, len(grid))
	for i, m := range mean {
		low[i], high[i] = max(m-sd[i], 0), min(m+sd[i], 1)
	}
	line := (&uq.Curve{FPR: append([]float64{0}, grid...), TPR: append([]float64{0}, mean...)}).Thin(withinROC)
	return []chart.Mark{chart.Band{X: grid, Low: low, High: high, Class: style}, chart.Line{X: line.FPR, Y: line.TPR, Class: style}}
}
