package report

import (
	"fmt"
	"html/template"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// detector is a kind of uncertainty, high where an example should be detected.
type detector struct {
	name string
	of   func(*view, *uq.Predictive) []float64 // of each example; nil where the prediction has none
}

// detectors are those of the posterior (Millard et al., figures 6 to 9, are by energy).
var detectors = []detector{
	{"epistemic entropy", (*view).score},
	{"highest probability", func(_ *view, p *uq.Predictive) []float64 {
		u := uq.Confidence(p.Probs, p.Classes)
		for i, c := range u {
			u[i] = -c
		}
		return u
	}},
	{"energy", func(_ *view, p *uq.Predictive) []float64 { return p.Energy }},
}

// nameOf is what a detector is called for a run.
func (v *view) nameOf(m detector) string {
	if m.name == detectors[0].name {
		return v.scoreName()
	}
	return m.name
}

// roc is the ROC curve of a group by a detector: of wrong answers among right ones, and of other groups among all examples evaluated on; nil
// if there is none.
func (v *view) roc(g group, m detector) *uq.Curve {
	positive, negative := m.of(v, g.said), m.of(v, v.a.Test)
	if positive == nil || negative == nil {
		return nil
	}
	if !g.ood {
		negative = pick(negative, v.groups[0].rows)
	}
	return uq.ROC(negative, pick(positive, g.rows))
}

// withinROC is how far a curve may be from the line that is drawn of it, which changes the area by no more (uq.Curve.Thin).
const withinROC = .0025

// rocText says what ROC curves show.
var rocText = fmt.Sprintf("An ROC curve (receiver operating characteristic) shows, for every threshold of an uncertainty, the share of a group above it (true positives) over the "+
	"share of the other examples above it (false positives). The number is the area under the curve (AUROC): 1 is perfect, and chance has 0.50. The area counts all "+
	"thresholds; the line drawn leaves out points that lie within %v of it.", withinROC)

// rocChart is an empty picture of ROC curves of a group.
func rocChart(id, of string) chart.Chart {
	return chart.Chart{
		ID: id, Title: "Receiver operating characteristic of " + of,
		X:     chart.Axis{Label: "false positive rate", Min: 0, Max: 1, Percent: true},
		Y:     chart.Axis{Label: "true positive rate", Min: 0, Max: 1, Percent: true},
		Marks: []chart.Mark{chart.Rule{X: 1, Y: 1}},
	}
}

// chanceKey is the entry of the diagonal.
func chanceKey() key { return lineKey("rule", "chance 0.50") }

// detection is the head of the numbers of ROC curves, behind the names and counts that some begin with.
var detection = []string{"AUROC", "detected at 5\u00a0% false alarms", "at 20\u00a0%"}

// rocs draws the ROC curves of every group that has examples to compare with: a figure for each group, and a line for each detector.
func (v *view) rocs() (figures []figure) {
	for i, g := range v.groups[1:] {
		name, caption := g.name, "Out-of-distribution inputs against all "+v.part()+"."
		if !g.ood {
			name, caption = "wrong answers", "Wrong answers against right ones."
		}
		title := "Detection of " + name
		picture := rocChart(fmt.Sprint("roc-", i), name)
		f := figure{Title: title, Caption: caption, Data: &table{Caption: title, Head: append([]string{"by"}, detection...)}}
		for k, m := range detectors {
			c := v.roc(g, m)
			if c == nil {
				continue
			}
			name, style := v.nameOf(m), class(k)
			f.Legend = append(f.Legend, lineKey(style, name+" "+fixed(c.Area(), 2)))
			f.Data.add(name, fixed(c.Area(), 3), percent(c.At(.05)), percent(c.At(.2)))
			picture.Desc += fmt.Sprintf("By %s: area %s. ", name, fixed(c.Area(), 2))
			line := c.Thin(withinROC)
			picture.Marks = append(picture.Marks, chart.Line{X: line.FPR, Y: line.TPR, Class: style})
		}
		if f.Legend == nil {
			continue
		}
		f.Legend = append(f.Legend, chanceKey())
		f.Charts = []template.HTML{picture.SVG()}
		figures = append(figures, f)
	}
	return figures
}
