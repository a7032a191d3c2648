package uq

import (
	"math"
	"testing"
)

// TestUnitVariance: the floors and a point of the published scores, against figures that were computed elsewhere and have six
// digits, and three examples by hand.
func TestUnitVariance(t *testing.T) {
	one := Normals{Weights: []float64{1}, Mean: []float64{2}, SD: []float64{3}}
	p, y := []float64{1, 2, 4}, []float64{2, 2, 1} // errors −1, 0, 3; the targets have mean 5/3 and variance 2/9
	absolute, overSD, overVariance := BiasReadings(p, y)
	below, _, _ := BiasReadings([]float64{1, 1}, []float64{2, 4})
	rmse := RMSE(p, y)
	phi := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	crps := func(z float64) float64 { return z*math.Erf(z/math.Sqrt2) + 2*phi(z) - 1/math.Sqrt(math.Pi) }
	for _, c := range []struct {
		name           string
		got, want, tol float64
	}{
		{"CRPS without error", UnitCRPS([]float64{5, -1}, []float64{5, -1}), 0.233695, 5e-7},
		{"CRPS at 0.7", UnitCRPS([]float64{5}, []float64{5.7}), 0.42157, 5e-6},
		{"CRPS at −0.7", UnitCRPS([]float64{5}, []float64{4.3}), 0.42157, 5e-6},
		{"CRPS of N(2, 3²) at its mean", one.CRPS(2), 3 * 0.233695, 2e-6},
		{"CRPS of N(2, 3²) at 0.7", one.CRPS(2 + 3*0.7), 3 * 0.42157, 2e-5},
		{"NLL without error", UnitNLL([]float64{5, -1}, []float64{5, -1}), 0.918939, 5e-7},
		{"NLL", UnitNLL(p, y), 0.5*math.Log(2*math.Pi) + 0.5*10/3, 1e-12},
		{"NLL by RMSE", UnitNLL(p, y), 0.5*math.Log(2*math.Pi) + 0.5*rmse*rmse, 1e-12},
		{"CRPS", UnitCRPS(p, y), (crps(-1) + crps(0) + crps(3)) / 3, 1e-12},
		{"bias", absolute, 2. / 3, 1e-12},
		{"bias of predictions that are too low", below, 2, 1e-12},
		{"bias over sd", overSD, math.Sqrt(2), 1e-12},
		{"squared bias over variance", overVariance, 2, 1e-12},
		{"RMSE²/(1 − R²), the population variance", rmse * rmse / (1 - R2(p, y)), 2. / 9, 1e-12},
	} {
		if !(math.Abs(c.got-c.want) <= c.tol) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if !math.IsNaN(UnitNLL(nil, nil)) {
		t.Error("a score without examples is a number")
	}
}
