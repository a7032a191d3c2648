package report

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/chart"
)

const coordinatesShown = 12

// bands shows the coordinates of a state over time, each with the interval that holds 90 % of its estimated distribution.
func (v *tracking) bands() section {
	s := section{ID: "state", Title: "What is the hidden state?"}
	total := len(v.IDs) * len(v.Names)
	for i := range min(total, coordinatesShown) {
		s.Figures = append(s.Figures, v.band(i/len(v.Names), i%len(v.Names)))
	}
	if total > coordinatesShown {
		s.Text = append(s.Text, fmt.Sprintf("The first %d of %d coordinates are drawn.", coordinatesShown, total))
	}
	return s
}

// band draws one coordinate: over the quantiles of the measurements, if these are of it, and by itself.
func (v *tracking) band(track, coordinate int) figure {
	name := v.Names[coordinate]
	if v.IDs[track] != "" {
		name = v.IDs[track] + ", " + name
	}
	id := fmt.Sprintf("state-%d-%d", track, coordinate)
	mean := v.each(func(s *FilteredScan) float64 { return s.Mean[track][coordinate] })
	ends, what := [2][]float64{}, "90\u00a0% interval"
	for end, sign := range []float64{-1, 1} {
		ends[end] = v.each(func(s *FilteredScan) float64 { // the quantiles or, without them, two standard deviations
			q := s.Low
			if end == 1 {
				q = s.High
			}
			if q == nil {
				what = "two standard deviations"
				return s.Mean[track][coordinate] + float64(sign*2*s.SD[track][coordinate])
			}
			return q[coordinate]
		})
	}
	truth := v.each(func(s *FilteredScan) float64 {
		if x := s.known(track); x != nil {
			return x[coordinate]
		}
		return math.NaN()
	})
	estimate := []chart.Mark{v.area("s0", ends[0], ends[1]), v.line("s0", mean)}
	f := figure{Title: name, Legend: []key{{chart.SampleBand("s0"), what}, lineKey("s0", "mean")}}
	f.Data = curveTable(name, "")
	f.Data.add("mean", summarise(mean, significant[float64])...)
	width := make([]float64, len(mean))
	for k := range width {
		width[k] = ends[1][k] - ends[0][k]
	}
	f.Data.add("width of the band", summarise(width, significant[float64])...)
	if finiteAny(truth) {
		estimate = append(estimate, v.line("truth", truth))
		f.Legend = append(f.Legend, lineKey("truth", "truth"))
		f.Data.add("truth", summarise(truth, significant[float64])...)
	}
	draw := func(id, title string, marks ...chart.Mark) {
		c := chart.Chart{ID: id, Title: title, Desc: fmt.Sprintf("The mean starts at %s and ends at %s.", significant(mean[0]), significant(mean[len(mean)-1])),
			X: chart.Axis{Label: v.unit}, Y: chart.Axis{Label: axisName(name)}, Marks: marks}
		f.Charts = append(f.Charts, c.SVG())
	}
	if z := v.quantiles(); v.IDs[0] == "" && coordinate == v.Observed && z != nil {
		behind := []chart.Mark{v.area("s5", z[0], z[4]), v.area("s5", z[1], z[3]), v.line("s5 solid", z[2])}
		draw(id+"-measured", name+" over the measurements", append(behind, estimate...)...)
		f.Legend = append([]key{{chart.SampleBand("s5"), "measurements: 5 to 95\u00a0%, inner half darker"}, lineKey("s5 solid", "their median")}, f.Legend...)
		f.Caption = "Above: the estimate over the measurements of each scan. Below: the estimate by itself. "
	}
	draw(id, name+" over time", estimate...)
	f.Caption += "The band is how sure the filter is. It should not be as wide as at the start for long, and it should follow changes within a few scans."
	if finiteAny(truth) {
		f.Caption += " The truth should lie inside it at about nine scans of ten."
	}
	return f
}
