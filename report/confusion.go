package report

import (
	"fmt"
	"html/template"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// confusion draws the confusion matrix, unless there are too many classes to read.
func (v *view) confusion() []figure {
	const most = 12
	classes := v.a.Test.Classes
	if classes > most {
		return nil
	}
	counts := make([][]int, classes)
	for c := range counts {
		counts[c] = make([]int, classes)
	}
	for i, y := range v.set.Labels {
		if c := uq.Argmax(probs(v.a.Test, i)); c >= 0 {
			counts[y][c]++
		}
	}
	m := chart.Matrix{ID: "confusion", Title: "Answers by class", Rows: "true class", Columns: "answer", Counts: counts}
	data := &table{Caption: "Examples of each class by answer", Head: []string{"true class"}}
	worst, taken := 0, ""
	for c := range classes {
		m.Names = append(m.Names, v.className(c))
		data.Head = append(data.Head, "as "+v.className(c))
	}
	for y, row := range counts {
		var cells []string
		for c, n := range row {
			cells = append(cells, count(n))
			if c != y && n > worst {
				worst, taken = n, fmt.Sprintf("%s for %s", m.Names[y], m.Names[c])
			}
		}
		data.add(m.Names[y], cells...)
	}
	m.Desc = "The number of examples of each class by answer; right answers are on the diagonal."
	caption := "Right answers are on the diagonal. A square is the darker, the larger its share of the true class."
	if worst > 0 && v.a.Metrics.N >= uq.Few {
		mistake := fmt.Sprintf(" The most frequent mistake: %s, %s.", taken, several(worst, "time"))
		caption += mistake
		m.Desc += mistake
	}
	return []figure{{Title: "Which classes it confuses", Charts: []template.HTML{m.SVG()}, Caption: caption, Data: data}}
}
