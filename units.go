package starling

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
)

// A network may learn standardised targets; all that is said of them is in their own units: y = Mean + SD·z/To.

// targetStandard is how the targets of a problem were standardised; nil if they were not.
func targetStandard(p *data.Problem) *data.Standard {
	if p.Schema == nil {
		return nil
	}
	return p.Schema.Targets
}

// inUnits is the targets of a set, [n, Outputs], in their own units.
func inUnits(set *data.Set, s *data.Standard) []float64 {
	y := make([]float64, len(set.Values))
	for i, v := range set.Values {
		y[i] = float64(v)
	}
	shift(y, s)
	return y
}

// restore brings predictions into the units of the targets.
func restore(v *bnn.EvaluatedRegression, s *data.Standard) {
	if s == nil {
		return
	}
	restoreValues(&v.Regression, s)
	stretch(v.CRPS, s)
	for i := range v.LogDensity {
		v.LogDensity[i] -= logScale(s)
	}
}

func restoreValues(v *bnn.Regression, s *data.Standard) {
	if s == nil {
		return
	}
	shift(v.Mean, s)
	stretch(v.Aleatoric, s)
	stretch(v.Epistemic, s)
	if len(v.Quantiles) > 0 {
		each := len(v.Quantiles) / len(v.Mean)
		for i, q := range v.Quantiles {
			k := i / each % len(s.Mean)
			v.Quantiles[i] = s.Mean[k] + float64(s.SD[k]*q)/s.To
		}
	}
}

// shift restores values [n, Outputs], stretch lengths.
func shift(x []float64, s *data.Standard) {
	if s == nil {
		return
	}
	for i := 0; i < len(x); i += len(s.Mean) {
		s.Restore(x[i : i+len(s.Mean)])
	}
}

func stretch(x []float64, s *data.Standard) {
	if s == nil {
		return
	}
	for i := range x {
		x[i] *= s.SD[i%len(s.SD)] / s.To
	}
}

// logScale is what a density of standardised targets loses in their own units: Σ_k ln(SD_k/To).
func logScale(s *data.Standard) float64 {
	sum := 0.0
	if s != nil {
		for _, sd := range s.SD {
			sum += rng.Log(sd / s.To)
		}
	}
	return sum
}
