package ssm

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// accelerated is the usual model of an acceleration that is constant in each step: one random number moves position and velocity.
func accelerated() LinearGaussian {
	return LinearGaussian{Interval: 1, A: [][]float64{{1, 1}, {0, 1}}, Q: [][]float64{{0.25, 0.5}, {0.5, 1}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}},
		Initial: &Initial{[]float64{0, 1}, []float64{1, 1}}, Returns: 1}
}

// singularModels have a singular Q of rank 1 of 2 by no rounding, the same by rounding, of rank 2 of 3 beside a coordinate without noise, in very
// different units, and of rank 0.
func singularModels() map[string]LinearGaussian {
	thirds := accelerated()
	thirds.Q = [][]float64{{1. / 9, 1. / 3}, {1. / 3, 1}}
	units := accelerated()
	units.Q = [][]float64{{0.25e12, 0.5e3}, {0.5e3, 1e-6}}
	three := LinearGaussian{Interval: 1, A: [][]float64{{1, 1, 0.2}, {0, 0.9, 0.1}, {0, 0, 1}}, Q: [][]float64{{0.5, 0.5, 0}, {0.5, 1, 0}, {0, 0, 0}},
		H: [][]float64{{1, 0, 1}}, R: [][]float64{{1}}, Initial: &Initial{[]float64{0, 0, 0}, []float64{1, 1, 1}}, Returns: 1}
	still := accelerated()
	still.Q = [][]float64{{0, 0}, {0, 0}}
	return map[string]LinearGaussian{"accelerated": accelerated(), "thirds": thirds, "units": units, "three": three, "still": still}
}

// TestSingularDensity: at draws the density is the limit of N(v; 0, Q + εI) as ε vanishes, times what the density of the lost dimensions is
// at 0, and it is largest at A·from. Off the range of Q it is 0. A step is moved into the range, and a step there stays.
func TestSingularDensity(t *testing.T) {
	s := rng.Key{Seed: 31, Purpose: rng.Synthetic}.Stream()
	rank := map[string]int{"accelerated": 1, "thirds": 1, "three": 2, "still": 0}
	for name, m := range singularModels() {
		if err := config.Check(m); err != nil {
			t.Fatal(err)
		}
		tr, err := m.Transition(1)
		if err != nil {
			t.Fatal(err)
		}
		c, ok := tr.(Confined)
		if !ok {
			t.Fatalf("%s: %T is not confined", name, tr)
		}
		d := m.Dim()
		a, q := tr.(Gaussian).Gaussian()
		for _, offset := range []float64{0, 5e6} {
			if name == "units" && offset > 0 { // a number of 5·10⁶ has few digits of its sd of 10⁻³
				continue
			}
			from, x, mode, y := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
			for range 50 {
				s.Normals(from)
				for i := range from {
					from[i] += offset
				}
				for i := range mode {
					mode[i] = 0
					for j, v := range from {
						mode[i] += a[i*d+j] * v
					}
				}
				tr.Sample(s, from, x)
				got := tr.LogDensity(from, x)
				if bound := tr.(Bounded).MaxLogDensity(); !(got <= bound) || !golden.Near(tr.LogDensity(from, mode), bound, 1e-12, 1e-12) {
					t.Fatalf("%s: log density %v, %v at the mode, want at most %v there", name, got, tr.LogDensity(from, mode), bound)
				}
				if r, ok := rank[name]; ok && offset == 0 {
					const epsilon = 1e-7
					wide := slices.Clone(q)
					for i := range d {
						wide[i*d+i] += epsilon
					}
					want := density(x, mode, wide) + float64(d-r)/2*math.Log(2*math.Pi*epsilon)
					if !golden.Near(got, want, 1e-5, 1e-5) {
						t.Fatalf("%s: log density %v, want %v", name, got, want)
					}
				}
				s.Normals(y)
				for i, v := range x {
					sd := math.Sqrt(q[i*d+i])
					if sd == 0 {
						sd = 1
					}
					y[i] = v + 3*sd*y[i]
				}
				if off := tr.LogDensity(from, y); off != math.Inf(-1) {
					t.Fatalf("%s: log density %v off the range", name, off)
				}
				c.Nearest(from, y)
				if on := tr.LogDensity(from, y); math.IsInf(on, -1) {
					t.Fatalf("%s: the nearest state is outside of the range", name)
				}
				again := slices.Clone(y)
				c.Nearest(from, again)
				for i, v := range y {
					if !golden.Near(again[i], v, 1e-14, 1e-9*math.Sqrt(q[i*d+i])) {
						t.Fatalf("%s: a state within the range moves from %v to %v", name, y, again)
					}
				}
			}
		}
	}
}

// TestSingularDraws: draws have the moments, each within 6 standard errors of 20,000 draws: right code fails with a probability below 1e-7.
func TestSingularDraws(t *testing.T) {
	testkit.Statistics(t)
	for name, m := range singularModels() {
		if name == "three" || name == "still" { // a coordinate without noise has no standard error
			continue
		}
		tr, err := m.Transition(3)
		if err != nil {
			t.Fatal(err)
		}
		one, err := m.Transition(1)
		if err != nil {
			t.Fatal(err)
		}
		checkSamples(t, one.(Gaussian), []float64{3, -1}, 20_000)
		checkSamples(t, tr.(Gaussian), []float64{3, -1}, 20_000)
	}
	// The stationary law of a model whose noise has rank 1, one of whose coordinates is 0.
	m := LinearGaussian{Interval: 1, A: [][]float64{{0.5, 0}, {0, 0.5}}, Q: [][]float64{{1, 0}, {0, 0}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}}}
	if err := config.Check(m); err != nil {
		t.Fatal(err)
	}
	s, sum := rng.Key{Seed: 32, Purpose: rng.Synthetic}.Stream(), 0.0
	x := make([]float64, 2)
	for range 20_000 {
		m.Start(s, x)
		sum += x[0] * x[0] / 20_000
		if x[1] != 0 {
			t.Fatalf("a start at %v", x)
		}
	}
	if e := (sum*0.75 - 1) / math.Sqrt(2./20_000); !(math.Abs(e) < 6) {
		t.Errorf("stationary variance %v, want %v", sum, 4./3)
	}
}
