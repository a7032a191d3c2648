package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
)

const (
	ellipsesShown = 12 // of a track
	tracksShown   = 8  // that have figures of their own
)

// tracks shows the estimates on a map.
func (v *tracking) tracks() section {
	s := section{ID: "tracks", Title: "Where are the targets?"}
	c := chart.Chart{ID: "map", Title: "Tracks over the returns", Equal: true, X: chart.Axis{Label: axisName(v.Names[0])}, Y: chart.Axis{Label: axisName(v.Names[1])}}
	f := figure{Title: "Tracks over the returns", Data: &table{
		Caption: "Position at the first and the last scan, and how sure the filter is of it",
		Head:    []string{"track", v.Names[0] + ", start", v.Names[1] + ", start", v.Names[0] + ", end", v.Names[1] + ", end", "sd of position, median"},
	}}
	c.Desc = fmt.Sprintf("A map of %s.", several(len(v.IDs), "track"))
	if v.Cells != nil {
		cells := chart.Cells{X: v.Cells.X, Y: v.Cells.Y, Size: v.Cells.Size, Columns: v.Cells.Columns, Counts: v.Cells.Counts}
		c.Marks = append(c.Marks, cells)
		f.Caption = fmt.Sprintf("Grey squares of side %s count the returns of all scans: the stronger the grey, the more. ", plain(cells.Size))
		for _, shade := range cells.Shades() {
			name := count(shade.From)
			if shade.To > shade.From {
				name += " to " + count(shade.To)
			}
			f.Legend = append(f.Legend, key{shade.Sample, name + " returns"})
		}
	}
	var names []chart.Label // over all lines
	for r, id := range v.IDs {
		line, truth := v.path(r, (*FilteredScan).estimate), v.path(r, (*FilteredScan).known)
		line.Class = class(r) + " solid"
		ellipses := chart.Ellipses{Class: class(r)}
		for _, k := range evenly(len(v.Scans), ellipsesShown) {
			m := v.Scans[k].Mean[r]
			ellipses.Of = append(ellipses.Of, chart.EllipseOf(m[0], m[1], v.Scans[k].Cov[r], .95))
		}
		n := len(line.X)
		c.Marks = append(c.Marks, line, chart.Points{X: line.X[n-1:], Y: line.Y[n-1:], Class: class(r)}, ellipses)
		if v.truth {
			truth.Class = "truth"
			c.Marks = append(c.Marks, truth)
		}
		names = append(names, chart.Label{X: line.X[n-1], Y: line.Y[n-1], Text: axisName(id)})
		if r < rowsAll {
			first, last := v.Scans[0].Mean[r], v.Scans[len(v.Scans)-1].Mean[r]
			f.Data.add(id, significant(first[0]), significant(first[1]), significant(last[0]), significant(last[1]),
				significant(numeral.Median(v.each(func(s *FilteredScan) float64 { return s.spread(r) }))))
			f.Legend = append(f.Legend, lineKey(class(r)+" solid", id))
		}
	}
	f.Caption += "A line is a track; a dot ends it, and ellipses hold 95\u00a0% of the estimated distribution at some scans. An ellipse smaller than the line is not seen. " +
		"A track that leaves the strong squares would be bad. So would two that become one."
	if v.truth {
		f.Legend = append(f.Legend, lineKey("truth", "truth"))
		f.Caption += " The truth should lie inside nearly all ellipses."
	}
	for i, name := range names {
		name.Below = nearestAbove(names, i)
		c.Marks = append(c.Marks, name)
	}
	f.Charts = []template.HTML{c.SVG()}
	s.Figures = []figure{f, v.positions(0), v.positions(1)}
	return s
}

// positions draws one coordinate of all tracks over time.
func (v *tracking) positions(coordinate int) figure {
	name := v.Names[coordinate]
	c := chart.Chart{ID: fmt.Sprint("position-", coordinate), Title: name + " over time", X: chart.Axis{Label: v.unit}, Y: chart.Axis{Label: axisName(name)}, Height: 300,
		Desc: fmt.Sprintf("%s of %s.", name, several(len(v.IDs), "track"))}
	f := figure{Title: c.Title, Caption: "A line that jumps from one place to another has lost its target, or two tracks have changed places."}
	for r, id := range v.IDs {
		c.Marks = append(c.Marks, v.line(class(r), v.each(func(s *FilteredScan) float64 { return s.Mean[r][coordinate] })))
		if r < rowsAll {
			f.Legend = append(f.Legend, lineKey(class(r), id))
		}
	}
	f.Charts = []template.HTML{c.SVG()}
	return f
}

// path is a line through a track's positions. Where the position is unknown, it has a gap.
func (v *tracking) path(track int, of func(*FilteredScan, int) []float64) (l chart.Line) {
	for _, k := range evenly(len(v.Scans), pointsOne) {
		x, y := math.NaN(), math.NaN()
		if at := of(&v.Scans[k], track); at != nil {
			x, y = at[0], at[1]
		}
		l.X, l.Y = append(l.X, x), append(l.Y, y)
	}
	return l
}

// trackErrors compares each track's error with the standard deviation that the filter gives it.
func (v *tracking) trackErrors() section {
	s := section{ID: "errors", Title: "How far from the truth?", Text: []string{
		"The error of a track is the distance from its estimated to its true position. It should be mostly below twice the posterior standard deviation. " +
			"Where it is above that for many scans, the filter is too sure of itself, or has lost the target. " +
			"In the lower pictures nearly all dots should lie inside the 95\u00a0% ellipses. Dots that lie to one side show a bias."}}
	over := "all scans"
	if v.Of != nil {
		over = "the scans that are drawn"
	}
	all := table{Caption: "Error of position, over " + over, Head: []string{"track", "RMSE", "posterior sd", "largest error", "inside 95\u00a0% ellipses"}}
	for r, id := range v.IDs {
		of := func(value func(*FilteredScan, int) float64) []float64 {
			return v.each(func(s *FilteredScan) float64 { return value(s, r) })
		}
		away, sd := of((*FilteredScan).distance), of((*FilteredScan).spread)
		if r < rowsAll {
			all.add(id, significant(rms(away)), significant(rms(sd)), significant(numeral.Quantile(away, 1)), percent(share(of((*FilteredScan).inside))))
		}
		if r >= tracksShown || !finiteAny(away) {
			continue
		}
		f := v.over(fmt.Sprint("error-", r), "Error of track "+id, chart.Axis{Label: "distance", Zero: true}, significant[float64],
			series{name: "error", class: class(r) + " solid", y: away}, series{name: "posterior sd", class: "strong", y: sd})
		f.Charts = append(f.Charts, v.around(r))
		f.Caption = "Above: the error over time. Below: the true position seen from the estimate, a dot a scan, and the ellipses of some scans."
		s.Figures = append(s.Figures, *f)
	}
	if n := len(v.IDs); n > tracksShown {
		s.Text = append(s.Text, fmt.Sprintf("The first %d of %d tracks are drawn.", tracksShown, n))
	}
	if n := len(v.IDs); n > rowsAll {
		all.Caption += fmt.Sprintf(" (the first %d of %d tracks)", rowsAll, n)
	}
	s.Tables = []table{all}
	return s
}

// around draws truth minus estimate in the plane.
func (v *tracking) around(track int) template.HTML {
	c := chart.Chart{ID: fmt.Sprint("around-", track), Title: "Error of track " + v.IDs[track] + " in the plane", Equal: true,
		X: chart.Axis{Label: "truth − estimate, " + axisName(v.Names[0])}, Y: chart.Axis{Label: "truth − estimate, " + axisName(v.Names[1])}}
	ellipses, dots := chart.Ellipses{Class: class(track)}, chart.Points{Class: class(track), Radius: 2}
	for _, k := range evenly(len(v.Scans), ellipsesShown/2) {
		ellipses.Of = append(ellipses.Of, chart.EllipseOf(0, 0, v.Scans[k].Cov[track], .95))
	}
	for _, k := range evenly(len(v.Scans), pointsOne) {
		dots.X, dots.Y = append(dots.X, v.Scans[k].offset(track, 0)), append(dots.Y, v.Scans[k].offset(track, 1))
	}
	c.Marks = []chart.Mark{chart.Rule{X: math.NaN(), Y: 0}, chart.Rule{X: 0, Y: math.NaN()}, ellipses, dots}
	inside := share(v.each(func(s *FilteredScan) float64 { return s.inside(track) }))
	c.Desc = fmt.Sprintf("Errors of position around 0, with ellipses; %s of the truths lie inside their ellipses.", percent(inside))
	return c.SVG()
}

// nearestAbove reports whether the nearest of the other names belongs to a higher place: then a name stands below its own.
func nearestAbove(names []chart.Label, i int) (above bool) {
	least := math.Inf(1)
	for j, other := range names {
		if away := math.Hypot(other.X-names[i].X, other.Y-names[i].Y); j != i && away < least {
			least, above = away, other.Y > names[i].Y
		}
	}
	return above
}
