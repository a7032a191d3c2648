package report

import (
	"fmt"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/method"
)

// unlearnt are those of single particles and of the ensemble, from before the first iteration on (smc-sghmc-ensembles, section 2.9). Of
// several islands they are medians. There are none if the trace has no such scores.
func (v *view) unlearnt() (all []nll) {
	if len(v.islands) == 0 || v.islands[0].lines[0].AtStart == nil {
		return nil
	}
	over := func(start func(l *starling.TraceLine) float64, of func(l *starling.TraceLine) float64) []float64 {
		var ks, ys [][]float64
		for _, i := range v.islands {
			ks = append(ks, append([]float64{0}, i.values(func(l *starling.TraceLine) float64 { return float64(l.K) })...))
			ys = append(ys, append([]float64{start(&i.lines[0])}, i.values(of)...))
		}
		_, y := medians(ks, ys)
		return y
	}
	scores := func(of func(u *method.Unlearning) float64) []float64 {
		return over(func(l *starling.TraceLine) float64 { return of(l.AtStart) }, func(l *starling.TraceLine) float64 { return of(l.Unlearning) })
	}
	none := func(*starling.TraceLine) float64 { return 0 }
	at := over(none, func(l *starling.TraceLine) float64 { return float64(l.K) })
	passes := over(none, func(l *starling.TraceLine) float64 {
		return float64(l.Gradients) / float64(v.sampling.Particles) / float64(l.Examples)
	})
	return []nll{
		{"one particle", at, passes, scores(func(u *method.Unlearning) float64 { return float64(u.Train) }),
			scores(func(u *method.Unlearning) float64 { return number(u.Val) })},
		{"ensemble", at, passes, scores(func(u *method.Unlearning) float64 { return float64(u.TrainEnsemble) }),
			scores(func(u *method.Unlearning) float64 { return number(u.ValEnsemble) })},
	}
}

// unlearning shows the NLL of an SMC run on both sets; nil if the trace has no such scores.
func (v *view) unlearning() *figure {
	all := v.unlearnt()
	if all == nil {
		return nil
	}
	axis := v.sampling.Line()
	fig := overRun("unlearning", axis, all)
	fig.Caption = fmt.Sprintf("The mean over single particles, and the particles together by their weights, after each %s; 0 is the start. "+
		"Where the training NLL rises and the validation NLL does not, the particles unlearn what they had overfitted.", axis)
	if n := len(v.islands); n > 1 {
		fig.Caption += fmt.Sprintf(" Medians of %s.", several(n, v.sampling.Unit))
	}
	return fig
}
