package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
)

// Samplers side by side: what each came to by an iteration, by what it had spent, and by when.

// quantity is one that is drawn of several runs.
type quantity struct {
	id, title, caption string
	axis               chart.Axis
	step, looks        bool // looks: there is one only where the test examples were looked at
	write              func(float64) string
	of                 func(*starling.SMC, *starling.TraceLine) float64
	against            []effort
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

var quantities = []quantity{
	{
		id: "test-accuracy", title: "Test accuracy on the way", caption: "Of the particles by their weights, every 20 iterations and at the end.",
		axis: chart.Axis{Label: "share that is right", Percent: true}, looks: true, write: percent,
		of:      func(_ *starling.SMC, l *starling.TraceLine) float64 { return number(l.TestAccuracy) },
		against: []effort{byIteration, byGradients, bySeconds},
	}, {
		id: "ess", title: "Effective sample size on the way", caption: "Before resampling.",
		axis: chart.Axis{Label: "share of the particles", Min: 0, Max: 1, Percent: true}, write: percent,
		of:      func(m *starling.SMC, l *starling.TraceLine) float64 { return l.ESS / float64(m.Particles) },
		against: []effort{byIteration, byGradients, bySeconds},
	}, {
		id: "ancestors", title: "Ancestors on the way", caption: "Resampling drops lines for good; only moves make up for it.",
		axis: chart.Axis{Label: "particles of the start with descendants", Whole: true, Zero: true}, step: true, write: whole,
		of:      func(_ *starling.SMC, l *starling.TraceLine) float64 { return float64(l.Ancestors) },
		against: []effort{byIteration, byGradients},
	}, {
		id: "batch-size", title: "Batch size on the way", caption: "The schedules of the batches.",
		axis: chart.Axis{Label: "examples that the target sees (log scale)", Log: true}, step: true, write: whole,
		of: func(m *starling.SMC, l *starling.TraceLine) float64 {
			if m.Path.Tempering != nil { // it has no batches
				return math.NaN()
			}
			return float64(l.Examples)
		},
		against: []effort{byIteration, byGradients},
	},
}

func whole(v float64) string { return fixed(v, 0) }

// courses draws the samplers of all runs of particles, a picture a quantity and effort. What fewer than two runs have is
// left out.
func (c *Comparison) courses() section {
	s := section{ID: "samplers", Title: "What the samplers did", Text: []string{
		"Medians over the islands of a run. Gradients are of one example each, over all particles and islands; evaluations without gradient, and what MAP restarts or descents before the start took, are not among them. Seconds have all but the looks at the test examples."}}
	for _, q := range quantities {
		if f := c.drawn(q); f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	return s
}

func (c *Comparison) drawn(q quantity) *figure {
	tracks := make([]*track, len(c.views))
	f := &figure{Title: q.title, Caption: q.caption, Data: &table{Caption: q.title, Head: []string{"run", "start", "lowest", "median", "highest", "end"}}}
	desc := ""
	for i, v := range c.views {
		t := v.track(q)
		if t == nil {
			continue
		}
		tracks[i] = t
		name := c.Runs[i].Name
		f.Legend = append(f.Legend, lineKey(class(i), name))
		start, end := q.write(t.value[0]), q.write(t.value[len(t.value)-1])
		at := func(share float64) string { return q.write(chart.Quantile(t.value, share)) }
		f.Data.add(name, start, at(0), at(.5), at(1), end)
		desc += fmt.Sprintf("%s: from %s to %s. ", name, start, end)
	}
	if len(f.Legend) < 2 {
		return nil
	}
	for _, e := range q.against {
		picture := chart.Chart{ID: q.id + "-by-" + e.id, Title: q.title + ", by " + e.id, Desc: desc, X: e.axis, Y: q.axis}
		for i, t := range tracks {
			if t != nil {
				x, y := chart.Thin(e.of(t), t.value, pointsOne)
				picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: class(i), Step: q.step})
			}
		}
		f.Charts = append(f.Charts, picture.SVG())
	}
	return f
}

// track is a quantity over a run of islands.
type track struct {
	iteration, gradients, seconds, value []float64
}

// track is that of a run of particles; nil if it has none. One island that ended keeps its last line; an iteration is made
// when the last island has made it.
func (v *view) track(q quantity) *track {
	m := v.run.Spec.Method.SMC
	if m == nil {
		return nil
	}
	all := v.islands
	if q.looks {
		all = v.looks().islands
	}
	if len(all) == 0 {
		return nil
	}
	longest := slices.MaxFunc(all, func(a, b island) int { return len(a.lines) - len(b.lines) })
	t := &track{}
	some := false
	values := make([]float64, len(all))
	for k, line := range longest.lines {
		var gradients, seconds float64
		for i, island := range all {
			l := &island.lines[min(k, len(island.lines)-1)]
			values[i] = q.of(m, l)
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
