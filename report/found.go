package report

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/uq"
)

// find lists the findings of the run and of its predictions.
func (v *view) find() {
	v.found = append(slices.Clone(v.run.Findings), v.a.Findings(&v.run.Ensembles, v.given())...)
	if v.guesses() {
		guess := finding.Mean
		if v.classes() {
			guess = finding.Class
		}
		v.found = append(v.found, finding.NoSkill(guess))
	}
}

// guesses reports whether the predictions are not clearly better than the most frequent class, or the mean of the targets.
func (v *view) guesses() bool {
	if !v.classes() {
		return !(number(v.a.Metrics.RMSE) < v.spread())
	}
	n := float64(v.a.Metrics.N)
	low, _ := wilson(number(v.a.Metrics.Accuracy)*n, n)
	return !(low > v.mostFrequent())
}

// has reports whether the run has a finding of one of some kinds.
func (v *view) has(kinds ...string) bool {
	return slices.ContainsFunc(v.found, func(f finding.Finding) bool { return slices.Contains(kinds, f.Kind) })
}

// mostFrequent is the share of the most frequent class.
func (v *view) mostFrequent() float64 {
	counts := make([]float64, v.a.Test.Classes)
	for _, y := range v.set.Labels {
		counts[y]++
	}
	return slices.Max(counts) / float64(len(v.set.Labels))
}

// spread is the standard deviation of the targets, which is the RMSE of predicting their mean.
func (v *view) spread() float64 {
	t, k := v.a.Regression.Targets, v.a.Regression.Outputs
	sum := 0.0
	for o := range k {
		var y []float64
		for i := o; i < len(t); i += k {
			y = append(y, t[i])
		}
		m := uq.Mean(y)
		for _, x := range y {
			sum += (x - m) * (x - m)
		}
	}
	return math.Sqrt(sum / float64(len(t)))
}
