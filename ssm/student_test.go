package ssm

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestStudentTerms: the product of terms has the value of their sum, for terms of any size, and however they are cut into chunks.
func TestStudentTerms(t *testing.T) {
	s := rng.Key{Seed: 14, Purpose: rng.Synthetic}.Stream()
	for _, n := range []int{0, 1, 3, 4, 255, 256, 257, 2000} {
		for _, size := range []float64{1e-9, 1, 1e3, 1e100} {
			z, want := make([]float64, n), 0.0
			for i := range z {
				z[i] = size * s.Normal()
				u := (z[i] - 0.5) * 0.7
				want += math.Log1p(u * u)
			}
			var p product
			p.terms(z, 0.5, 0.7)
			if got := p.log(); !golden.Near(got, want, 1e-14, 1e-14) {
				t.Errorf("%d terms of size %v: %v, want %v", n, size, got, want)
			}
		}
	}
}

// TestStudentIsNormal: with many degrees of freedom the likelihood is the normal one, to the first order in 1/ν.
func TestStudentIsNormal(t *testing.T) {
	m := examples(300)[2].(Student)
	m.Degrees = 1e6
	x, scan, l := first(t, m)
	want, scale := 0.0, math.Exp(x[1])
	for _, z := range scan.Values {
		want += normal([]float64{z}, []float64{x[0]}, [][]float64{{scale * scale}})
	}
	if got := l.LogLik(x, nil); !(math.Abs(got-want) <= 300*5e-6) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestStudentMeasurements: simulated measurements have Student's distribution function, which is known for 1, 2 and 3 degrees of
// freedom. The Kolmogorov–Smirnov bound of 2.69/√n is exceeded with a probability of 1e-6; a wrong ν of 2 instead of 3 is found.
func TestStudentMeasurements(t *testing.T) {
	testkit.Statistics(t)
	const n = 40_000
	cdfs := map[float64]func(u float64) float64{
		1: func(u float64) float64 { return 0.5 + math.Atan(u)/math.Pi },
		2: func(u float64) float64 { return 0.5 + u/(2*math.Sqrt(2+u*u)) },
		3: func(u float64) float64 { return 0.5 + (u/math.Sqrt(3)/(1+u*u/3)+math.Atan(u/math.Sqrt(3)))/math.Pi },
	}
	for v, cdf := range cdfs {
		m := examples(n)[2].(Student)
		m.Degrees = v
		x, scan, _ := first(t, m)
		z := slices.Clone(scan.Values)
		sort.Float64s(z)
		most := 0.0
		for i, v := range z {
			f := cdf((v - x[0]) / math.Exp(x[1]))
			most = max(most, float64(i+1)/n-f, f-float64(i)/n)
		}
		if !(most*math.Sqrt(n) < 2.69) {
			t.Errorf("%v degrees: the distribution functions differ by %v", v, most)
		}
	}
}

// The location and the logarithm of the scale move by their own standard deviations, whose squares grow with time.
func TestStudentSteps(t *testing.T) {
	m := Student{Interval: 2, Location: 3, LogScale: 0.5, Degrees: 4, Initial: Initial{Mean: []float64{0, 0}, SD: []float64{1, 1}}}
	tr, err := m.Transition(6)
	if err != nil {
		t.Fatal(err)
	}
	a, q := tr.(Gaussian).Gaussian()
	if !slices.Equal(a, []float64{1, 0, 0, 1}) || !slices.Equal(q, []float64{27, 0, 0, 0.75}) {
		t.Errorf("A = %v, Q = %v", a, q)
	}
}
