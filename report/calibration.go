package report

import (
	"cmp"
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
		Figures: []figure{v.reliability(), v.riskCoverage()},
	}
}

// reliability is the diagram of confidence against accuracy, with the number of examples below.
func (v *view) reliability() figure {
	bins := uq.Reliability(v.j.Test.Probs, v.j.Test.Classes, v.set.Labels, uq.Bins)
	var at, right, low, high, edges, counts []float64
	data := &table{Caption: "Reliability by confidence", Head: []string{"confidence", "examples", "mean confidence", "right", "95 % interval"}}
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
	x.Label, y.Label = "confidence", "share that is right"
	top := chart.Chart{
		ID: "reliability", Title: "Reliability diagram", X: x, Y: y,
		Desc: fmt.Sprintf("Share of right answers against confidence in %d bins, with 95 %% intervals; on the diagonal they agree. Expected calibration error %s.", uq.Bins, fixed(uq.ECE(bins), 3)),
		Marks: []chart.Mark{
			chart.Rule{X: 1, Y: 1},
			chart.Points{X: at, Y: right, Low: low, High: high, Class: "s0", Radius: 3.5},
		},
	}
	below := chart.Chart{
		ID: "reliability-counts", Title: "Examples in each bin of confidence", Height: 128,
		Desc: "How many examples fall into each bin, on a logarithmic scale.",
		X:    x, Y: chart.Axis{Label: "examples (log scale)", Log: true, Min: .7, Max: math.Pow(10, math.Ceil(math.Log10(float64(max(v.set.Len(), 10)))))},
		Marks: []chart.Mark{chart.Bars{Edges: edges, Y: counts, Class: "s0"}},
		Left:  top.Margin(),
	}
	top.Left = below.Margin()
	return figure{
		Title: "Reliability", Charts: []template.HTML{top.SVG(), below.SVG()}, Data: data,
		Legend:  []key{lineKey("rule", "as right as it is sure")},
		Caption: "Above the diagonal it is more often right than it says; below, it promises too much. Bars are 95 % intervals.",
	}
}

// curve is a line of a chart and the area that sums it up.
type curve struct {
	x, y []float64
	area float64
}

// coverage is the risk among the share of examples that are doubted least, for every share (a selective predictor).
// Examples of equal doubt are taken together.
func coverage(doubt, risk []float64, points int) curve {
	order := make([]int, len(doubt))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(doubt[a], doubt[b]) })
	var c curve
	n, sum, last := len(order), 0.0, -1
	for i := 0; i < n; {
		from := i
		for ; i < n && (i == from || doubt[order[i]] == doubt[order[from]]); i++ {
			sum += risk[order[i]]
		}
		mean := sum / float64(i)
		c.area += mean * float64(i-from) / float64(n)
		if slot := i * points / n; slot != last || i == n {
			last = slot
			c.x, c.y = append(c.x, float64(i)/float64(n)), append(c.y, mean)
		}
	}
	return c
}

// at is the risk at a share of the examples, the nearest that the curve has from above.
func (c curve) at(share float64) float64 {
	for i, x := range c.x {
		if x >= share-1e-12 {
			return c.y[i]
		}
	}
	return math.NaN()
}

// mistakes are 1 for every example that is answered wrongly.
func (v *view) mistakes() []float64 {
	wrong := make([]float64, v.set.Len())
	for _, i := range v.groups[1].rows {
		wrong[i] = 1
	}
	return wrong
}

// unsure is one minus the highest probability of every example.
func unsure(p *uq.Predictive) []float64 {
	u := make([]float64, p.Len())
	for i := range u {
		u[i] = 1 - confidence(p, i)
	}
	return u
}

// riskCoverage shows what declining the most doubtful examples brings.
func (v *view) riskCoverage() figure {
	const points = 100
	wrong := v.mistakes()
	curves := []struct {
		name, class string
		curve
	}{
		{v.scoreName(), "s0", coverage(v.score(v.j.Test), wrong, points)},
		{"1 − highest probability", "s1", coverage(unsure(v.j.Test), wrong, points)},
		{"the best there can be", "rule", coverage(wrong, wrong, points)},
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
		c.Marks = append(c.Marks, chart.Line{X: curves[i].x, Y: curves[i].y, Class: curves[i].class})
	}
	for _, k := range curves {
		legend = append(legend, lineKey(k.class, k.name))
		var cells []string
		for _, s := range shares {
			cells = append(cells, percent(k.at(s)))
		}
		data.add(k.name, append(cells, fixed(k.area, 4))...)
	}
	first := curves[0]
	c.Desc = fmt.Sprintf("Share of wrong answers if only the least doubted are answered: %s of all, %s of the surer nine tenths, %s of the surer half.",
		percent(first.at(1)), percent(first.at(.9)), percent(first.at(.5)))
	return figure{
		Title: "Declining to answer", Charts: []template.HTML{c.SVG()}, Legend: legend, Data: data,
		Caption: "The most doubted are left to somebody else, from the right to the left: the steeper the fall, the better doubt finds mistakes.",
	}
}

func percentRound(v float64) string { return fixed(100*v, 0) + " %" }
