package report

import (
	"fmt"
	"html/template"

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
	if rocs := v.rocs(); rocs != nil {
		s.Figures = append(s.Figures, rocs...)
		s.Text = append(s.Text, rocText)
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
