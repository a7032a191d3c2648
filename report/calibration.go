package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// calibration asks whether probabilities can be taken at their word.
func (v *view) calibration() section {
	return section{
		ID: "calibration", Title: "Can its probabilities be believed?",
		Figures: slices.Concat([]figure{v.reliability(), v.riskCoverage()}, v.confusion()),
	}
}

// reliability is the diagram of confidence against accuracy, with the number of examples below.
func (v *view) reliability() figure {
	bins := uq.Reliability(v.j.Test.Probs, v.j.Test.Classes, v.set.Labels, uq.Bins)
	var at, right, low, high, edges, counts []float64
	data := &table{Caption: "Reliability by confidence", Head: []string{"confidence", "examples", "mean confidence", "right", "95\u00a0% interval"}}
	for i, b := range bins {
		lo, hi := float64(i)/uq.Bins, float64(i+1)/uq.Bins
		edges, counts = append(edges, lo), append(counts, float64(b.Count))
		if b.Count == 0 {
			continue
		}
		l, h := wilson(b.Accuracy*float64(b.Count), float64(b.Count))
		at, right, low, high = append(at, b.Confidence), append(right, b.Accuracy), append(low, l), append(high, h)
		data.add(fixed(lo, 2)+" to "+fixed(hi, 2), count(b.Count), percent(b.Confidence), percent(b.Accuracy), percent(l)+" to "+percent(h))
	}
	edges = append(edges, 1)
	share := chart.Axis{Min: 0, Max: 1, Percent: true}
	x, y := share, share
	y.Label = "share that is right"
	top := chart.Chart{
		ID: "reliability", Title: "Reliability diagram", X: x, Y: y,
		Desc: fmt.Sprintf("Share of right answers against confidence in %d bins, with 95\u00a0%% intervals; on the diagonal they agree. "+
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
	return figure{
		Title: "Reliability", Charts: []template.HTML{top.SVG(), below.SVG()}, Data: data,
		Legend:  []key{lineKey("rule", "as right as it is sure")},
		Caption: "Above the diagonal it is more often right than it says; below, it promises too much. Bars are 95\u00a0% intervals.",
	}
}

// curve is a line of a chart and the area that sums it up.
type curve struct {
	x, y []float64
	area float64
}

// selective is the curve of a risk over coverage, of which about so many points are kept; risk[k−1] is that of the k
// examples of the least doubt. Nil risk, of doubt that is NaN, is no curve.
func selective(risk []float64, points int) curve {
	c := curve{area: uq.AURC(risk)}
	n := len(risk)
	for k, r := range risk {
		if k == 0 || k == n-1 || (k+1)*points/n != k*points/n {
			c.x, c.y = append(c.x, float64(k+1)/float64(n)), append(c.y, r)
		}
	}
	return c
}

// riskAt is the risk if a share of the examples is answered.
func riskAt(risk []float64, share float64) float64 {
	k := int(math.Ceil(share*float64(len(risk)) - 1e-9))
	if k < 1 {
		return math.NaN()
	}
	return risk[k-1]
}

// mistakes says which examples are answered wrongly.
func (v *view) mistakes() []bool {
	wrong := make([]bool, v.set.Len())
	for _, i := range v.groups[1].rows {
		wrong[i] = true
	}
	return wrong
}

// unsure is one minus the highest probability of every example.
func unsure(p *uq.Predictive) []float64 {
	u := uq.Confidence(p.Probs, p.Classes)
	for i, c := range u {
		u[i] = 1 - c
	}
	return u
}

// riskCoverage shows what declining the most doubtful examples brings.
func (v *view) riskCoverage() figure {
	const points = 100
	wrong := v.mistakes()
	perfect := make([]float64, len(wrong))
	for i, w := range wrong {
		if w {
			perfect[i] = 1
		}
	}
	curves := []struct {
		name, class string
		risk        []float64
	}{
		{v.scoreName(), "s0", uq.RiskCoverage(v.score(v.j.Test), wrong)},
		{"1 − highest probability", "s1", uq.RiskCoverage(unsure(v.j.Test), wrong)},
		{"the best there can be", "rule", uq.RiskCoverage(perfect, wrong)},
	}
	c := chart.Chart{
		ID: "risk-coverage", Title: "Risk and coverage",
		X: chart.Axis{Label: "share answered", Min: 0, Max: 1, Percent: true},
		Y: chart.Axis{Label: "share of these that is wrong", Percent: true, Zero: true},
	}
	data := &table{Caption: "Share that is wrong among those answered", Head: []string{"declines by"}}
	shares := []float64{.5, .7, .8, .9, .95, 1}
	for _, s := range shares {
		data.Head = append(data.Head, percentRound(s))
	}
	data.Head = append(data.Head, "AURC")
	var legend []key
	for i := len(curves) - 1; i >= 0; i-- {
		k := selective(curves[i].risk, points)
		c.Marks = append(c.Marks, chart.Line{X: k.x, Y: k.y, Class: curves[i].class})
	}
	for _, k := range curves {
		legend = append(legend, lineKey(k.class, k.name))
		var cells []string
		for _, s := range shares {
			cells = append(cells, percent(riskAt(k.risk, s)))
		}
		data.add(k.name, append(cells, fixed(uq.AURC(k.risk), 4))...)
	}
	first := curves[0].risk
	c.Desc = fmt.Sprintf("Share of wrong answers if only the least doubted are answered: %s of all, %s of the surer nine tenths, %s of the surer half.",
		percent(riskAt(first, 1)), percent(riskAt(first, .9)), percent(riskAt(first, .5)))
	return figure{
		Title: "Declining to answer", Charts: []template.HTML{c.SVG()}, Legend: legend, Data: data,
		Caption: "The most doubted are left to somebody else, from the right to the left: the steeper the fall, the better doubt finds mistakes.",
	}
}

func percentRound(v float64) string { return fixed(100*v, 0) + "\u00a0%" }
