package eval

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
)

// Numbers of a regression of several outputs come back in the unit of their own output: means, quantiles, and what is a distance in either, as
// standard deviations and CRPS. Each is what data.Standard makes of the same number as a value, or of two values that are so far apart.
func TestEveryNumberHasTheUnitOfItsOutput(t *testing.T) {
	s := &data.Standard{Mean: []float64{10, -2, 0.5}, SD: []float64{3, 0.1, 40}, To: 0.7}
	const n, outputs, levels = 4, 3, 2
	v := &bnn.EvaluatedRegression{
		Regression: bnn.Regression{Outputs: outputs, Quantiles: make([]float64, n*outputs*levels)}, LogDensity: make([]float64, n),
	}
	for i := range n * outputs {
		x := math.Sin(float64(7 * i))
		v.Mean, v.Aleatoric = append(v.Mean, x), append(v.Aleatoric, 0.3+0.1*x)
		v.Epistemic, v.CRPS = append(v.Epistemic, 0.5+0.2*x), append(v.CRPS, 0.6-0.1*x)
		for l := range levels {
			v.Quantiles[i*levels+l] = x + 0.1*float64(i) - float64(l)
		}
	}
	value := func(i int, x float64) float64 { // of output i%outputs
		row := make([]float64, outputs)
		row[i%outputs] = x
		s.Restore(row)
		return row[i%outputs]
	}
	distance := func(i int, d float64) float64 { return value(i, d) - value(i, 0) }
	was := *v
	was.Mean, was.Quantiles = slices.Clone(v.Mean), slices.Clone(v.Quantiles)
	was.Aleatoric, was.Epistemic, was.CRPS = slices.Clone(v.Aleatoric), slices.Clone(v.Epistemic), slices.Clone(v.CRPS)
	restore(v, s)
	for i := range n * outputs {
		for what, c := range map[string][2]float64{
			"mean": {v.Mean[i], value(i, was.Mean[i])}, "aleatoric": {v.Aleatoric[i], distance(i, was.Aleatoric[i])},
			"epistemic": {v.Epistemic[i], distance(i, was.Epistemic[i])}, "CRPS": {v.CRPS[i], distance(i, was.CRPS[i])},
			"first quantile": {v.Quantiles[i*levels], value(i, was.Quantiles[i*levels])}, "second": {v.Quantiles[i*levels+1], value(i, was.Quantiles[i*levels+1])},
		} {
			if !(math.Abs(c[0]-c[1]) <= 1e-12*max(1, math.Abs(c[1]))) {
				t.Errorf("%s of example %d, output %d: %v, want %v", what, i/outputs, i%outputs, c[0], c[1])
			}
		}
	}
	volume := 1.0 // of a unit cube in the targets' units: a density is divided by it
	for k := range outputs {
		volume *= distance(k, 1)
	}
	for i, l := range v.LogDensity {
		if !(math.Abs(l+math.Log(volume)) <= 1e-12) {
			t.Errorf("log-density of example %d: %v, want %v", i, l, -math.Log(volume))
		}
	}
}
