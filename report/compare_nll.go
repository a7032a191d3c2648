package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
)

// learning draws the training and the validation NLL of all runs over their passes over the training examples: where particles unlearn,
// and where a descent learns on. It is nil unless two runs have such curves.
func learning(names []string, views []*view) *figure {
	title := "Training and validation NLL"
	fig := &figure{Title: title, Data: &table{Caption: title, Head: []string{"run", "start", "lowest", "at", "end"}},
		Caption: "Passes are counted by gradients: those of one network or particle, divided by the training examples. An SMC run has such scores with " +
			"trace: {unlearning: true}; of a run without islands or chains the chosen MAP restart is drawn. " + ofCourse}
	pictures, runs, line := make([]chart.Chart, len(sets)), 0, 0
	for s, set := range sets {
		pictures[s] = chart.Chart{ID: set.id + "-by-passes", Title: title + " of all runs, " + set.name,
			X: chart.Axis{Label: "passes over the training examples"}, Y: chart.Axis{Label: set.name + " NLL, nats"}}
	}
	for i, v := range views {
		all := v.unlearnt()
		if all == nil && v.sampling == nil {
			all = v.descended()
		}
		if all != nil {
			runs++
		}
		for _, one := range all {
			name, style := names[i]+", "+one.of, class(line)
			line++
			fig.Legend = append(fig.Legend, lineKey(style, name))
			for s, set := range sets {
				y := set.of(one)
				if math.IsNaN(y[0]) {
					continue
				}
				cells := lowest(one.passes, y)
				fig.Data.add(name+", "+set.name, cells...)
				pictures[s].Desc += fmt.Sprintf("%s: from %s to %s, lowest at %s. ", name, cells[0], cells[3], cells[2])
				pictures[s].Marks = append(pictures[s].Marks, thinned(one.passes, y, style))
			}
		}
	}
	if runs < 2 {
		return nil
	}
	for _, picture := range slices.DeleteFunc(pictures, func(p chart.Chart) bool { return p.Marks == nil }) {
		fig.Charts = append(fig.Charts, picture.SVG())
	}
	return fig
}
