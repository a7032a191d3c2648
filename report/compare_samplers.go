package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
)

// sharedCurve is a curve that is drawn for several runs.
type sharedCurve struct {
	id      string
	log     bool // logarithmic axis: runs differ by orders of magnitude
	against []effort
}

// effort is a choice of x axis: iterations, gradients or seconds.
type effort struct {
	id   string
	axis chart.Axis
	of   func(*track) []float64
}

var (
	byIteration = effort{"iteration", chart.Axis{Label: "iteration", Whole: true}, func(t *track) []float64 { return t.iteration }}
	byGradients = effort{"gradients", chart.Axis{Label: "gradients, examples (log scale)", Log: true}, func(t *track) []float64 { return t.gradients }}
	bySeconds   = effort{"seconds", chart.Axis{Label: "seconds (log scale)", Log: true}, func(t *track) []float64 { return t.seconds }}
)

var sharedCurves = []sharedCurve{
	{"testaccuracy", false, []effort{byIteration, byGradients, bySeconds}},
	{"ess", false, []effort{byIteration, byGradients, bySeconds}},
	{"ancestors", false, []effort{byIteration, byGradients}},
	{"examples", true, []effort{byIteration, byGradients}},
}

// samplers draws the curves of all runs in the same charts: against iterations, gradients and seconds. A curve that only one
// run has is left out.
func (c *Comparison) samplers() section {
	s := section{ID: "samplers", Title: "What the samplers did", Text: []string{
		"Lines are medians over the islands of a run. Gradients are counted per example, over all particles and islands; evaluations " +
			"without gradient and the search for point estimates are not counted. Seconds leave out pauses and the evaluation on test " +
			"examples."}}
	for _, shared := range sharedCurves {
		if f := c.drawn(shared); f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	return s
}

func (c *Comparison) drawn(shared sharedCurve) *figure {
	var f *figure
	var axis chart.Axis
	tracks, desc := make([]*track, len(c.views)), ""
	for i, v := range c.views {
		t := v.track(shared.id)
		if t == nil {
			continue
		}
		if f == nil {
			f, axis = &figure{Title: t.title, Caption: t.caption, Data: curveTable(t.title, "run")}, t.axis
		}
		axis.Max = max(axis.Max, t.axis.Max)
		tracks[i] = t
		name, cells := c.Runs[i].Name, summarise(t.value, t.write)
		f.Legend = append(f.Legend, lineKey(class(i), name))
		f.Data.add(name, cells...)
		desc += fmt.Sprintf("%s: from %s to %s. ", name, cells[0], cells[len(cells)-1])
	}
	if f == nil || len(f.Legend) < 2 {
		return nil
	}
	if shared.log {
		axis = chart.Axis{Label: axis.Label + " (log scale)", Log: true}
	}
	for _, e := range shared.against {
		picture := chart.Chart{ID: shared.id + "-by-" + e.id, Title: f.Title + ", by " + e.id, Desc: desc, X: e.axis, Y: axis}
		for i, t := range tracks {
			if t != nil {
				x, y := chart.Thin(e.of(t), t.value, pointsOne)
				picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: class(i), Step: t.step})
			}
		}
		f.Charts = append(f.Charts, picture.SVG())
	}
	return f
}

// track is a curve over a run of islands.
type track struct {
	curve
	iteration, gradients, seconds, value []float64
}

// track returns the track of the curve with that id; nil if the run does not have the curve. An island that has ended keeps
// its last line. The seconds of an iteration are those when the last island has made it.
func (v *view) track(id string) *track {
	curves := v.curves()
	at := slices.IndexFunc(curves, func(c curve) bool { return c.id == id })
	if at < 0 {
		return nil
	}
	t := &track{curve: curves[at]}
	all := t.islands
	if len(all) == 0 {
		return nil
	}
	longest := slices.MaxFunc(all, func(a, b island) int { return len(a.lines) - len(b.lines) })
	some := false
	values := make([]float64, len(all))
	for k, line := range longest.lines {
		var gradients, seconds float64
		for i, island := range all {
			l := &island.lines[min(k, len(island.lines)-1)]
			values[i] = t.of(l)
			gradients += float64(l.Gradients)
			seconds = max(seconds, l.Seconds)
		}
		value := numeral.Median(values)
		some = some || !math.IsNaN(value)
		t.iteration, t.value = append(t.iteration, float64(line.K)), append(t.value, value)
		t.gradients, t.seconds = append(t.gradients, gradients), append(t.seconds, seconds)
	}
	if !some {
		return nil
	}
	return t
}
