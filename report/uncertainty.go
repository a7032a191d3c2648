package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// styles is the number of series for which the style sheet has colours.
const styles = 6

func class(i int) string { return fmt.Sprintf("s%d", i%styles) }

// uncertainty shows the entropies of each group, and how well they detect wrong answers and out-of-distribution inputs.
func (v *view) uncertainty() section {
	s := section{ID: "uncertainty", Title: "Does it know when it does not know?", Text: []string{v.on()}}
	if v.single() {
		s.Text = []string{v.on() + " The posterior is one network, which has no epistemic entropy. Its total entropy is shown instead."}
	} else {
		s.Figures = append(s.Figures, v.entropies("epistemic", "Epistemic entropy", "nats of epistemic entropy",
			func(p *uq.Predictive) []float64 { return p.Epistemic },
			"The disagreement of the networks. It should be high for inputs unlike those that they learnt from. The stroke is the median."))
	}
	s.Figures = append(s.Figures, v.entropies("total", "Total entropy", "nats of total entropy", func(p *uq.Predictive) []float64 { return p.Total },
		"Epistemic and aleatoric uncertainty together: it is high for ambiguous examples, too."))
	s.Tables = v.detectors()
	if roc := v.roc(); roc != nil {
		s.Figures = append(s.Figures, *roc)
	}
	return s
}

// entropies draws the distribution of one kind of entropy in every group that has examples.
func (v *view) entropies(id, title, label string, of func(*uq.Predictive) []float64, caption string) figure {
	r := chart.Ridges{ID: "entropy-" + id, Title: title + " by group", X: chart.Axis{Label: label, Zero: true}, Bins: 48}
	data := &table{Caption: title + ", nats", Head: []string{"group", "examples", "mean", "lower quarter", "median", "upper quarter", "99\u00a0%"}}
	for i, g := range v.groups {
		if len(g.rows) == 0 {
			continue
		}
		x := pick(of(g.said), g.rows)
		r.Rows = append(r.Rows, chart.Ridge{Name: g.name + " · " + count(len(x)), Values: x, Class: class(i)})
		q := func(q float64) string { return fixed(numeral.Quantile(x, q), 3) }
		data.add(g.name, count(len(x)), fixed(uq.Mean(x), 3), q(.25), q(.5), q(.75), q(.99))
		r.Desc += fmt.Sprintf("%s: median %s. ", g.name, q(.5))
	}
	return figure{Title: title, Charts: []template.HTML{r.SVG()}, Caption: caption, Data: data}
}

// roc draws the ROC curve of every group that has a group to compare with; nil if there is none.
func (v *view) roc() *figure {
	c := chart.Chart{
		ID: "roc", Title: "Receiver operating characteristic by group",
		X:     chart.Axis{Label: "false positive rate", Min: 0, Max: 1, Percent: true},
		Y:     chart.Axis{Label: "true positive rate", Min: 0, Max: 1, Percent: true},
		Marks: []chart.Mark{chart.Rule{X: 1, Y: 1}},
	}
	f := figure{Title: "Detection by " + v.scoreName(), Data: &table{
		Caption: "AUROC of " + v.scoreName(), Head: []string{"group", "AUROC", "detected at 5\u00a0% false alarms", "at 20\u00a0%"},
	}}
	known := v.score(v.a.Test)
	for i, g := range v.groups[1:] {
		negative, name := known, g.name
		if !g.ood {
			negative, name = v.scoresOf(v.groups[0]), "wrong, among right"
		}
		k := receiver(negative, v.scoresOf(g), 120)
		if math.IsNaN(k.area) {
			continue
		}
		at := func(share float64) string {
			found := 0.0
			for i, x := range k.x {
				if x <= share {
					found = k.y[i]
				}
			}
			return percent(found)
		}
		c.Marks = append(c.Marks, chart.Line{X: k.x, Y: k.y, Class: class(i + 1)})
		f.Legend = append(f.Legend, lineKey(class(i+1), name+" "+fixed(k.area, 2)))
		f.Data.add(name, fixed(k.area, 3), at(.05), at(.2))
		c.Desc += fmt.Sprintf("%s: area %s. ", name, fixed(k.area, 2))
	}
	if f.Legend == nil {
		return nil
	}
	f.Charts = []template.HTML{c.SVG()}
	f.Legend = append(f.Legend, lineKey("rule", "chance 0.50"))
	f.Caption = "The share of a group above a threshold of uncertainty, for every threshold: out-of-distribution groups against all " + v.part() +
		", wrong answers against right ones. The number is the area under the curve (AUROC)."
	return &f
}

// receiver returns an ROC curve, the share of positive above a threshold against the share of negative, reduced to a given
// number of points. The area is NaN if there is no curve.
func receiver(negative, positive []float64, points int) tradeoff {
	c := tradeoff{area: uq.AUROC(negative, positive)}
	if math.IsNaN(c.area) {
		return c
	}
	n, p := slices.Sorted(slices.Values(negative)), slices.Sorted(slices.Values(positive))
	c.x, c.y = []float64{0}, []float64{0}
	i, k, last := len(n), len(p), 0
	for i > 0 || k > 0 {
		t := math.Inf(-1) // the next threshold from above
		if i > 0 {
			t = n[i-1]
		}
		if k > 0 {
			t = max(t, p[k-1])
		}
		for i > 0 && n[i-1] >= t {
			i--
		}
		for k > 0 && p[k-1] >= t {
			k--
		}
		x, y := 1-float64(i)/float64(len(n)), 1-float64(k)/float64(len(p))
		if slot := int((x + y) * float64(points) / 2); slot != last || i == 0 && k == 0 {
			last = slot
			c.x, c.y = append(c.x, x), append(c.y, y)
		}
	}
	return c
}
