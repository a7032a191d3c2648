package eval

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/uq"
)

// skill compares the predictions with a guess that does not look at the inputs, the most frequent class or the mean of the targets; nil
// if they are clearly better, or if all examples have the same target, where no prediction can be.
func (a *Assessment) skill() *finding.Finding {
	m := a.Metrics
	switch {
	case a.Regression != nil && m.RMSE != nil && a.TargetSD() != 0 && !(float64(*m.RMSE) < a.TargetSD()):
		return found(finding.NoSkill{})
	case a.Test != nil && m.Accuracy != nil:
		n := float64(m.N)
		if low, _ := uq.Wilson(float64(*m.Accuracy)*n, n); a.MostFrequent() < 1 && !(low > a.MostFrequent()) {
			return found(finding.NoSkill{Class: true})
		}
	}
	return nil
}

// MostFrequent is the share of the most frequent class among the examples evaluated on.
func (a *Assessment) MostFrequent() float64 {
	labels := a.Set().Labels
	counts := make([]float64, a.Test.Classes)
	for _, y := range labels {
		counts[y]++
	}
	return slices.Max(counts) / float64(len(labels))
}

// TargetSD is the standard deviation of the targets evaluated on, which is the RMSE of predicting their mean; of several outputs, each by
// its own mean.
func (a *Assessment) TargetSD() float64 {
	t, k := a.Regression.Targets, a.Regression.Outputs
	sum := 0.0
	for o := range k {
		y := every(t, o, k)
		m := uq.Mean(y)
		for _, x := range y {
			sum += float64((x - m) * (x - m))
		}
	}
	return math.Sqrt(sum / float64(len(t)))
}
