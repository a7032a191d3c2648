package mcmc

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// TestGoldenAutocorrelation: the cases of kind acf, within the tolerance of their file.
func TestGoldenAutocorrelation(t *testing.T) {
	for _, c := range golden.Read(t, "metrics.json") {
		var in struct {
			X   []float64
			Lag int `json:"max_lag"`
		}
		var want struct {
			ACF   []float64
			Fixed float64 `json:"iact_fixed_window"`
			Geyer float64 `json:"iact_geyer_initial_positive"`
		}
		if err := json.Unmarshal(c.Inputs, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if !golden.Near(got, want, 1e-9, 1e-12) {
				t.Errorf("%s, %s: %v, want %v", c.Name, what, got, want)
			}
		}
		rho := Autocorrelation(in.X, in.Lag)
		if len(rho) != len(want.ACF) {
			t.Fatalf("%s: %d lags, want %d", c.Name, len(rho), len(want.ACF))
		}
		fixed := -1.0
		for lag, r := range rho {
			near("autocorrelation", r, want.ACF[lag])
			fixed += 2 * r
		}
		near("sum over a window", fixed, want.Fixed)
		tau, enough := IACT(in.X)
		near("IACT", tau, want.Geyer)
		if enough != (float64(len(in.X)) >= 50*want.Geyer) {
			t.Errorf("%s: long enough is %v for n = %d and IACT %v", c.Name, enough, len(in.X), tau)
		}
	}
}

// autoregressive is a stationary chain x_t = a x_{t−1} + e_t with normal e_t of variance 1.
func autoregressive(a float64, n, island int) []float64 {
	s := rng.Key{Seed: 14, Purpose: rng.Synthetic, Island: island}.Stream()
	x := make([]float64, n)
	x[0] = s.Normal() / math.Sqrt(1-a*a)
	for i := 1; i < n; i++ {
		x[i] = a*x[i-1] + s.Normal()
	}
	return x
}

// TestIACTOfAutoregression: AR(1) with coefficient a has ρ_t = aᵗ, so the IACT is (1+a)/(1−a): 19 for .9, 1 for 0. Where
// the window ends after w lags the estimate's relative standard deviation is at most √(2(2w+1)/n) (Sokal 1997, eq. 3.19). For
// a ≥ 0 pairs fall below their noise within w = 12 τ here. The bounds are five such deviations, 6e-7, so that an error of
// 10 % would be found for .9. For a < 0 Geyer's rule ends at pairs that are all positive, and the same holds with w = 12.
func TestIACTOfAutoregression(t *testing.T) {
	const n = 1 << 19
	for i, a := range []float64{-0.5, 0, 0.5, 0.9, 0.97} {
		want := (1 + a) / (1 - a)
		w := 12 * max(want, 1)
		bound := 5 * math.Sqrt(2*(2*w+1)/n) * want
		got, enough := IACT(autoregressive(a, n, i))
		if !(math.Abs(got-want) <= bound) || !enough {
			t.Errorf("a = %v: IACT %v (enough: %v), want %v ± %v", a, got, enough, want, bound)
		}
	}
	if got, enough := IACT(autoregressive(0.9, 300, 0)); enough {
		t.Errorf("300 states with an IACT of 19 (estimate %v) are enough", got)
	}
}

// TestNoAutocorrelation: where a series has no autocorrelation, no number stands for one.
func TestNoAutocorrelation(t *testing.T) {
	for name, x := range map[string][]float64{
		"empty": nil, "one value": {3}, "constant": {0.1, 0.1, 0.1}, "NaN": {1, 2, math.NaN()}, "infinite": {1, 2, math.Inf(-1)},
		"overflowing": {1e200, -1e200},
	} {
		tau, enough := IACT(x)
		if rho := Autocorrelation(x, 1); !math.IsNaN(tau) || enough || !math.IsNaN(rho[0]) || !math.IsNaN(rho[1]) {
			t.Errorf("%s: autocorrelations %v, IACT %v, enough %v", name, rho, tau, enough)
		}
	}
	if rho := Autocorrelation([]float64{1, -1}, 3); rho[1] != -0.5 || rho[2] != 0 || rho[3] != 0 {
		t.Errorf("of two values %v, want 1, −.5, 0, 0", rho)
	}
}

// TestIACTAtItsBorders: the sum ends at a pair that is 0, also before one that is not; a chain of 50 τ is long enough, and one of 49 τ
// is not; and a series whose variance is 0 by underflow has no time.
func TestIACTAtItsBorders(t *testing.T) {
	x := make([]float64, 50) // autocovariance: 4/n at 0, 2/n at 4, below 0 from 16 on, else 0
	x[0], x[4], x[20], x[24] = 1, 1, -1, -1
	if tau, enough := IACT(x); tau != 1 || !enough {
		t.Errorf("50 values: τ %v, enough %v; want 1 and true", tau, enough)
	}
	if tau, enough := IACT(x[:49]); tau != 1 || enough {
		t.Errorf("49 values: τ %v, enough %v; want 1 and false", tau, enough)
	}
	if tau, enough := IACT([]float64{0, 1e-200}); !math.IsNaN(tau) || enough {
		t.Errorf("a variance of 0: τ %v, enough %v; want NaN and false", tau, enough)
	}
}
