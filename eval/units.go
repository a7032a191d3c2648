package eval

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
)

// A network may learn standardised targets z. Predictions and scores are in the target's own units: y = Mean + SD·z/To.

// standard is the standardisation of a problem's targets; nil if they are not standardised.
func standard(p *data.Problem) *data.Standard {
	if p.Schema == nil {
		return nil
	}
	return p.Schema.Targets
}

// Targets returns the targets of a set of a problem, [n, Outputs], in their own units; none for classes.
func Targets(set *data.Set, p *data.Problem) []float64 { return inUnits(set, standard(p)) }

// inUnits returns the targets of a set, [n, Outputs], in their own units.
func inUnits(set *data.Set, s *data.Standard) []float64 {
	y := make([]float64, len(set.Values))
	for i, v := range set.Values {
		y[i] = float64(v)
	}
	shift(y, s)
	return y
}

// restore converts predictions and scores to the units of the targets.
func restore(v *bnn.EvaluatedRegression, s *data.Standard) {
	if s == nil {
		return
	}
	restoreRegression(&v.Regression, s)
	stretch(v.CRPS, s)
	for i := range v.LogDensity {
		v.LogDensity[i] -= logScale(s)
	}
}

// restoreRegression converts predictions to the units of the targets.
func restoreRegression(v *bnn.Regression, s *data.Standard) {
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

// shift converts values [n, Outputs].
func shift(x []float64, s *data.Standard) {
	if s == nil {
		return
	}
	for i := 0; i < len(x); i += len(s.Mean) {
		s.Restore(x[i : i+len(s.Mean)])
	}
}

// stretch converts lengths [n, Outputs], such as standard deviations.
func stretch(x []float64, s *data.Standard) {
	if s == nil {
		return
	}
	for i := range x {
		x[i] *= s.SD[i%len(s.SD)] / s.To
	}
}

// LogScale is added to the NLL of standardised targets to get the NLL in the targets' own units; 0 if they are not
// standardised.
func LogScale(p *data.Problem) float64 { return logScale(standard(p)) }

// logScale is the log of the factor by which a density shrinks when targets are converted: Σ_k ln(SD_k/To).
func logScale(s *data.Standard) float64 {
	sum := 0.0
	if s != nil {
		for _, sd := range s.SD {
			sum += rng.Log(sd / s.To)
		}
	}
	return sum
}
