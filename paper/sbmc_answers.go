package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
)

// Decisions of SBMC's runs by a classifier of wrong answers and foreign inputs (Liang et al., section 3.8).

// decided are the runs whose predictions they decide by, with so many islands, or chains, of a group: in turns of one network or island, and of several.
var decided = []struct {
	name, title, run string
	islands, reduced int
}{
	{"map-one", "one network", "map-one", 0, 0}, {"ensemble", "ensemble of ten", "ensemble", 0, 0},
	{"s10-smc-p1", "S-SMC, P = 1", "s10-smc-p8", 1, 1}, {"s10-smc-p8", "S-SMC, P = 8", "s10-smc-p8", 8, 8},
	{"s10-hmc-p1", "S-HMC, P = 1", "s10-hmc-p8", 10, 1}, {"s10-hmc-p8", "S-HMC, P = 8", "s10-hmc-p8", 80, 8},
}

// cuts are their thresholds τ: .5 (Table 4a), and that of the best F1 of the examples that teach (4b).
var cuts = []struct{ name, title, at string }{{"half", "τ = .5", "{threshold: 0.5}"}, {"f1", "τ of the best F1", "f1"}}

func decidedCell(of, cut string) string { return onAnswers + of + "-" + cut }

// abstains is the prefix of the shares of rows that abstain: of right answers, of wrong ones, of foreign inputs.
const abstains = "abstains_"

// drawConfusion has a matrix for each run and cut (Figure 13): of each kind of rows, the shares that are answered and that abstain. The paper has
// wrong answers and foreign inputs as one kind.
func (t *Table) drawConfusion(rows map[string]*Row) []byte {
	const height = 204 // of a matrix of three rows
	var panels []panel
	for _, of := range decided {
		for _, cut := range cuts {
			cell := decidedCell(of.name, cut.name)
			r := rows[cell]
			if r == nil {
				continue
			}
			title := of.title + ", " + cut.title
			m := chart.Matrix{ID: "confusion-" + cell, Title: title, Rows: "kind of row", Columns: "decision", Heads: []string{"answers", "abstains"}}
			for _, kind := range []string{right, wrong, foreign} {
				mean, _, high := t.interval(r, figure(abstains+kind))
				if math.IsNaN(mean) {
					continue
				}
				answer, abstain := percentAndError(1-mean, high-mean), percentAndError(mean, high-mean)
				m.Names, m.Texts = append(m.Names, kind), append(m.Texts, []string{answer, abstain})
				m.Counts = append(m.Counts, []int{tenThousandths(1 - mean), tenThousandths(mean)})
				m.Desc += kind + ": " + abstain + " abstain. "
			}
			if m.Names != nil {
				panels = append(panels, panel{title, string(m.SVG())})
			}
		}
	}
	if panels == nil {
		return nil
	}
	return sideBySide(panels, len(cuts), height, nil)
}

func tenThousandths(share float64) int { return int(math.Round(1e4 * share)) }

// percentAndError writes a share and its standard error; 0: there is none.
func percentAndError(share, e float64) string {
	if e == 0 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*share, 100*e)
}

// drawTwoLevel has a line for each run, over τ (Figure 14b). The two cuts of a run have the same classifier, and so the same line.
func (t *Table) drawTwoLevel(rows map[string]*Row) []byte {
	lines, low, high := make([]means, len(decided)), math.Inf(1), math.Inf(-1)
	for i, of := range decided {
		line := &lines[i]
		for step := range tauSteps + 1 {
			line.add(t, rows[decidedCell(of.name, cuts[0].name)], tauAt(step), func(r Run) float64 {
				if v := r.Figures[twoLevelMeasure.Name]; len(v) == tauSteps+1 {
					return float64(v[step])
				}
				return math.NaN()
			})
		}
		if len(line.x) <= tauSteps { // it is drawn whole or not at all
			*line = means{}
			continue
		}
		low, high = min(low, slices.Min(line.low)), max(high, slices.Max(line.high))
	}
	if low > high {
		return nil
	}
	// Both panels have the same axes.
	x := chart.Axis{Label: "threshold τ", Min: 0, Max: 1}
	y := chart.Axis{Label: "share of right decisions", Percent: true, Min: math.Floor(10*low) / 10, Max: math.Ceil(10*high) / 10}
	var panels []panel
	for side, title := range []string{"one network or island", "ten networks, or eight islands"} {
		c := chart.Chart{ID: fmt.Sprint("two-level-", side), Title: title, X: x, Y: y, Height: sbmcHeight}
		for i := side; i < len(decided); i += 2 {
			if line := &lines[i]; line.x != nil {
				c.Marks = append(c.Marks, line.marks(fmt.Sprint("s", i/2))...)
				c.Desc += fmt.Sprintf("%s: %.3f at τ = 0, %.3f at .5, %.3f at 1. ", decided[i].title, line.mean[0], line.mean[tauSteps/2], line.mean[tauSteps])
			}
		}
		panels = append(panels, panel{title, string(c.SVG())})
	}
	var legend []key
	for i := 0; i < len(decided); i += 2 {
		legend = append(legend, key{fmt.Sprint("s", i/2), "left: " + decided[i].title + "; right: " + decided[i+1].title})
	}
	return sideBySide(panels, 2, sbmcHeight, legend)
}
