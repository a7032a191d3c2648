package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// tradeoff is a line of a chart and the area under it.
type tradeoff struct {
	x, y []float64
	area float64
}

// selective returns the curve of a risk against coverage, reduced to a given number of points. risk[k−1] is the risk over the
// k examples of least uncertainty. There is no curve for a nil risk, which means that an uncertainty is NaN.
func selective(risk []float64, points int) tradeoff {
	c := tradeoff{area: uq.AURC(risk)}
	n := len(risk)
	for k, r := range risk {
		if k == 0 || k == n-1 || (k+1)*points/n != k*points/n {
			c.x, c.y = append(c.x, float64(k+1)/float64(n)), append(c.y, r)
		}
	}
	return c
}

// riskAt returns the risk if a given share of the examples is answered.
func riskAt(risk []float64, share float64) float64 {
	k := int(math.Ceil(float64(share*float64(len(risk))) - 1e-9))
	if k < 1 {
		return math.NaN()
	}
	return risk[k-1]
}

// rootRisk returns the root mean square error over the k examples of least uncertainty, for every k.
func rootRisk(uncertainty, squares []float64) []float64 {
	risk, sum := make([]float64, len(uncertainty)), 0.0
	for k, i := range byUncertainty(uncertainty) {
		sum += squares[i]
		risk[k] = math.Sqrt(sum / float64(k+1))
	}
	return risk
}

// byUncertainty returns the rows sorted from the lowest value to the highest, NaN last.
func byUncertainty(uncertainty []float64) []int {
	order := make([]int, len(uncertainty))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := uncertainty[a], uncertainty[b]; {
		case math.IsNaN(x) || math.IsNaN(y):
			return btoi(math.IsNaN(x)) - btoi(math.IsNaN(y))
		default:
			return cmp.Compare(x, y)
		}
	})
	return order
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// risk is the risk of answering only the most certain examples, by one kind of uncertainty or for one run.
type risk struct {
	name, class string
	of          []float64 // by number of examples, as for riskAt
}

// declining draws risks against the share of examples that is answered. A risk is the share of wrong answers or, for
// regression, the RMSE. The first risk is drawn on top. by heads the column of names in the table.
func declining(picture chart.Chart, by string, regression bool, risks []risk) figure {
	const points = 100
	shares := []float64{.5, .7, .8, .9, .95, 1}
	picture.X = chart.Axis{Label: "share answered", Min: 0, Max: 1, Percent: true}
	picture.Y = chart.Axis{Label: "share of the answers that is wrong", Percent: true, Zero: true}
	write, data := percent, &table{Caption: "Share of the answers that is wrong, by the share answered", Head: []string{by}}
	if regression {
		picture.Y = chart.Axis{Label: "RMSE of the answers", Zero: true}
		write, data.Caption = significant[float64], "RMSE of the answers, by the share answered"
	}
	for _, s := range shares {
		data.Head = append(data.Head, percentRound(s))
	}
	if !regression {
		data.Head = append(data.Head, "AURC")
	}
	f := figure{Title: "Declining to answer", Data: data, Caption: "From right to left, the most uncertain examples are declined and left to somebody else. " +
		"The steeper the curve falls, the better the uncertainty finds mistakes."}
	for _, r := range risks { // dashes over lines that they coincide with
		line := selective(r.of, points)
		picture.Marks = append(picture.Marks, chart.Line{X: line.x, Y: line.y, Class: r.class})
	}
	for _, r := range risks {
		f.Legend = append(f.Legend, lineKey(r.class, r.name))
		var cells []string
		for _, s := range shares {
			cells = append(cells, write(riskAt(r.of, s)))
		}
		if !regression {
			cells = append(cells, fixed(uq.AURC(r.of), 4))
		}
		data.add(r.name, cells...)
		picture.Desc += fmt.Sprintf("%s: %s of all, %s of the most certain nine tenths, %s of the most certain half. ",
			r.name, write(riskAt(r.of, 1)), write(riskAt(r.of, .9)), write(riskAt(r.of, .5)))
	}
	f.Charts = []template.HTML{picture.SVG()}
	return f
}
