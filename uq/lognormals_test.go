package uq

import (
	"math"
	"testing"
)

// amounts are mixtures of log-normal laws: of components alike and apart, without noise, and with much.
var amounts = map[string]LogNormals{
	"one":       {Weights: []float64{1}, Mean: []float64{.4}, SD: []float64{.7}},
	"three":     {Weights: []float64{.2, .5, .3}, Mean: []float64{-1, .3, 2}, SD: []float64{.5, 1.2, .1}},
	"alike":     {Weights: []float64{.5, .5}, Mean: []float64{3, 3}, SD: []float64{.2, .2}},
	"wide":      {Weights: []float64{.9, .1}, Mean: []float64{0, 1}, SD: []float64{2, .3}},
	"a point":   {Weights: []float64{.25, .75}, Mean: []float64{1, .5}, SD: []float64{0, .4}},
	"two exact": {Weights: []float64{.25, .75}, Mean: []float64{1, -.5}, SD: []float64{0, 0}},
}

// simpson integrates over n intervals of two steps.
func simpson(f func(float64) float64, a, b float64, n int) float64 {
	h, sum := (b-a)/float64(2*n), f(a)+f(b)
	for i := 1; i < 2*n; i++ {
		sum += float64(2+2*(i%2)) * f(a+float64(i)*h)
	}
	return sum * h / 3
}

// TestLogNormalsByQuadrature: moments, CDF and CRPS against their definitions, as integrals over the logarithm with the CDF of package math.
// The tolerance is 1e-8 of the value; a mean without σ²/2, and pairs of components left out, are off by more than 1e-3.
func TestLogNormalsByQuadrature(t *testing.T) {
	for name, n := range amounts {
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-8*math.Abs(want)) {
				t.Errorf("%s: %s %v, want %v", name, what, got, want)
			}
		}
		cdf := func(log float64) (p float64) {
			for j, w := range n.Weights {
				if n.SD[j] > 0 {
					p += w * math.Erfc((n.Mean[j]-log)/n.SD[j]/math.Sqrt2) / 2
				} else if log >= n.Mean[j] {
					p += w
				}
			}
			return p
		}
		expect := func(f func(j int, x float64) float64) (sum float64) { // of f over the components' logarithms
			for j, w := range n.Weights {
				one := func(z float64) float64 {
					return f(j, n.Mean[j]+n.SD[j]*z) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
				}
				sum += w * simpson(one, -15, 20, 4000)
			}
			return sum
		}
		means := make([]float64, len(n.Mean))
		for k := range means {
			means[k] = expect(func(j int, x float64) float64 {
				if j != k {
					return 0
				}
				return math.Exp(x) / n.Weights[k]
			})
		}
		mean := expect(func(_ int, x float64) float64 { return math.Exp(x) })
		m, noise, apart := n.Moments()
		near("mean", m, mean)
		within := expect(func(j int, x float64) float64 { return (math.Exp(x) - means[j]) * (math.Exp(x) - means[j]) })
		if !(math.Abs(noise-math.Sqrt(within)) <= 1e-8*mean) {
			t.Errorf("%s: noise %v, want %v", name, noise, math.Sqrt(within))
		}
		whole := expect(func(_ int, x float64) float64 { return (math.Exp(x) - mean) * (math.Exp(x) - mean) })
		if total := noise*noise + apart*apart; !(math.Abs(total-whole) <= 1e-8*(whole+mean*mean*1e-6)) {
			t.Errorf("%s: variance %v, want %v", name, total, whole)
		}
		for _, log := range []float64{-6, -.5, .2, 1, 2.1, 7} {
			y := math.Exp(log)
			if got, want := n.CDF(y), cdf(log); log != 1 && !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%s: CDF %v at %v, want %v", name, got, y, want)
			}
			square := func(above float64) func(float64) float64 {
				return func(log float64) float64 { d := cdf(log) - above; return d * d * math.Exp(log) }
			}
			if name == "a point" || name == "two exact" { // with jumps, that have no quadrature: E|Y − y| − ½ E|Y − Y'| by sums
				continue
			}
			near("CRPS", n.CRPS(y), simpson(square(0), -30, log, 20000)+simpson(square(1), log, 40, 20000))
		}
		for _, q := range []float64{.001, .5, .95} {
			if name != "a point" && name != "two exact" {
				if at := cdf(math.Log(n.Quantile(q))); !(math.Abs(at-q) <= 1e-10) {
					t.Errorf("%s: the CDF at the quantile %v is %v", name, q, at)
				}
			}
		}
	}
	exact := amounts["two exact"]
	a, b := math.E, math.Exp(-.5)
	for _, y := range []float64{.1, b, 1, a, 9} {
		if got, want := exact.CRPS(y), .25*math.Abs(y-a)+.75*math.Abs(y-b)-.25*.75*(a-b); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("CRPS without noise at %v: %v, want %v", y, got, want)
		}
	}
}

// TestLogNormalsAtTheEdges: little noise has the scores of normals, an amount of another unit those of that unit, large numbers do not
// overflow before their result does, and the mean of a Student-t's exponential is not finite.
func TestLogNormalsAtTheEdges(t *testing.T) {
	const small = 1e-5
	narrow := LogNormals{Weights: []float64{.5, .5}, Mean: []float64{0, small}, SD: []float64{small, 2 * small}}
	normal := Normals{Weights: narrow.Weights, Mean: []float64{1, 1 + small}, SD: narrow.SD}
	if got, want := narrow.CRPS(1+small), normal.CRPS(1+small); !(math.Abs(got-want) <= 1e-4*want) {
		t.Errorf("CRPS with little noise %v, of normals %v", got, want)
	}
	_, noise, apart := narrow.Moments()
	_, wantNoise, wantApart := normal.Moments()
	if !(math.Abs(noise-wantNoise) <= 1e-4*wantNoise) || !(math.Abs(apart-wantApart) <= 1e-4*wantApart) {
		t.Errorf("sd with little noise %v and %v, of normals %v and %v", noise, apart, wantNoise, wantApart)
	}
	n := amounts["three"]
	for _, unit := range []float64{1000, 1e-9} {
		shifted := LogNormals{Weights: n.Weights, SD: n.SD}
		for _, mu := range n.Mean {
			shifted.Mean = append(shifted.Mean, mu+math.Log(unit))
		}
		m, a, e := n.Moments()
		sm, sa, se := shifted.Moments()
		for _, c := range [][2]float64{{sm, m * unit}, {sa, a * unit}, {se, e * unit}, {shifted.CRPS(3 * unit), n.CRPS(3) * unit}, {shifted.Quantile(.9), n.Quantile(.9) * unit}} {
			if !(math.Abs(c[0]-c[1]) <= 1e-12*c[1]) {
				t.Errorf("in a unit of %v: %v, want %v", unit, c[0], c[1])
			}
		}
	}
	large := LogNormals{Weights: []float64{1}, Mean: []float64{600}, SD: []float64{1}}
	if m, sd, _ := large.Moments(); !(math.Abs(sd/m-math.Sqrt(math.E-1)) <= 1e-12) || math.IsInf(m, 0) {
		t.Errorf("a large mean %v ± %v", m, sd)
	}
	if got := (&LogNormals{Weights: []float64{1}, Mean: []float64{0}, SD: []float64{50}}).CRPS(1); !math.IsInf(got, 1) {
		t.Errorf("CRPS of a mean beyond numbers: %v", got)
	}
	if n.CDF(0) != 0 || n.CDF(-1) != 0 {
		t.Error("an amount is below 0")
	}
	tails := LogNormals{Weights: []float64{1}, Mean: []float64{0}, SD: []float64{1}, DF: []float64{5}}
	if m, _, _ := tails.Moments(); !math.IsInf(m, 1) || !math.IsInf(tails.CRPS(1), 1) {
		t.Errorf("mean %v and CRPS %v with a Student-t", m, tails.CRPS(1))
	}
}
