package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/method"
)

// unlearning shows the mean NLL of single particles and of the ensemble, on the training and on the validation examples, from before the
// first iteration on (smc-sghmc-ensembles, section 2.9). Of several islands it shows medians. It is nil if the trace has no such scores.
func (v *view) unlearning() *figure {
	if len(v.islands) == 0 || v.islands[0].lines[0].AtStart == nil {
		return nil
	}
	axis := v.sampling.Line()
	title := "Training and validation NLL"
	picture := chart.Chart{ID: "unlearning", Title: title + " over the run", X: chart.Axis{Label: axis, Whole: true}, Y: chart.Axis{Label: "mean NLL, nats"}}
	fig := &figure{Title: title, Data: &table{Caption: title, Head: []string{"NLL", "start", "lowest", "at " + axis, "end"}}}
	for c, s := range []struct {
		name string
		of   func(u *method.Unlearning) float64
	}{
		{"training, one particle", func(u *method.Unlearning) float64 { return float64(u.Train) }},
		{"training, ensemble", func(u *method.Unlearning) float64 { return float64(u.TrainEnsemble) }},
		{"validation, one particle", func(u *method.Unlearning) float64 { return number(u.Val) }},
		{"validation, ensemble", func(u *method.Unlearning) float64 { return number(u.ValEnsemble) }},
	} {
		var xs, ys [][]float64
		for _, i := range v.islands {
			x := append([]float64{0}, i.values(func(l *starling.TraceLine) float64 { return float64(l.K) })...)
			y := append([]float64{s.of(i.lines[0].AtStart)}, i.values(func(l *starling.TraceLine) float64 { return s.of(l.Unlearning) })...)
			xs, ys = append(xs, x), append(ys, y)
		}
		x, y := medians(xs, ys)
		if math.IsNaN(y[0]) { // without validation examples
			continue
		}
		lowest := 0
		for k := range y {
			if y[k] < y[lowest] {
				lowest = k
			}
		}
		last := y[len(y)-1]
		fig.Data.add(s.name, fixed(y[0], 4), fixed(y[lowest], 4), fmt.Sprint(x[lowest]), fixed(last, 4))
		picture.Desc += fmt.Sprintf("%s: from %s to %s, lowest at %s %.0f. ", s.name, fixed(y[0], 4), fixed(last, 4), axis, x[lowest])
		class := fmt.Sprint("s", c)
		x, y = chart.Thin(x, y, pointsOne)
		picture.Marks = append(picture.Marks, chart.Line{X: x, Y: y, Class: class})
		fig.Legend = append(fig.Legend, lineKey(class, s.name))
	}
	fig.Caption = fmt.Sprintf("The mean over single particles, and the particles together by their weights, after each %s; 0 is the start. "+
		"Where the training NLL rises and the validation NLL does not, the particles unlearn what they had overfitted.", axis)
	if n := len(v.islands); n > 1 {
		fig.Caption += fmt.Sprintf(" Medians of %s.", several(n, v.sampling.Unit))
	}
	fig.Charts = []template.HTML{picture.SVG()}
	return fig
}
