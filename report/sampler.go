package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
)

// island is the trace of one island or chain.
type island struct {
	name  int
	lines []starling.TraceLine
}

func (i island) last() starling.TraceLine { return i.lines[len(i.lines)-1] }

// islands divides a trace, which is sorted by island and iteration.
func islands(trace []starling.TraceLine) (all []island) {
	for _, line := range trace {
		if n := len(all); n == 0 || all[n-1].name != line.Island {
			all = append(all, island{name: line.Island})
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, line)
	}
	return all
}

// values are those of every line of an island's trace.
func (i island) values(of func(*starling.TraceLine) float64) []float64 {
	x := make([]float64, len(i.lines))
	for k := range i.lines {
		x[k] = of(&i.lines[k])
	}
	return x
}

const (
	pointsAll = 2400 // of all lines of a chart together
	pointsOne = 240  // of one line
	rowsAll   = 40   // of the table beside a chart
	stretches = 50   // that a noisy line is averaged over, at most
)

// sampler shows what the sampler did, iteration by iteration.
func (v *view) sampler() section {
	s := section{ID: "sampler", Title: "What the sampler did"}
	for _, c := range v.courses() {
		if f := v.course(c); f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	if f := v.evidence(); f != nil {
		s.Figures = append(s.Figures, *f)
	}
	return s
}

// having are the islands with the lines that have a course.
func (v *view) having(c course) (all []island) {
	if !c.tested {
		return v.islands
	}
	for _, i := range v.islands {
		unseen := func(l starling.TraceLine) bool { return l.TestNLL == nil }
		if lines := slices.DeleteFunc(slices.Clone(i.lines), unseen); len(lines) > 0 {
			all = append(all, island{i.name, lines})
		}
	}
	return all
}

func (v *view) move() *starling.Move {
	switch m := v.run.Spec.Method; {
	case m.MCMC != nil:
		return &m.MCMC.Move
	case m.SMC != nil:
		return &m.SMC.Move
	}
	return nil
}

// bestMAP is the chosen restart's NLL on the validation examples; NaN without any.
func (v *view) bestMAP() float64 {
	if v.run.Chosen >= len(v.run.NLL) {
		return math.NaN()
	}
	return v.run.NLL[v.run.Chosen]
}

// unit is what islands are called, and what stands on the x axis.
func (v *view) unit() (name, axis string) {
	if v.run.Spec.Method.MCMC != nil {
		return "chain", "epochs"
	}
	return "island", "iteration"
}

// course draws one line an island, and their median if there are several; nil if there is nothing to draw.
func (v *view) course(c course) *figure {
	all := v.having(c)
	if !c.tells(all) {
		return nil
	}
	unit, axis := v.unit()
	chains := unit == "chain"
	picture := chart.Chart{ID: c.id, Title: c.title + " over the run", X: chart.Axis{Label: axis, Whole: !chains}, Y: c.axis}
	fig := &figure{Title: c.title, Caption: c.caption, Data: c.table(unit, all)}
	points := max(min(pointsAll/len(all), pointsOne), 8)
	style := "faint"
	if len(all) == 1 {
		style = "s0"
	}
	if c.rule != nil {
		picture.Marks = append(picture.Marks, chart.Rule{X: math.NaN(), Y: c.rule.at})
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
		if n := min(len(x)/5, stretches); c.smooth && chains && n > 1 { // one particle's moves are noise one by one
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
		median := "median; one that ended keeps its last value"
		if chains {
			median = "median"
		}
		fig.Legend = []key{lineKey("faint", "each "+unit), lineKey("strong", median)}
		picture.Desc = fmt.Sprintf("%s of %s; at the end from %s to %s, median %s.", c.title, several(len(all), unit),
			c.write(chart.Quantile(ends, 0)), c.write(chart.Quantile(ends, 1)), c.write(chart.Median(ends)))
	} else {
		picture.Desc = fmt.Sprintf("%s from %s to %s.", c.title, c.write(ys[0][0]), c.write(ends[0]))
	}
	if c.rule != nil {
		fig.Legend = append(fig.Legend, lineKey("rule", c.rule.note))
	}
	fig.Charts = []template.HTML{picture.SVG()}
	return fig
}

// tells says whether there is anything to draw. A constant tells nothing, unless it is compared with something or stands on
// an axis of known ends.
func (c course) tells(all []island) bool {
	some, differ, first := false, false, math.NaN()
	for _, i := range all {
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
	return some && (differ || c.rule != nil || c.axis.Min != c.axis.Max)
}

// table has a row an island, if there are not too many.
func (c course) table(unit string, all []island) *table {
	t := courseTable(c.title, unit)
	if n := len(all); n > rowsAll {
		t.Caption += fmt.Sprintf(" (the first %d of %d)", rowsAll, n)
	}
	for _, i := range all[:min(len(all), rowsAll)] {
		t.add(fmt.Sprint(i.name), c.summary(i.values(c.of))...)
	}
	return t
}

// courseTable is the numbers beside a picture of courses: a row has the cells of summary.
func courseTable(title, unit string) *table {
	return &table{Caption: title, Head: []string{unit, "start", "lowest", "median", "highest", "end"}}
}

// summary writes where values start, where they lie, and where they end.
func (c course) summary(y []float64) []string {
	at := func(share float64) string { return c.write(chart.Quantile(y, share)) }
	return []string{c.write(y[0]), at(0), at(.5), at(1), c.write(y[len(y)-1])}
}

func (c course) write(y float64) string { return fixed(y, c.decimals) }

// medians are those over the islands, point by point of the longest; those that have ended stay where they ended.
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
		y = append(y, chart.Median(at))
	}
	return x, y
}

// evidence shows each island's log Z, and what weight it would give or gives; nil without evidence.
func (v *view) evidence() *figure {
	logZ := v.run.Posterior.LogEvidence
	if v.j.Metrics.LogEvidence == nil || len(logZ) < 2 {
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
	m := v.j.Metrics
	d.Desc = fmt.Sprintf("Log evidence from %s to %s; standard deviation %s; weighed by it, %s of %d islands would count.", fixed(chart.Quantile(logZ, 0), 1),
		fixed(chart.Quantile(logZ, 1), 1), fixed(number(m.LogEvidenceSD), 1), fixed(number(m.EffectiveIslands), 1), len(logZ))
	f := &figure{Title: "Evidence of the islands", Data: data, Caption: "Islands that agree lie above one another. " +
		fmt.Sprintf("Together log Z = %s; the islands' standard deviation is %s.", fixed(number(m.LogEvidence), 1), fixed(number(m.LogEvidenceSD), 1))}
	if s := v.run.Schema; s != nil && s.Targets != nil {
		f.Caption += " It is a density of standardised targets, as the network learns them: of runs on another scale it says nothing."
	}
	if d.Rows != nil {
		f.Charts = []template.HTML{d.SVG()}
		return f
	}
	low, high := chart.Quantile(logZ, 0), chart.Quantile(logZ, 1)
	if low == high {
		low, high = low-1, high+1
	}
	edges, counts := chart.Histogram(logZ, low, high, 20)
	h := chart.Chart{ID: d.ID, Title: d.Title, Desc: d.Desc, X: chart.Axis{Label: "log Z, nats"}, Y: chart.Axis{Label: "islands", Whole: true, Zero: true},
		Marks: []chart.Mark{chart.Bars{Edges: edges, Y: counts, Class: "s0"}}}
	f.Charts = []template.HTML{h.SVG()}
	return f
}

// shares are the weights by evidence: exp(log Z) that sum to 1.
func shares(logZ []float64) []float64 {
	top, sum := chart.Quantile(logZ, 1), 0.0
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

// gradients are those spent in sampling, in examples, over all particles.
func gradients(all []island) (sum int) {
	for _, i := range all {
		sum += i.last().Gradients
	}
	return sum
}
