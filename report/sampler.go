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

// course is one quantity over the run.
type course struct {
	id, title, label, caption string
	of                        func(*starling.TraceLine) float64
	axis                      chart.Axis
	step, smooth              bool
	rule                      float64 // to compare with; NaN: none
	note                      string  // what that is
	decimals                  int
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
	var courses []course
	nan := math.NaN()
	share := chart.Axis{Min: 0, Max: 1, Percent: true}
	target, adapted := nan, ""
	if m := v.move(); m != nil && m.HMC != nil && m.HMC.Step == 0 {
		target, adapted = m.HMC.Accept, "what the step aims at"
	} else if m != nil && m.PCN != nil && m.PCN.Step == 0 {
		target, adapted = m.PCN.Accept, "what the step aims at"
	}
	acceptance := course{
		id: "acceptance", title: "Acceptance", label: "mean acceptance probability", of: func(l *starling.TraceLine) float64 { return l.Acceptance },
		axis: share, smooth: true, rule: target, note: adapted, decimals: 2,
		caption: "Moves that are refused leave a particle where it is.",
	}
	if m := v.move(); m != nil && m.Leapfrog != nil {
		acceptance.caption = "What accept or reject would have done. Here every move stands, and its error goes into the weight."
	}
	likelihood := course{
		id: "likelihood", title: "Log-likelihood", label: "mean log-likelihood of a particle, nats", of: func(l *starling.TraceLine) float64 { return float64(l.LogLikelihood) },
		rule: nan, decimals: 1, caption: "Of the training examples. It should have come to rest, and all at the same height.",
	}
	if m := v.run.Spec.Method.SMC; m != nil {
		particles := float64(m.Particles)
		ess := nan
		if t := m.Path.Tempering; t != nil {
			ess = t.ESS
		}
		resampled := "what tempering keeps"
		var path []course
		if m.Path.Tempering == nil {
			ess, resampled = m.Resample.When.ESS, "below it particles are resampled"
			if ess == 0 {
				ess = nan
			}
			path = v.batches(m)
		} else {
			path = []course{{id: "tempering", title: "Tempering", label: "power of the likelihood (log scale)", of: func(l *starling.TraceLine) float64 { return l.Temperature },
				axis: chart.Axis{Log: true}, rule: nan, decimals: 5, caption: "From the prior, near 0, to the posterior at 1, each time as far as the effective sample size allows."}}
		}
		courses = append(path,
			course{id: "ess", title: "Effective sample size", label: "share of the particles", of: func(l *starling.TraceLine) float64 { return l.ESS / particles },
				axis: share, rule: ess, note: resampled, decimals: 2, caption: "Before resampling."},
			acceptance,
			course{id: "ancestors", title: "Ancestors", label: "particles of the start with descendants", of: func(l *starling.TraceLine) float64 { return float64(l.Ancestors) },
				axis: chart.Axis{Whole: true, Min: 0, Max: particles}, step: true, rule: nan, caption: fmt.Sprintf("Of %d. Resampling drops lines for good; only moves make up for it.", m.Particles)},
			likelihood,
		)
	} else {
		courses = []course{likelihood, acceptance}
	}
	courses = append(courses,
		course{id: "validation", title: "Validation", label: "NLL on the validation examples, nats", of: func(l *starling.TraceLine) float64 { return number(l.ValNLL) },
			rule: v.bestMAP(), note: "best MAP", decimals: 3, caption: "Of the particles as they stand, together: not of what is kept in the end."},
		course{id: "step", title: "Step size", label: "step size (log scale)", of: func(l *starling.TraceLine) float64 { return l.Step },
			axis: chart.Axis{Log: true}, rule: nan, decimals: 5, smooth: true, caption: "Of the last move of an iteration."})
	for _, c := range courses {
		if f := v.course(c); f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	looks := v.looks()
	for _, c := range []course{
		{id: "testnll", title: "Test NLL", label: "NLL on the test examples, nats", of: func(l *starling.TraceLine) float64 { return number(l.TestNLL) },
			rule: nan, decimals: 3, caption: "Of an island's particles together, by their weights, every 20 iterations and at the end. For looking only: nothing was decided by it."},
		{id: "testaccuracy", title: "Test accuracy", label: "share of the test examples", of: func(l *starling.TraceLine) float64 { return number(l.TestAccuracy) },
			axis: chart.Axis{Percent: true}, rule: nan, decimals: 4, caption: "Likewise."},
	} {
		if f := looks.course(c); f != nil {
			s.Figures = append(s.Figures, *f)
		}
	}
	if f := v.evidence(); f != nil {
		s.Figures = append(s.Figures, *f)
	}
	return s
}

// batches are the courses of a path of batches: how many examples it sees, what their likelihood counts, and what the
// moves' errors do to the weights.
func (v *view) batches(m *starling.SMC) []course {
	nan, trace := math.NaN(), v.run.Trace
	most := 0.0 // with an axis from 0 a batch that keeps its size is drawn, too
	for _, l := range trace {
		most = max(most, float64(l.Examples))
	}
	courses := []course{
		{id: "examples", title: "Batch size", label: "examples that the target sees", of: func(l *starling.TraceLine) float64 { return float64(l.Examples) },
			axis: chart.Axis{Whole: true, Min: 0, Max: most}, step: true, rule: nan, caption: "The schedule of the batches."},
	}
	if sda := m.Path.SDA; sda != nil {
		blocks := func(l *starling.TraceLine) float64 {
			if l.Settled == 0 {
				return 1
			}
			return 2 + math.Ceil(float64(l.Settled-sda.Batch)/float64(sda.Grow))
		}
		courses = append(courses, course{id: "power", title: "Power of the newest block", label: "β", of: func(l *starling.TraceLine) float64 { return l.Temperature },
			axis: chart.Axis{Min: 0, Max: 1}, step: true, rule: nan, decimals: 2, caption: "Rises with what a nat of entropy allows; at 1 the block settles and the next comes in. With one ancestor it jumps to 1 at once."},
			course{id: "blocks", title: "Number of batches", label: "batches that have come in", of: blocks,
				axis: chart.Axis{Whole: true, Zero: true}, step: true, rule: nan, caption: "The last of them has the power above, the others 1."})
	}
	if m.Move.Leapfrog != nil {
		courses = append(courses, course{id: "energy", title: "Energy error", label: "sd over the particles, nats (log scale)", of: func(l *starling.TraceLine) float64 { return l.EnergySD },
			axis: chart.Axis{Log: true}, rule: nan, decimals: 2, caption: "Goes into the log-weights as it is: above a few nats one particle takes all."})
	}
	courses = append(courses, course{id: "logweights", title: "Variance of the log-weights", label: "nats² (log scale)", of: func(l *starling.TraceLine) float64 { return float64(l.LogWeightVar) },
		axis: chart.Axis{Log: true}, rule: math.Log(float64(m.Particles)), note: fmt.Sprintf("what %d particles carry", m.Particles), decimals: 2,
		caption: "Before resampling, of living particles. The share of them that is effective is about exp(−variance): above log J, less than one."})
	if slices.ContainsFunc(trace, func(l starling.TraceLine) bool { return l.LogEvidence != 0 }) {
		courses = append(courses, course{id: "logz", title: "Log evidence so far", label: "nats", of: func(l *starling.TraceLine) float64 { return float64(l.LogEvidence) },
			rule: nan, decimals: 1, caption: "Of the iteration's own target, its likelihood scaled to all examples."})
	}
	return courses
}

// looks are the iterations after which the test examples were looked at.
func (v *view) looks() *view {
	only := *v
	only.islands = nil
	for _, i := range v.islands {
		unseen := func(l starling.TraceLine) bool { return l.TestNLL == nil }
		if lines := slices.DeleteFunc(slices.Clone(i.lines), unseen); len(lines) > 0 {
			only.islands = append(only.islands, island{i.name, lines})
		}
	}
	return &only
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

// course draws one line an island, and their median if there are several; nil if there is nothing to draw. A constant
// tells nothing either, unless it is compared with something.
func (v *view) course(c course) *figure {
	unit, axis := v.unit()
	chains := unit == "chain"
	some, differ, first := false, false, math.NaN()
	for _, i := range v.islands {
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
	if !some || !differ && math.IsNaN(c.rule) && c.axis.Min == c.axis.Max {
		return nil
	}
	picture := chart.Chart{ID: c.id, Title: c.title + " over the run", X: chart.Axis{Label: axis, Whole: !chains}, Y: c.axis}
	picture.Y.Label = c.label
	points := max(min(pointsAll/len(v.islands), pointsOne), 8)
	style := "faint"
	if len(v.islands) == 1 {
		style = "s0"
	}
	if !math.IsNaN(c.rule) {
		picture.Marks = append(picture.Marks, chart.Rule{X: math.NaN(), Y: c.rule})
	}
	data := &table{Caption: c.title, Head: []string{unit, "start", "lowest", "median", "highest", "end"}}
	f := fixed[float64]
	var xs, all [][]float64
	var ends []float64
	smoothed := false
	for n, i := range v.islands {
		x := i.values(func(l *starling.TraceLine) float64 { return float64(l.K) })
		if chains {
			x = i.values(func(l *starling.TraceLine) float64 { return l.Epochs })
		}
		y := i.values(c.of)
		q := func(q float64) string { return f(chart.Quantile(y, q), c.decimals) }
		if n < rowsAll {
			data.add(fmt.Sprint(i.name), f(y[0], c.decimals), q(0), q(.5), q(1), f(y[len(y)-1], c.decimals))
		}
		ends = append(ends, y[len(y)-1])
		if n := min(len(x)/5, stretches); c.smooth && chains && n > 1 { // one particle's moves are noise one by one
			x, y = chart.Smooth(x, y, n)
			smoothed = true
		}
		xs, all = append(xs, x), append(all, y)
		x, y = chart.Thin(x, y, points)
		picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: style, Step: c.step})
	}
	if n := len(v.islands); n > rowsAll {
		data.Caption += fmt.Sprintf(" (the first %d of %d)", rowsAll, n)
	}
	fig := &figure{Title: c.title, Caption: c.caption, Data: data}
	if smoothed {
		fig.Caption += " Lines are means over stretches of the run."
	}
	if len(v.islands) > 1 {
		x, y := medians(xs, all)
		x, y = chart.Thin(x, y, pointsOne)
		picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: "strong", Step: c.step})
		median := "median; one that ended keeps its last value"
		if chains {
			median = "median"
		}
		fig.Legend = []key{lineKey("faint", "each "+unit), lineKey("strong", median)}
		picture.Desc = fmt.Sprintf("%s of %s; at the end from %s to %s, median %s.", c.title, several(len(v.islands), unit),
			f(chart.Quantile(ends, 0), c.decimals), f(chart.Quantile(ends, 1), c.decimals), f(chart.Median(ends), c.decimals))
	} else {
		picture.Desc = fmt.Sprintf("%s from %s to %s.", c.title, f(all[0][0], c.decimals), f(ends[0], c.decimals))
	}
	if !math.IsNaN(c.rule) {
		fig.Legend = append(fig.Legend, lineKey("rule", c.note))
	}
	fig.Charts = []template.HTML{picture.SVG()}
	return fig
}

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
