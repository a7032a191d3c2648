package uq

import (
	"math"
	"testing"
)

// randomNormals is a mixture of particles that differ in weight, mean and SD.
func randomNormals(particles int, seed int) Normals {
	s := stream(seed)
	n := Normals{Weights: make([]float64, particles), Mean: make([]float64, particles), SD: make([]float64, particles)}
	sum := 0.0
	for j := range particles {
		n.Weights[j], n.Mean[j], n.SD[j] = s.Float64(), 3*s.Normal(), math.Exp(s.Normal())
		sum += n.Weights[j]
	}
	for j := range n.Weights {
		n.Weights[j] /= sum
	}
	return n
}

// CRPS is the integral of (F(x) − 1{x ≥ y})², here by the trapezoidal rule on both sides of y: 40,000 steps of 0.002 leave
// an error of about h²/12 · Δf′ < 1e-6.
func TestCRPSIsTheIntegral(t *testing.T) {
	for seed, particles := range []int{1, 2, 9} {
		n := randomNormals(particles, 100+seed)
		for _, y := range []float64{-4, 0.3, 7} {
			want := 0.0
			const h = 0.002
			for k := range 40000 {
				for _, side := range []float64{-1, 1} {
					a, b := n.CDF(y+side*h*float64(k)), n.CDF(y+side*h*float64(k+1))
					if side > 0 {
						a, b = 1-a, 1-b
					}
					want += h * (a*a + b*b) / 2
				}
			}
			if got := n.CRPS(y); !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("%d particles at %v: %v, by the integral %v", particles, y, got, want)
			}
		}
	}
}

// The CRPS of one normal at z standard deviations is E|z − X| − 1/√π, and E|z − X| = z erf(z/√2) + 2 φ(z), written out with
// the standard library. It approaches z, but differs from it up to z = 8.
func TestCRPSOfFarTargets(t *testing.T) {
	n := Normals{Weights: []float64{1}, Mean: []float64{0}, SD: []float64{1}}
	for z := 4.; z <= 8; z += 0.25 {
		want := z*math.Erf(z/math.Sqrt2) + 2*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi)
		for _, y := range []float64{z, -z} {
			if got := n.CRPS(y); !(math.Abs(got-want) <= 4e-15) {
				t.Errorf("CRPS at %v is %v, want %v", y, got, want)
			}
		}
	}
}

// CRPS has the unit of y and does not depend on the origin: CRPS(aF + b, ay + b) = a CRPS(F, y).
func TestCRPSMovesWithUnits(t *testing.T) {
	n := randomNormals(7, 110)
	moved := randomNormals(7, 110)
	for j := range moved.Mean {
		moved.Mean[j], moved.SD[j] = 40*moved.Mean[j]-1000, 40*moved.SD[j]
	}
	if a, b := 40*n.CRPS(1), moved.CRPS(40-1000); !(math.Abs(a-b) <= 1e-10*a) {
		t.Errorf("%v and %v", a, b)
	}
}

// At a quantile the CDF has the quantile's probability, as nearly as float64 allows: at its two neighbours the CDF lies on
// both sides, or within the rounding of the CDF.
func TestQuantileInvertsTheCDF(t *testing.T) {
	for seed, particles := range []int{1, 2, 3, 10, 300} {
		n := randomNormals(particles, 120+seed)
		last := math.Inf(-1)
		for _, q := range []float64{1e-12, 0.001, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.999, 1 - 1e-12} {
			x := n.Quantile(q)
			if !(x > last) {
				t.Errorf("%d particles: quantile %v is %v, one before it %v", particles, q, x, last)
			}
			last = x
			if p := n.CDF(x); !(math.Abs(p-q) <= 4e-15*float64(1+particles/100)) {
				t.Errorf("%d particles: the CDF at quantile %v is %v", particles, q, p)
			}
		}
	}
}

// A normal's quantiles are known: Φ⁻¹(0.975) = 1.959963984540054235524594430521.
func TestQuantileOfOneNormal(t *testing.T) {
	n := Normals{Weights: []float64{1}, Mean: []float64{5}, SD: []float64{2}}
	for q, z := range map[float64]float64{0.5: 0, 0.975: 1.959963984540054235524594430521, 0.025: -1.959963984540054235524594430521} {
		if got := n.Quantile(q); !(math.Abs(got-(5+2*z)) <= 2e-15) {
			t.Errorf("quantile %v is %v, want %v", q, got, 5+2*z)
		}
	}
}

// The ends, where a normal has no quantile, are programmers' errors.
func TestQuantileRefuses(t *testing.T) {
	n := randomNormals(3, 150)
	for _, q := range []float64{0, 1, -0.5, 2, math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("quantile %v: no panic", q)
				}
			}()
			n.Quantile(q)
		}()
	}
}

// Far modes, one of hardly any weight, and particles without noise: brackets shrink wherever Newton's steps fail.
func TestQuantileOfHardMixtures(t *testing.T) {
	far := Normals{Weights: []float64{0.5, 0.5}, Mean: []float64{-1e6, 1e6}, SD: []float64{1e-3, 1e-3}}
	if got := far.Quantile(0.25); !(math.Abs(got+1e6) <= 1e-9) { // the median of the lower mode
		t.Errorf("a quarter lies below %v, want −1e6", got)
	}
	rare := Normals{Weights: []float64{1 - 1e-9, 1e-9}, Mean: []float64{0, 1e9}, SD: []float64{1, 1}}
	if p := rare.CDF(rare.Quantile(0.95)); !(math.Abs(p-0.95) <= 1e-15) {
		t.Errorf("95 %% lie below a point with CDF %v", p)
	}
	points := Normals{Weights: []float64{0.25, 0.5, 0.25}, Mean: []float64{1, 2, 3}, SD: []float64{0, 0, 0}}
	for q, want := range map[float64]float64{0.1: 1, 0.5: 2, 0.7: 2, 0.9: 3} {
		if got := points.Quantile(q); !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("quantile %v of points is %v, want %v", q, got, want)
		}
	}
	huge := Normals{Weights: []float64{1}, Mean: []float64{1}, SD: []float64{1e160}} // the square of its deviation overflows
	for _, q := range []float64{.05, .5, .95} {
		if got, want := huge.Quantile(q)/1e160, (&Normals{Weights: []float64{1}, Mean: []float64{0}, SD: []float64{1}}).Quantile(q); !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("quantile %v of huge noise is %v, want %v", q, got, want)
		}
	}
	mixed := Normals{Weights: []float64{.5, .5}, Mean: []float64{0, 1}, SD: []float64{1, 1e160}}
	for _, q := range []float64{.05, .5, .95} {
		if x := mixed.Quantile(q); !(math.Abs(mixed.CDF(x)-q) <= 1e-15) {
			t.Errorf("quantile %v of a mixture with huge noise is %v", q, x)
		}
	}
	same := Normals{Weights: []float64{0.3, 0.7}, Mean: []float64{0.1, 0.1}, SD: []float64{0, 0}}
	if got := same.Quantile(0.3); got != 0.1 {
		t.Errorf("quantile of one point is %v", got)
	}
}

// Several targets are independent given the particle.
func TestJointDensity(t *testing.T) {
	a, b := randomNormals(4, 130), randomNormals(4, 131)
	y := []float64{0.5, -2}
	want := 0.0
	for j, w := range a.Weights {
		za, zb := (y[0]-a.Mean[j])/a.SD[j], (y[1]-b.Mean[j])/b.SD[j]
		want += w * math.Exp(-za*za/2-zb*zb/2) / (2 * math.Pi * a.SD[j] * b.SD[j])
	}
	if got := LogDensities([]Normals{a, b}, y); !(math.Abs(got-math.Log(want)) <= 1e-13) {
		t.Errorf("%v, want %v", got, math.Log(want))
	}
	if got, far := a.LogDensity(1e5), -1e9; !(got < -1e5 && got > far) { // nothing underflows
		t.Errorf("log density far out is %v", got)
	}
}

// Particles that agree have no epistemic spread, in spite of rounding.
func TestMomentsOfParticlesThatAgree(t *testing.T) {
	for _, particles := range []int{1, 3, 7, 80} {
		n := Normals{}
		for range particles {
			n.Weights, n.Mean, n.SD = append(n.Weights, 1/float64(particles)), append(n.Mean, 0.1), append(n.SD, 0.3)
		}
		if m, _, epistemic := n.Moments(); m != 0.1 || epistemic != 0 {
			t.Errorf("%d particles: mean %v, epistemic %v", particles, m, epistemic)
		}
	}
}

// A NaN in the input makes every score NaN.
func TestNormalsNaN(t *testing.T) {
	nan := math.NaN()
	for name, n := range map[string]Normals{
		"mean": {Weights: []float64{0.5, 0.5}, Mean: []float64{0, nan}, SD: []float64{1, 1}},
		"sd":   {Weights: []float64{0.5, 0.5}, Mean: []float64{0, 1}, SD: []float64{1, nan}},
	} {
		for score, v := range map[string]float64{"CRPS": n.CRPS(0), "CDF": n.CDF(0), "density": n.LogDensity(0), "quantile": n.Quantile(0.5)} {
			if v == v {
				t.Errorf("NaN %s: %s is %v", name, score, v)
			}
		}
	}
}

// Uniform PITs are calibrated; with a NaN the coverage is NaN.
func TestCoverage(t *testing.T) {
	pit := make([]float64, 1000)
	for i := range pit {
		pit[i] = (float64(i) + 0.5) / 1000
	}
	for _, p := range []float64{0.5, 0.9, 0.95} {
		if got := Coverage(pit, p); !(math.Abs(got-p) <= 1e-12) {
			t.Errorf("%v of uniform PITs lie in the central %v", got, p)
		}
	}
	if got := Coverage([]float64{0.5, math.NaN()}, 0.9); got == got {
		t.Errorf("coverage with a NaN is %v", got)
	}
}

func BenchmarkCRPS(b *testing.B) {
	n := randomNormals(80, 140)
	for b.Loop() {
		n.CRPS(0.5)
	}
}

func BenchmarkQuantile(b *testing.B) {
	n := randomNormals(80, 141)
	for b.Loop() {
		n.Quantile(0.05)
	}
}

// Noise too large for float64 to square, or below its smallest number: scores are the limits, not NaN.
func TestExtremeNoise(t *testing.T) {
	for _, particles := range []int{1, 3} {
		n, w := Normals{}, 1/float64(particles)
		for j := range particles {
			n.Weights, n.Mean, n.SD = append(n.Weights, w), append(n.Mean, float64(j)), append(n.SD, 0)
		}
		set := func(sd float64) *Normals {
			for j := range n.SD {
				n.SD[j] = sd
			}
			return &n
		}
		if l := set(0).LogDensity(0.5); !math.IsInf(l, -1) {
			t.Errorf("%d points: log density %v beside them", particles, l)
		}
		if l := set(0).LogDensity(0); !math.IsInf(l, 1) {
			t.Errorf("%d points: log density %v at one", particles, l)
		}
		same := Normals{Weights: []float64{0.5, 0.5}, Mean: []float64{1, 1}, SD: []float64{0, 0}}
		if l := LogDensities([]Normals{same, same}, []float64{1, 1}); !math.IsInf(l, 1) {
			t.Errorf("two points at one place: log density %v", l)
		}
		if l := LogDensities([]Normals{same, same}, []float64{1, 2}); !math.IsInf(l, -1) {
			t.Errorf("two points, one value is missed: log density %v", l)
		}
		// Of normals far wider than their means lie apart, CRPS at the middle is s(√2 − 1)/√π.
		for _, sd := range []float64{1e150, 1e160, 1e304, 2e307} {
			want := (math.Sqrt2 - 1) / math.Sqrt(math.Pi)
			if c := set(sd).CRPS(0) / sd; !(math.Abs(c-want) <= 1e-12) {
				t.Errorf("%d of sd %v: CRPS %v sd, want %v sd", particles, sd, c, want)
			}
		}
		if c := set(math.Inf(1)).CRPS(0); !math.IsInf(c, 1) {
			t.Errorf("%d without bounds: CRPS %v", particles, c)
		}
		if l := set(math.Inf(1)).LogDensity(0); !math.IsInf(l, -1) {
			t.Errorf("%d without bounds: log density %v", particles, l)
		}
		if l := set(0).LogDensity(math.NaN()); !math.IsNaN(l) {
			t.Errorf("log density at NaN is %v", l)
		}
	}
}
