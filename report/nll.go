package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/numeral"
)

// nll is the mean NLL on the training and on the validation examples while something was trained or moved.
type nll struct {
	of         string    // whose it is
	at, passes []float64 // iterations or epochs; passes of a network over the training examples, by its gradients
	train, val []float64 // val: NaN without validation examples
}

// overRun draws the NLL of both sets in one chart.
func overRun(id, axis string, all []nll) *figure {
	title := "Training and validation NLL"
	picture := chart.Chart{ID: id, Title: title + " over the run", X: chart.Axis{Label: axis, Whole: true}, Y: chart.Axis{Label: "mean NLL, nats"}}
	fig := &figure{Title: title, Data: &table{Caption: title, Head: []string{"NLL", "start", "lowest", "at " + axis, "end"}}}
	line := 0
	for _, set := range sets {
		for _, one := range all {
			y, class := set.of(one), fmt.Sprint("s", line)
			line++
			if math.IsNaN(y[0]) { // without validation examples
				continue
			}
			name := set.name + ", " + one.of
			cells := lowest(one.at, y)
			fig.Data.add(name, cells...)
			picture.Desc += fmt.Sprintf("%s: from %s to %s, lowest at %s %s. ", name, cells[0], cells[3], axis, cells[2])
			picture.Marks = append(picture.Marks, thinned(one.at, y, class))
			fig.Legend = append(fig.Legend, lineKey(class, name))
		}
	}
	fig.Charts = []template.HTML{picture.SVG()}
	return fig
}

// sets are the examples that an NLL is of.
var sets = []struct {
	id, name string
	of       func(nll) []float64
}{
	{"training", "training", func(n nll) []float64 { return n.train }},
	{"validation", "validation", func(n nll) []float64 { return n.val }},
}

// lowest are the cells of a table: where values start, the lowest one and its place, and where they end.
func lowest(x, y []float64) []string {
	k := 0
	for i := range y {
		if y[i] < y[k] {
			k = i
		}
	}
	return []string{fixed(y[0], 4), fixed(y[k], 4), place(x[k]), fixed(y[len(y)-1], 4)}
}

// place writes an iteration or an epoch, or passes, which need not be whole.
func place(x float64) string {
	if x == math.Trunc(x) {
		return numeral.Fixed(x, 0)
	}
	return numeral.Fixed(x, 1)
}

func thinned(x, y []float64, class string) chart.Line {
	x, y = chart.Thin(x, y, pointsOne)
	return chart.Line{X: x, Y: y, Class: class}
}
