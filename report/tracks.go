package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
)

// Samplers side by side: what each came to by an iteration, by what it had spent, and by when.

// sharedCourse is one that is drawn of several runs.
type sharedCourse struct {
	id      string
	log     bool // runs differ in it by orders of magnitude
	against []effort
}

// effort is what stands on the x axis.
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

var sharedCourses = []sharedCourse{
	{"testaccuracy", false, []effort{byIteration, byGradients, bySeconds}},
	{"ess", false, []effort{byIteration, byGradients, bySeconds}},
	{"ancestors", false, []effort{byIteration, byGradients}},
	{"examples", true, []effort{byIteration, byGradients}},
}

// samplers draws those of all runs of particles, a picture a course and effort. What fewer than two runs have is left out.
func (c *Comparison) samplers() section {
	s := section{ID: "samplers", Title: "What the samplers did", Text: []string{
		"Medians over the islands of a run. Gradients are of one example each, over all particles and islands; evaluations without " +
			"gradient, and what MAP restarts or descents before the start took, are not among them. Seconds have all but the looks at " +
			"the test examples."}}
	for _, shared := range sharedCourses {
		if f := c.drawn(shared); f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	return s
}

func (c *Comparison) drawn(shared sharedCourse) *figure {
	var f *figure
	var axis chart.Axis
	tracks, desc := make([]*track, len(c.views)), ""
	for i, v := range c.views {
		t := v.track(shared.id)
		if t == nil {
			continue
		}
		if f == nil {
			f, axis = &figure{Title: t.title, Caption: t.caption, Data: courseTable(t.title, "run")}, t.axis
		}
		axis.Max = max(axis.Max, t.axis.Max)
		tracks[i] = t
		name, cells := c.Runs[i].Name, t.summary(t.value)
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

// track is a course over a run of islands.
type track struct {
	course
	iteration, gradients, seconds, value []float64
}

// track is that of a course by its id; nil if the run has none. One island that ended keeps its last line; an iteration is
// made when the last island has made it.
func (v *view) track(id string) *track {
	courses := v.courses()
	at := slices.IndexFunc(courses, func(c course) bool { return c.id == id })
	if at < 0 {
		return nil
	}
	t := &track{course: courses[at]}
	all := v.having(t.course)
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
		value := chart.Median(values)
		some = some || !math.IsNaN(value)
		t.iteration, t.value = append(t.iteration, float64(line.K)), append(t.value, value)
		t.gradients, t.seconds = append(t.gradients, gradients), append(t.seconds, seconds)
	}
	if !some {
		return nil
	}
	return t
}
