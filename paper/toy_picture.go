package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
)

// Picture implements Shown: the targets by s and by T, and the autocorrelations, in the order of the paper's Figures 1 and 6; the added factor; and what an
// independent draw costs.
func (s *toyShown) Picture() []byte {
	var panels []panel
	for i, target := range s.Targets {
		title := target.Kind + ", " + fmt.Sprintf("%s = %g", target.letter(), target.At)
		panels = append(panels, panel{title, string(s.density(fmt.Sprint("target", i), title, target))})
	}
	kinds := s.kinds()
	for _, kind := range kinds {
		panels = append(panels, panel{"autocorrelation, " + kind, string(s.autocorrelation(kind))})
	}
	for k, kernel := range toyKernels {
		panels = append(panels, panel{"gradients of a draw, " + kernel.name, string(s.costs(k, kinds))})
	}
	legend := []key{}
	for i, at := range toyValues {
		text := fmt.Sprintf("s or T = %g", at)
		if i < len(kinds) {
			text += "; in the last two panels: " + kinds[i]
		}
		legend = append(legend, key{fmt.Sprint("s", i), text})
	}
	return sideBySide(panels, len(toyValues), chart.Width, legend)
}

// kinds are those of the targets, in their order.
func (s *toyShown) kinds() (kinds []string) {
	for _, t := range s.Targets {
		kinds = append(kinds, t.Kind)
	}
	return slices.Compact(kinds)
}

// density shades a target; the dot is the MAP.
func (s *toyShown) density(id, title string, target toyScore) []byte {
	const all = 100000
	counts := make([]int, len(target.cells))
	for i, p := range target.cells {
		counts[i] = int(math.Round(p * all))
	}
	axis := chart.Axis{Min: -toyEnd, Max: toyEnd}
	c := chart.Chart{ID: id, Title: title, Desc: title, X: axis, Y: axis, Equal: true, Height: chart.Width, Marks: []chart.Mark{
		chart.Cells{X: -toyEnd, Y: -toyEnd, Size: toySide, Columns: toyColumns, Counts: counts},
		chart.Points{X: s.MAP[:1], Y: s.MAP[1:], Class: "s1"},
	}}
	return []byte(c.SVG())
}

// autocorrelation is that of the first coordinate by NUTS, of the first chain.
func (s *toyShown) autocorrelation(kind string) []byte {
	c := chart.Chart{ID: "acf-" + kind, Title: "autocorrelation, " + kind, Desc: "By NUTS, of the first coordinate, over the lag.", Height: chart.Width,
		X: chart.Axis{Label: "lag in states", Zero: true, Whole: true}, Y: chart.Axis{Min: -0.2, Max: 1}}
	for _, t := range s.Targets {
		if t.Kind != kind {
			continue
		}
		line := chart.Line{Class: fmt.Sprint("s", slices.Index(toyValues, t.At))}
		for lag, rho := range t.Moves[0].Chains[0].ACF {
			line.X, line.Y = append(line.X, float64(lag)), append(line.Y, float64(rho))
		}
		c.Marks = append(c.Marks, line)
	}
	return []byte(c.SVG())
}

// costs are the gradients of a draw by one move. What is not known is left out.
func (s *toyShown) costs(move int, kinds []string) []byte {
	c := chart.Chart{ID: "costs-" + toyKernels[move].name, Title: "gradients of a draw, " + toyKernels[move].name, Desc: "Over s or T.", Height: chart.Width,
		X: chart.Axis{Label: "s or T", Log: true}, Y: chart.Axis{Log: true}}
	for i, kind := range kinds {
		line := chart.Line{Class: fmt.Sprint("s", i)}
		for _, t := range s.Targets {
			if m := t.Moves[move]; t.Kind == kind && m.Known {
				line.X, line.Y = append(line.X, t.At), append(line.Y, float64(m.Cost))
			}
		}
		c.Marks = append(c.Marks, line, chart.Points{X: line.X, Y: line.Y, Class: line.Class})
	}
	return []byte(c.SVG())
}
