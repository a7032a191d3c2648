package eval

import (
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// A network may learn standardised targets z. Predictions and scores are in the target's own units: y = Mean + SD·z/To, or where the
// logarithms of amounts are learnt, y = exp(Mean + SD·z/To). The mean and the standard deviations of amounts are not those of logarithms, so
// the mixtures themselves are restored (bnn.Ensemble.PredictAmounts), and what comes of them is in the target's units.

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

// amounts is the standardisation of targets whose logarithms are learnt; nil for others.
func amounts(s *data.Standard) *data.Standard {
	if s == nil || !s.Log {
		return nil
	}
	return s
}

// restore converts predictions and scores to the units of the targets, unless they are of amounts.
func restore(v *bnn.EvaluatedRegression, s *data.Standard) {
	if s == nil || s.Log {
		return
	}
	restoreRegression(&v.Regression, s)
	stretch(v.CRPS, s)
	for i := range v.LogDensity {
		v.LogDensity[i] -= logScale(s)
	}
}

// restoreRegression converts predictions to the units of the targets, unless they are of amounts.
func restoreRegression(v *bnn.Regression, s *data.Standard) {
	if s == nil || s.Log {
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

// stretch converts lengths [n, Outputs], such as standard deviations, unless they are of amounts.
func stretch(x []float64, s *data.Standard) {
	if s == nil || s.Log {
		return
	}
	for i := range x {
		x[i] *= s.SD[i%len(s.SD)] / s.To
	}
}

// LogScale is added to the mean NLL of a set, of targets as the network learns them, to get it in the targets' own units; 0 if these are the same.
// set may be nil where the targets are no logarithms.
func LogScale(p *data.Problem, set *data.Set) float64 {
	s := standard(p)
	scale := logScale(s)
	if s != nil && s.Log && set != nil && set.Len() > 0 {
		scale += uq.Mean(logTargets(set, s))
	}
	return scale
}

// logScale is the log of the factor by which a density shrinks when targets are scaled: Σ_k ln(SD_k/To).
func logScale(s *data.Standard) float64 {
	sum := 0.0
	if s != nil {
		for _, sd := range s.SD {
			sum += rng.Log(sd / s.To)
		}
	}
	return sum
}

// logTargets are Σ_k ln y_ik for the targets of each example i, whose logarithms are learnt: by so much the density of y is lower than that of
// ln y, as d ln y = dy/y.
func logTargets(set *data.Set, s *data.Standard) []float64 {
	sums, k := make([]float64, set.Len()), len(s.Mean)
	y := make([]float64, k)
	for i := range sums {
		for c := range y {
			y[c] = float64(set.Values[i*k+c])
		}
		s.Unscale(y)
		for _, v := range y {
			sums[i] += v
		}
	}
	return sums
}

// InUnits returns the losses of the examples of a set, of targets as the network learns them (Losses), as those of targets in their own units.
func InUnits(losses []float64, set *data.Set, p *data.Problem) []float64 {
	s, scaled := standard(p), slices.Clone(losses)
	for i := range scaled {
		scaled[i] += logScale(s)
	}
	if s != nil && s.Log {
		for i, v := range logTargets(set, s) {
			scaled[i] += v
		}
	}
	return scaled
}
