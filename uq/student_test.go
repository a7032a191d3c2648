package uq

import (
	"math"
	"testing"
)

// mixed is a mixture of two Student-t distributions and a normal one.
var mixed = Normals{Weights: []float64{.2, .5, .3}, Mean: []float64{-1, .3, 2}, SD: []float64{.5, 1.2, .1}, DF: []float64{2.5, 7, 0}}

// TestStudentGolden: CDF, log density, CRPS, quantiles and moments of a mixture by SciPy, whose CRPS is the integral of its definition.
func TestStudentGolden(t *testing.T) {
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for _, c := range [][4]float64{
		{-40.0, -15.577268356186721, 2.6777630182670114e-06, 39.698427566985984},
		{-1.0, -1.4652657114695593, 0.17863971084489066, 0.952984637812682},
		{0.25, -1.7349259308873959, 0.43152499981320797, 0.4836658601483024},
		{1.9, -0.23301715332538236, 0.6898967495733193, 0.6639600996316082},
		{2.0, 0.2283763148813087, 0.798594348375211, 0.7119979885158738},
		{30.0, -14.768725973520704, 0.9999952386145274, 28.59848486699649},
	} {
		near("log density", mixed.LogDensity(c[0]), c[1], 1e-12)
		near("joint density", LogDensities([]Normals{mixed}, c[:1]), c[1], 1e-12)
		near("CDF", mixed.CDF(c[0]), c[2], 1e-13)
		near("CRPS", mixed.CRPS(c[0]), c[3], 1e-6)
	}
	for _, c := range [][2]float64{{1e-4, -10.549573387439553}, {.05, -1.845028423368479}, {.5, 0.6542959151671769}, {.95, 2.1889893515747976}, {.9999, 9.518066174247558}} {
		near("quantile", mixed.Quantile(c[0]), c[1], 1e-11)
	}
	mean, noise, apart := mixed.Moments()
	near("mean", mean, .55, 1e-15)
	near("noise", noise, 1.1229425630903835, 1e-14)
	near("spread", apart, math.Sqrt(.2*1.55*1.55+.5*.25*.25+.3*1.45*1.45), 1e-14)
	for _, c := range [][4]float64{
		{2.1, -50.0, 0.00014451372391581318, -12.012856573394378}, {2.1, -2.0, 0.08869960758292221, -2.6871313984289493}, {2.1, 0.0, 0.5, -1.034286687431623},
		{2.1, 8.0, 0.9933869687345223, -6.380595360730432}, {3.0, -50.0, 8.808576020635984e-06, -14.454154855150838}, {3.0, -0.01, 0.496324555706426, -1.00095551517909},
		{3.0, 1.0, 0.8044988905221148, -1.5762529945270716}, {30.0, -50.0, 9.357708829611355e-31, -69.6663169262997}, {30.0, -2.0, 0.027312522481491547, -2.867299041165941},
		{900.0, -50.0, 2.7156953344953365e-262, -599.6949605605398}, {900.0, 1.0, 0.841210355236329, -1.4194939858801316},
	} {
		one := Normals{Weights: []float64{1}, Mean: []float64{7}, SD: []float64{2}, DF: c[:1]}
		y := 7 + 2*c[1]
		if got := one.CDF(y); !(math.Abs(got/c[2]-1) <= 1e-11) {
			t.Errorf("ν = %v: CDF %v, want %v", c[0], got, c[2])
		}
		near("log density", one.LogDensity(y), c[3]-math.Ln2, 1e-11)
	}
}

// TestStudentIsNearlyNormal: with a million degrees of freedom a mixture is one of normals, whose CRPS has a closed form; a scale of 0 is a
// point, and one that is not finite has no CRPS.
func TestStudentIsNearlyNormal(t *testing.T) {
	normal := Normals{Weights: []float64{.3, .7}, Mean: []float64{-2, 1}, SD: []float64{.4, 3}}
	tails := normal
	tails.DF = []float64{1e6, 1e6}
	for _, y := range []float64{-30, -2, 0, 1.5, 12} {
		for what, c := range map[string][2]float64{
			"CRPS": {tails.CRPS(y), normal.CRPS(y)}, "CDF": {tails.CDF(y), normal.CDF(y)}, "density": {math.Exp(tails.LogDensity(y)), math.Exp(normal.LogDensity(y))},
		} {
			if !(math.Abs(c[0]-c[1]) <= 2e-6) {
				t.Errorf("%s at %v: %v, of normals %v", what, y, c[0], c[1])
			}
		}
	}
	if a, b := tails.Quantile(.9), normal.Quantile(.9); !(math.Abs(a-b) <= 1e-5) {
		t.Errorf("quantile %v, of normals %v", a, b)
	}
	point := Normals{Weights: []float64{1}, Mean: []float64{3}, SD: []float64{0}, DF: []float64{5}}
	if got := point.CRPS(5); got != 2 || point.CDF(3) != 1 || point.CDF(2.9) != 0 || !math.IsInf(point.LogDensity(3), 1) {
		t.Errorf("a point: CRPS %v, CDF %v and %v", got, point.CDF(3), point.CDF(2.9))
	}
	for _, sd := range []float64{math.Inf(1), math.NaN()} {
		if got := (&Normals{Weights: []float64{1}, Mean: []float64{3}, SD: []float64{sd}, DF: []float64{5}}).CRPS(5); got-got == 0 {
			t.Errorf("a scale of %v: CRPS %v", sd, got)
		}
	}
}

func BenchmarkStudentCRPS(b *testing.B) {
	n := Normals{}
	for j := range 400 {
		n.Weights, n.Mean, n.SD, n.DF = append(n.Weights, 1./400), append(n.Mean, math.Sin(float64(j))), append(n.SD, 1+.5*math.Cos(float64(j))), append(n.DF, 3+math.Cos(float64(2*j)))
	}
	for b.Loop() {
		n.CRPS(.7)
	}
}
