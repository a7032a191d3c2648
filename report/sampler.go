package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
)

const (
	pointsAll = 2400 // of all lines of a chart together
	pointsOne = 240  // of one line
	rowsAll   = 40   // of the table beside a chart
	stretches = 50   // that a noisy line is averaged over, at most
)

// sampler shows what the sampler did, iteration by iteration.
func (v *view) sampler() section {
	s := section{ID: "sampler", Title: "What the sampler did", Tables: v.widths()}
	for _, c := range v.curves() {
		if f := v.draw(c); f != nil {
			s.Figures = append(s.Figures, *f)
		}
		if c.id == likelihoodID {
			if f := v.agreement(); f != nil {
				s.Figures = append(s.Figures, *f)
			}
		}
	}
	if f := v.unlearning(); f != nil {
		s.Figures = append(s.Figures, *f)
	}
	if f := v.evidence(); f != nil {
		s.Figures = append(s.Figures, *f)
	}
	return s
}

// draw draws a line for each island, and the median if there are several; nil if there is nothing to draw.
func (v *view) draw(c curve) *figure {
	if !c.tells() {
		return nil
	}
	all, unit, chains, axis := c.islands, v.sampling.Unit, v.sampling.Chains(), v.sampling.Line()
	if chains {
		axis = "epochs"
	}
	picture := chart.Chart{ID: c.id, Title: c.title + " over the run", X: chart.Axis{Label: axis, Whole: !chains}, Y: c.axis}
	fig := &figure{Title: c.title, Caption: c.caption, Data: c.table(unit)}
	points := max(min(pointsAll/len(all), pointsOne), 8)
	style := "faint"
	if len(all) == 1 {
		style = "s0"
	}
	if c.reference != nil {
		picture.Marks = append(picture.Marks, chart.Rule{X: math.NaN(), Y: c.reference.at})
	}
	var xs, ys [][]float64
	var ends []float64
	smoothed := false
	for _, i := range all {
		x := i.values(func(l *starling.TraceLine) float64 { return float64(l.K) })
		if chains {
			x = i.values(func(l *starling.TraceLine) float64 { return l.Epochs })
		}
		y := i.values(c.of)
		ends = append(ends, y[len(y)-1])
		if n := min(len(x)/5, stretches); c.smooth && chains && n > 1 { // the moves of one particle are noisy
			x, y = chart.Smooth(x, y, n)
			smoothed = true
		}
		xs, ys = append(xs, x), append(ys, y)
		x, y = chart.Thin(x, y, points)
		picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: style, Step: c.step})
	}
	if smoothed {
		fig.Caption += " Lines are means over stretches of the run."
	}
	if len(all) > 1 {
		x, y := medians(xs, ys)
		x, y = chart.Thin(x, y, pointsOne)
		picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: "strong", Step: c.step})
		median := "median; an island that has ended keeps its last value"
		if chains {
			median = "median"
		}
		fig.Legend = []key{lineKey("faint", "each "+unit), lineKey("strong", median)}
		picture.Desc = fmt.Sprintf("%s of %s; at the end from %s to %s, median %s.", c.title, several(len(all), unit),
			c.write(numeral.Quantile(ends, 0)), c.write(numeral.Quantile(ends, 1)), c.write(numeral.Median(ends)))
	} else {
		picture.Desc = fmt.Sprintf("%s from %s to %s.", c.title, c.write(ys[0][0]), c.write(ends[0]))
	}
	if c.beside != nil && len(all) == 1 {
		fig.Legend = append(fig.Legend, lineKey(style, "after the iteration"))
	}
	for n, b := range c.beside {
		for k, i := range all {
			ys[k] = i.values(b.of)
		}
		x, y := medians(xs, ys)
		picture.Marks = append(picture.Marks, thinned(x, y, class(n+1)))
		picture.Desc += fmt.Sprintf(" %s: %s at the end.", b.name, c.write(y[len(y)-1]))
		fig.Legend = append(fig.Legend, lineKey(class(n+1), b.name))
	}
	if c.reference != nil {
		fig.Legend = append(fig.Legend, lineKey("rule", c.reference.note))
	}
	fig.Charts = []template.HTML{picture.SVG()}
	return fig
}

// tells reports whether a curve is worth drawing. A constant is not, unless it is compared with something or its axis has
// fixed ends.
func (c curve) tells() bool {
	some, differ, first := false, false, math.NaN()
	for _, i := range c.islands {
		for _, y := range i.values(c.of) {
			if y-y != 0 {
				continue
			}
			if !some {
				first = y
			}
			some, differ = true, differ || y != first
		}
	}
	return some && (differ || c.reference != nil || c.axis.Min != c.axis.Max)
}

// table has a row for each island, if there are not too many.
func (c curve) table(unit string) *table {
	t, all := curveTable(c.title, unit), c.islands
	if n := len(all); n > rowsAll {
		t.Caption += fmt.Sprintf(" (the first %d of %d)", rowsAll, n)
	}
	for _, i := range all[:min(len(all), rowsAll)] {
		t.add(fmt.Sprint(i.name), summarise(i.values(c.of), c.write)...)
	}
	return t
}

// curveTable is the table of numbers for a chart of curves: a row has the cells of summarise.
func curveTable(title, unit string) *table {
	return &table{Caption: title, Head: []string{unit, "start", "lowest", "median", "highest", "end"}}
}

// summarise writes where values start, where they lie, and where they end.
func summarise(y []float64, write func(float64) string) []string {
	at := func(share float64) string { return write(numeral.Quantile(y, share)) }
	return []string{write(y[0]), at(0), at(.5), at(1), write(y[len(y)-1])}
}

func (c curve) write(y float64) string { return fixed(y, c.decimals) }

// medians returns the medians over the islands, at every point of the longest one. An island that has ended keeps its last
// value.
func medians(xs, ys [][]float64) (x, y []float64) {
	for i := range xs {
		if len(xs[i]) > len(x) {
			x = xs[i]
		}
	}
	at := make([]float64, len(ys))
	for k := range x {
		for i, values := range ys {
			at[i] = values[min(k, len(values)-1)]
		}
		y = append(y, numeral.Median(at))
	}
	return x, y
}

// evidence shows each island's log Z and its weight by evidence; nil without evidence.
func (v *view) evidence() *figure {
	logZ := v.run.Posterior.LogEvidence
	if v.a.Metrics.LogEvidence == nil || len(logZ) < 2 {
		return nil
	}
	weights := shares(logZ)
	data := &table{Caption: "Log evidence of the islands", Head: []string{"island", "log Z, nats", "share by evidence"}}
	d := chart.Dots{ID: "evidence", Title: "Log evidence of the islands", X: chart.Axis{Label: "log Z, nats; right: weight by evidence"}}
	for i, z := range logZ {
		data.add(fmt.Sprint(i), fixed(z, 2), percent(weights[i]))
		if len(logZ) <= rowsAll {
			d.Rows = append(d.Rows, chart.Dot{Name: fmt.Sprint("island ", i), Value: z, Note: percentRound(weights[i]), Class: "s0"})
		}
	}
	m := v.a.Metrics
	d.Desc = fmt.Sprintf("Log evidence from %s to %s; standard deviation %s; weighting the islands by it would leave %s of %d effective.", fixed(numeral.Quantile(logZ, 0), 1),
		fixed(numeral.Quantile(logZ, 1), 1), fixed(number(m.LogEvidenceSD), 1), fixed(number(m.EffectiveIslands), 1), len(logZ))
	f := &figure{Title: "Evidence of the islands", Data: data, Caption: "Where islands agree, their dots lie above one another. " +
		fmt.Sprintf("Together log Z = %s; the islands' standard deviation is %s.", fixed(number(m.LogEvidence), 1), fixed(number(m.LogEvidenceSD), 1))}
	if s := v.run.Schema; s != nil && s.Targets != nil {
		of := "standardised targets"
		if s.Targets.Log {
			of = "the targets' logarithms"
		}
		f.Caption += " It is a density of " + of + ", as the network learns them: do not compare it with runs on another scale."
	}
	if d.Rows != nil {
		f.Charts = []template.HTML{d.SVG()}
		return f
	}
	low, high := numeral.Quantile(logZ, 0), numeral.Quantile(logZ, 1)
	if low == high {
		low, high = low-1, high+1
	}
	edges, counts := chart.Histogram(logZ, low, high, 20)
	h := chart.Chart{ID: d.ID, Title: d.Title, Desc: d.Desc, X: chart.Axis{Label: "log Z, nats"}, Y: chart.Axis{Label: "islands", Whole: true, Zero: true},
		Marks: []chart.Mark{chart.Bars{Edges: edges, Y: counts, Class: "s0"}}}
	f.Charts = []template.HTML{h.SVG()}
	return f
}

// shares are the weights by evidence: proportional to exp(log Z), with sum 1.
func shares(logZ []float64) []float64 {
	top, sum := numeral.Quantile(logZ, 1), 0.0
	w := make([]float64, len(logZ))
	for i, z := range logZ {
		w[i] = math.Exp(z - top)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}
