package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// calibration shows whether probabilities are reliable.
func (v *view) calibration() section {
	return section{
		ID: "calibration", Title: "Are its probabilities reliable?", Text: []string{v.on()},
		Figures: slices.Concat([]figure{v.reliability(), v.riskCoverage()}, v.confusion()),
	}
}

// reliability draws the reliability diagram, accuracy against confidence, with the number of examples below.
func (v *view) reliability() figure {
	bins := uq.Reliability(v.a.Test.Probs, v.a.Test.Classes, v.set.Labels, uq.Bins)
	var at, right, low, high, edges, counts []float64
	data := &table{Caption: "Reliability by confidence", Head: []string{"confidence", "examples", "mean confidence", "accuracy", "95\u00a0% interval"}}
	for i, b := range bins {
		lo, hi := float64(i)/uq.Bins, float64(i+1)/uq.Bins
		edges, counts = append(edges, lo), append(counts, float64(b.Count))
		if b.Count == 0 {
			continue
		}
		l, h := uq.Wilson(b.Accuracy*float64(b.Count), float64(b.Count))
		at, right, low, high = append(at, b.Confidence), append(right, b.Accuracy), append(low, l), append(high, h)
		data.add(fixed(lo, 2)+" to "+fixed(hi, 2), count(b.Count), percent(b.Confidence), percent(b.Accuracy), percent(l)+" to "+percent(h))
	}
	edges = append(edges, 1)
	share := chart.Axis{Min: 0, Max: 1, Percent: true}
	x, y := share, share
	y.Label = "accuracy"
	top := chart.Chart{
		ID: "reliability", Title: "Reliability diagram", X: x, Y: y,
		Desc: fmt.Sprintf("Accuracy against confidence in %d bins, with 95\u00a0%% intervals; on the diagonal they are equal. "+
			"Expected calibration error %s.", uq.Bins, fixed(uq.ECE(bins), 3)),
		Marks: []chart.Mark{
			chart.Rule{X: 1, Y: 1},
			chart.Points{X: at, Y: right, Low: low, High: high, Class: "s0", Radius: 3.5},
		},
	}
	most := math.Pow(10, math.Ceil(math.Log10(float64(max(v.set.Len(), 10)))))
	below := chart.Chart{
		ID: "reliability-counts", Title: "Examples in each bin of confidence", Height: 128,
		Desc:  "How many examples fall into each bin, on a logarithmic scale.",
		X:     chart.Axis{Label: "confidence", Min: 0, Max: 1, Percent: true},
		Y:     chart.Axis{Label: "examples (log scale)", Log: true, Min: .7, Max: most},
		Marks: []chart.Mark{chart.Bars{Edges: edges, Y: counts, Class: "s0"}},
		Left:  top.Margin(),
	}
	top.Left = below.Margin()
	legend := []key{lineKey("rule", "calibrated")}
	if t := v.temperature(); !math.IsNaN(t) {
		var x, y []float64
		for _, b := range uq.Reliability(decide.Temper(v.a.Test.Probs, v.a.Test.Classes, t), v.a.Test.Classes, v.set.Labels, uq.Bins) {
			if b.Count > 0 {
				x, y = append(x, b.Confidence), append(y, b.Accuracy)
			}
		}
		top.Marks = append(top.Marks, chart.Points{X: x, Y: y, Class: "s1", Radius: 2.5})
		legend = append(legend, key{chart.Sample("s0", true), "as it is"}, key{chart.Sample("s1", true), "at the temperature " + fixed(t, 2)})
	}
	return figure{
		Title: "Reliability", Charts: []template.HTML{top.SVG(), below.SVG()}, Data: data,
		Legend:  legend,
		Caption: "Above the diagonal it is underconfident: more often right than it says. Below it is overconfident. Bars are 95\u00a0% intervals.",
	}
}

// unsure returns 1 − the highest probability, for every example.
func unsure(p *uq.Predictive) []float64 {
	u := uq.Confidence(p.Probs, p.Classes)
	for i, c := range u {
		u[i] = 1 - c
	}
	return u
}

// riskCoverage shows how the error falls if the most uncertain examples are declined.
func (v *view) riskCoverage() figure {
	wrong := v.mistakes()
	perfect := make([]float64, len(wrong))
	for i, w := range wrong {
		if w {
			perfect[i] = 1
		}
	}
	return declining(chart.Chart{ID: "risk-coverage", Title: "Risk and coverage"}, "declines by", false, []risk{
		{v.scoreName(), "s0", uq.RiskCoverage(v.score(v.a.Test), wrong)},
		{"1 − highest probability", "s1", uq.RiskCoverage(unsure(v.a.Test), wrong)},
		{"the best possible", "rule", uq.RiskCoverage(perfect, wrong)},
	})
}
