package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// spreads are the predicted standard deviations: aleatoric and epistemic together.
func (v *view) spreads() []float64 {
	sd := make([]float64, len(v.a.Regression.Mean))
	for i := range sd {
		sd[i] = math.Hypot(v.a.Regression.Aleatoric[i], v.a.Regression.Epistemic[i])
	}
	return sd
}

func (v *view) squares() []float64 {
	e := make([]float64, len(v.a.Regression.Mean))
	for i := range e {
		d := v.a.Regression.Mean[i] - v.a.Regression.Targets[i]
		e[i] = d * d
	}
	return e
}

// predictions shows the errors of the predictions, and whether their intervals are reliable.
func (v *view) predictions() section {
	s := section{ID: "predictions", Title: "Are its intervals reliable?", Text: []string{v.on()}}
	const outputs = 4
	k := v.a.Regression.Outputs
	for o := range min(k, outputs) {
		s.Figures = append(s.Figures, v.predicted(o))
	}
	if k > outputs {
		s.Text = append(s.Text, fmt.Sprintf("The first %[2]d of %[1]d outputs are drawn; the other figures are over all outputs.", k, outputs))
	}
	s.Figures = append(s.Figures, v.coverage(), v.pit(), v.errorCoverage())
	return s
}

// predicted draws the predictions of one output against its targets.
func (v *view) predicted(output int) figure {
	const shown = 240
	j := v.a.Regression
	n := v.set.Len()
	var x, y, low, high []float64
	for s := range min(n, shown) {
		i := (s*n/min(n, shown))*j.Outputs + output
		x, y, low, high = append(x, j.Targets[i]), append(y, j.Mean[i]), append(low, j.Q05[i]), append(high, j.Q95[i])
	}
	title := "Predicted and true"
	if j.Outputs > 1 {
		title += fmt.Sprintf(", output %d", output)
	}
	lo, hi := numeral.Quantile(x, 0), numeral.Quantile(x, 1)
	c := chart.Chart{
		ID: fmt.Sprint("predicted-", output), Title: title, Height: 300,
		X: chart.Axis{Label: "true"}, Y: chart.Axis{Label: "predicted mean, with 90\u00a0% interval"},
		Desc: fmt.Sprintf("Predicted mean and 90\u00a0%% interval over the true value, for %d examples; on the diagonal they are equal. "+
			"Root mean square error %s.", len(x), significant(number(v.a.Metrics.RMSE))),
		Marks: []chart.Mark{
			chart.Points{X: x, Y: y, Low: low, High: high, Class: "pale", Radius: 2.2},
			chart.Line{X: []float64{lo, hi}, Y: []float64{lo, hi}, Class: "rule"},
		},
	}
	f := figure{Title: title, Charts: []template.HTML{c.SVG()}, Legend: []key{lineKey("rule", "predicted = true")},
		Data: &table{Caption: "Predicted by true value", Head: []string{"true, from … to", "examples", "mean error", "RMSE", "in 90\u00a0% interval"}}}
	if n > shown {
		f.Caption = fmt.Sprintf("%d of the %s %s, spread evenly over the file.", shown, count(n), v.part())
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i*j.Outputs + output
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.Targets[a], j.Targets[b]) })
	const parts = 8
	for p := range parts {
		rows := order[p*n/parts : (p+1)*n/parts]
		if len(rows) == 0 {
			continue
		}
		var bias, squares float64
		for _, i := range rows {
			d := j.Mean[i] - j.Targets[i]
			bias += d / float64(len(rows))
			squares += d * d / float64(len(rows))
		}
		f.Data.add(significant(j.Targets[rows[0]])+" … "+significant(j.Targets[rows[len(rows)-1]]), count(len(rows)),
			significant(bias), significant(math.Sqrt(squares)), percent(uq.Coverage(pick(j.PIT, rows), .9)))
	}
	return f
}

// coverage draws the share of targets inside central intervals against the level of the intervals.
func (v *view) coverage() figure {
	pit := v.a.Regression.PIT
	n := float64(len(pit))
	var x, y, low, high []float64
	data := &table{Caption: "Coverage of central intervals", Head: []string{"level", "targets inside", "95\u00a0% interval"}}
	for _, level := range []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .99} {
		share := uq.Coverage(pit, level)
		l, h := uq.Wilson(share*n, n)
		x, y, low, high = append(x, level), append(y, share), append(low, l), append(high, h)
		data.add(percentRound(level), percent(share), percent(l)+" to "+percent(h))
	}
	share := chart.Axis{Min: 0, Max: 1, Percent: true}
	c := chart.Chart{
		ID: "coverage", Title: "Coverage of intervals", X: share, Y: share, Height: 300,
		Desc: fmt.Sprintf("Share of the targets inside their central intervals, over the level of the intervals; on the diagonal the two are equal. "+
			"%s are inside the 90\u00a0%% intervals.", percent(uq.Coverage(pit, .9))),
		Marks: []chart.Mark{chart.Rule{X: 1, Y: 1}, chart.Points{X: x, Y: y, Low: low, High: high, Class: "s0", Radius: 3.5}},
	}
	c.X.Label, c.Y.Label = "level of the interval", "share of targets inside"
	return figure{Title: "Coverage", Charts: []template.HTML{c.SVG()}, Data: data, Legend: []key{lineKey("rule", "calibrated")},
		Caption: "Below the diagonal, intervals are too narrow; above it, too wide. Bars are 95\u00a0% intervals."}
}

// pit draws the histogram of the probability integral transform (PIT).
func (v *view) pit() figure {
	const bins = 10
	pit := v.a.Regression.PIT
	n := float64(len(pit))
	edges, counts := chart.Histogram(pit, 0, 1, bins)
	data := &table{Caption: "Probability integral transform", Head: []string{"from … to", "examples", "share"}}
	for i, c := range counts {
		data.add(fixed(edges[i], 1)+" … "+fixed(edges[i+1], 1), fixed(c, 0), percent(c/n))
		counts[i] = c / n
	}
	c := chart.Chart{
		ID: "pit", Title: "Probability integral transform", Height: 300,
		Desc: fmt.Sprintf("Histogram of the share of the predicted distribution that lies below the target: flat if calibrated. "+
			"The lowest tenth holds %s, the highest %s.", percent(counts[0]), percent(counts[bins-1])),
		X:     chart.Axis{Label: "share of the prediction below the target", Min: 0, Max: 1},
		Y:     chart.Axis{Label: "share of the targets", Percent: true, Zero: true},
		Marks: []chart.Mark{chart.Bars{Edges: edges, Y: counts, Class: "s0"}, chart.Rule{X: math.NaN(), Y: 1. / bins}},
	}
	return figure{Title: "Where targets fall (PIT)", Charts: []template.HTML{c.SVG()}, Data: data, Legend: []key{lineKey("rule", "calibrated")},
		Caption: "High at both ends: intervals are too narrow. High in the middle: too wide. A slope: predictions are biased."}
}

// errorCoverage shows how the error falls if the examples with the widest predictions are declined.
func (v *view) errorCoverage() figure {
	squares := v.squares()
	return declining(chart.Chart{ID: "risk-coverage", Title: "Error and coverage", Height: 300}, "declines by", true, []risk{
		{"total sd", "s0", rootRisk(v.spreads(), squares)},
		{"epistemic sd", "s1", rootRisk(v.a.Regression.Epistemic, squares)},
		{"the best possible", "rule", rootRisk(squares, squares)},
	})
}

// errors lists the examples with the largest errors, and the most uncertain ones.
func (v *view) errors() section {
	s := section{ID: "examples", Title: "The largest errors and the most uncertain examples", Text: []string{"Rows count from 0 among the " + v.part() + "."}}
	n, j := v.set.Len(), v.a.Regression
	worst, uncertain := make([]float64, n), make([]float64, n)
	for i := range n {
		for o := range j.Outputs {
			k := i*j.Outputs + o
			worst[i] = max(worst[i], math.Abs(j.Mean[k]-j.Targets[k]))
			uncertain[i] = max(uncertain[i], j.Epistemic[k])
		}
	}
	const shown = 10
	for _, by := range []struct {
		caption string
		of      []float64
	}{{"Largest errors", worst}, {"Largest epistemic standard deviation", uncertain}} {
		rows := byUncertainty(by.of)
		slices.Reverse(rows)
		s.Tables = append(s.Tables, v.valueRows(by.caption, rows[:min(n, shown)]))
	}
	return s
}

func (v *view) valueRows(caption string, rows []int) table {
	j := v.a.Regression
	t := table{Caption: caption, Head: []string{"row"}}
	for o := range j.Outputs {
		suffix := ""
		if j.Outputs > 1 {
			suffix = fmt.Sprintf(" %d", o)
		}
		t.Head = append(t.Head, "true"+suffix, "predicted"+suffix, "error"+suffix, "90\u00a0% interval"+suffix, "epistemic sd"+suffix)
	}
	names, features := v.features(v.set, rows)
	t.Head = append(t.Head, names...)
	for r, i := range rows {
		var cells []string
		for o := range j.Outputs {
			k := i*j.Outputs + o
			cells = append(cells, significant(j.Targets[k]), significant(j.Mean[k]), significant(j.Mean[k]-j.Targets[k]),
				significant(j.Q05[k])+" … "+significant(j.Q95[k]), significant(j.Epistemic[k]))
		}
		t.add(fmt.Sprint(i), append(cells, features[r]...)...)
	}
	return t
}
