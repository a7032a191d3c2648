package ssm

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestVelocityGolden: densities, A and Q of the reference values.
func TestVelocityGolden(t *testing.T) {
	for _, c := range golden.Read(t, "transitions.json") {
		var in struct {
			NT     int            `json:"N_T"`
			TS     float64        `json:"T_s"`
			SigmaX float64        `json:"sigma_x"`
			Path   [][][4]float64 `json:"state_path"`
		}
		var want struct {
			Path []float64 `json:"transition_logpdf_path"`
			A, Q [4][4]float64
		}
		if err := json.Unmarshal(c.Inputs, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		v := newVelocity(in.NT, in.SigmaX, in.TS)
		state := func(k int) (x []float64) {
			for _, target := range in.Path[k] {
				x = append(x, target[:]...)
			}
			return x
		}
		for k, density := range want.Path {
			if got := v.LogDensity(state(k), state(k+1)); !golden.Near(got, density, 1e-9, 1e-11) {
				t.Errorf("%s: log density of step %d is %v, want %v", c.Name, k, got, density)
			}
		}
		a, q := v.Gaussian()
		d := 4 * in.NT
		for i := range d {
			for j := range d {
				var wantA, wantQ float64
				if i/4 == j/4 {
					wantA, wantQ = want.A[i%4][j%4], want.Q[i%4][j%4]
				}
				if a[i*d+j] != wantA || !golden.Near(q[i*d+j], wantQ, 1e-14, 0) {
					t.Errorf("%s: (%d, %d): A %v, Q %v, want %v, %v", c.Name, i, j, a[i*d+j], q[i*d+j], wantA, wantQ)
				}
			}
		}
	}
}

// TestVelocitySteps: two steps have the moments of one step over both times.
func TestVelocitySteps(t *testing.T) {
	a1, q1 := newVelocity(1, 0.7, 0.3).Gaussian()
	a2, q2 := newVelocity(1, 0.7, 1.9).Gaussian()
	a, q := newVelocity(1, 0.7, 2.2).Gaussian()
	for i := range 4 {
		for j := range 4 {
			sumA, sumQ := 0.0, q2[i*4+j]
			for k := range 4 {
				sumA += a2[i*4+k] * a1[k*4+j]
				for l := range 4 {
					sumQ += a2[i*4+k] * q1[k*4+l] * a2[j*4+l]
				}
			}
			if !golden.Near(a[i*4+j], sumA, 1e-14, 0) || !golden.Near(q[i*4+j], sumQ, 1e-14, 0) {
				t.Errorf("(%d, %d): %v, %v, want %v, %v", i, j, a[i*4+j], q[i*4+j], sumA, sumQ)
			}
		}
	}
}

// TestVelocityBound: the density has its largest value where the noise is 0, and nowhere a larger one.
func TestVelocityBound(t *testing.T) {
	v := newVelocity(2, 0.5, 0.8)
	s := rng.Key{Seed: 5, Purpose: rng.Synthetic}.Stream()
	from, x := make([]float64, 8), make([]float64, 8)
	for range 1000 {
		s.Normals(from)
		s.Normals(x)
		if !(v.LogDensity(from, x) <= v.MaxLogDensity()) {
			t.Fatalf("%v at %v, %v: above the bound %v", v.LogDensity(from, x), from, x, v.MaxLogDensity())
		}
	}
	for i := range x {
		x[i] = from[i]
		if i%4 < 2 {
			x[i] += 0.8 * from[i+2]
		}
	}
	if got := v.LogDensity(from, x); !golden.Near(got, v.MaxLogDensity(), 0, 1e-12) {
		t.Errorf("%v at the mode, want the bound %v", got, v.MaxLogDensity())
	}
}

// TestVelocitySamples: means and covariances of 40,000 draws. Each of the 8 + 36 numbers is compared within 6 of its standard
// errors, so that right code fails with a probability below 1e-7; an error of 5 % in a standard deviation is found.
func TestVelocitySamples(t *testing.T) {
	testkit.Statistics(t)
	checkSamples(t, newVelocity(2, 0.5, 1.7), []float64{10, -20, 1, 2, 0, 5, -3, 0.5}, 40_000)
}

// checkSamples compares the mean and the covariance of n draws with A·from and Q, within 6 standard errors.
func checkSamples(t *testing.T, tr Gaussian, from []float64, n int) {
	t.Helper()
	a, q := tr.Gaussian()
	d := len(from)
	mean, x, sum, products := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d*d)
	for i := range d {
		for j := range d {
			mean[i] += a[i*d+j] * from[j]
		}
	}
	s := rng.Key{Seed: 7, Purpose: rng.Synthetic}.Stream()
	for range n {
		tr.Sample(s, from, x)
		for i := range d {
			sum[i] += x[i] - mean[i]
			for j := range d {
				products[i*d+j] += (x[i] - mean[i]) * (x[j] - mean[j])
			}
		}
	}
	for i := range d {
		if e := math.Abs(sum[i]) / math.Sqrt(float64(n)*q[i*d+i]); !(e < 6) {
			t.Errorf("mean of coordinate %d: off by %.1f standard errors", i, e)
		}
		for j := range i + 1 {
			sd := math.Sqrt((q[i*d+i]*q[j*d+j] + q[i*d+j]*q[i*d+j]) / float64(n))
			if e := math.Abs(products[i*d+j]/float64(n)-q[i*d+j]) / sd; !(e < 6) {
				t.Errorf("covariance (%d, %d): off by %.1f standard errors", i, j, e)
			}
		}
	}
}
