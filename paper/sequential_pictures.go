package paper

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// drawSequential draws Figures 2 to 4 of the runs that there are.
func drawSequential(t *Table, runs []Run) (all []Picture, err error) {
	rows := t.Rows(runs)
	if p := drawDistances(rows); p != nil {
		all = append(all, Picture{"figure2-ks", p})
	}
	p, err := drawTracks(t, rows)
	if err != nil {
		return nil, err
	}
	if p != nil {
		all = append(all, Picture{"figure3-tracks", p})
	}
	if p := drawErrors(rows); p != nil {
		all = append(all, Picture{"figure4-rmse", p})
	}
	return all, nil
}

// drawDistances is Figure 2: the KS distance by algorithm, for each M: the mean over the runs, and a standard deviation to both sides.
func drawDistances(rows []Row) []byte {
	var panels []panel
	height := 0.0
	for _, m := range []int{500, 5000} {
		example := fmt.Sprint("gaussian", m)
		c := chart.Dots{ID: example, Title: "M = " + numeral.Count(m), X: chart.Axis{Label: "KS distance from the Kalman filter, two-sided", Zero: true}}
		for _, r := range rows {
			name, ok := strings.CutPrefix(r.Name, example+"-")
			if mean, sd := r.Mean(figure("ks")); ok && !math.IsNaN(mean) {
				dot := chart.Dot{Name: name, Value: mean, Low: mean, High: mean, Class: "s0"}
				if !math.IsNaN(sd) {
					dot.Low, dot.High = mean-sd, mean+sd
				}
				c.Rows = append(c.Rows, dot)
				c.Desc += fmt.Sprintf("%s %.3f. ", name, mean)
			}
		}
		if len(c.Rows) > 0 {
			panels = append(panels, panel{c.Title, string(c.SVG())})
			height = max(height, float64(60+19*len(c.Rows)))
		}
	}
	if panels == nil {
		return nil
	}
	return sideBySide(panels, 2, height, nil)
}

// drawTracks is Figure 3: the estimated tracks of the first seed's run over the true ones, which the config simulates again.
func drawTracks(t *Table, rows []Row) ([]byte, error) {
	const height = 300
	var panels []panel
	for _, r := range rows {
		for _, run := range r.Runs {
			flat := run.Figures["tracks"]
			if len(flat) == 0 || run.Seed != 1 {
				continue
			}
			truth, err := t.trueTracks(r.Cell, isReduced(run.Protocol))
			if err != nil {
				return nil, err
			}
			c := chart.Chart{ID: r.Name, Title: "Tracks of " + r.Name, Desc: "The estimated tracks over the true ones.", Equal: true, Height: height, X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y"}}
			for target, line := range truth {
				line.Class = "truth"
				own := chart.Line{Class: fmt.Sprint("s", target%6)}
				for k := range line.X {
					at := 2 * (k*len(truth) + target)
					own.X, own.Y = append(own.X, float64(flat[at])), append(own.Y, float64(flat[at+1]))
				}
				end := len(own.X) - 1
				c.Marks = append(c.Marks, line, own, chart.Points{X: own.X[end:], Y: own.Y[end:], Class: own.Class})
			}
			panels = append(panels, panel{html.EscapeString(r.Name), string(c.SVG())})
		}
	}
	if panels == nil {
		return nil, nil
	}
	return sideBySide(panels, 3, height, []key{{"truth", "truth"}, {"s0", "estimates, target by target; a dot is the end"}}), nil
}

// trueTracks are the positions of the targets in the plane in a cell's run with seed 1.
func (t *Table) trueTracks(c Cell, reduced bool) ([]chart.Line, error) {
	work, err := t.Work(c, 1, reduced, "", "")
	if err != nil {
		return nil, err
	}
	s := work.(filtered).Filtering
	lines := make([]chart.Line, len(ssm.Blocks(s.Model)))
	source := scans.NewSimulated(s.Model.(ssm.Simulator), s.Seed, s.Scans.Simulate)
	for {
		rec, err := source.Next()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		for r, truth := range rec.Truth {
			lines[r].X, lines[r].Y = append(lines[r].X, truth.State[0]), append(lines[r].Y, truth.State[1])
		}
	}
}

// drawErrors is Figure 4: the RMSE of the positions over time, over the runs. What the paper ran is on the left.
func drawErrors(rows []Row) []byte {
	const height = 300
	var panels []panel
	var legend []key
	for _, side := range []struct {
		title, where string
		printed      bool
	}{{"as printed", "left", true}, {"ours", "right", false}} {
		c := chart.Chart{ID: "rmse-" + side.where, Title: side.title, X: chart.Axis{Label: "scan"}, Y: chart.Axis{Label: "RMSE of the positions", Zero: true}, Height: height}
		for _, r := range rows {
			var runs []Values
			for _, run := range r.Runs {
				runs = append(runs, run.Figures["rmse"])
			}
			line := chart.Line{Y: scanRoots(runs), Class: fmt.Sprint("s", len(c.Marks)%6)}
			if len(line.Y) == 0 || (r.Cell.Published != nil) != side.printed {
				continue
			}
			for k := range line.Y {
				line.X = append(line.X, float64(k+1))
			}
			c.Marks = append(c.Marks, line)
			legend = append(legend, key{line.Class, side.where + ": " + html.EscapeString(r.Name)})
		}
		if len(c.Marks) > 0 {
			c.Desc = fmt.Sprintf("A line for each of %d algorithms.", len(c.Marks))
			panels = append(panels, panel{c.Title, string(c.SVG())})
		}
	}
	if panels == nil {
		return nil
	}
	return sideBySide(panels, 2, height, legend)
}
