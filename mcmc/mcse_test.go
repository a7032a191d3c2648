package mcmc

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// MeanError of autoregressions x_t = a x_{t−1} + ε of unit variance: the sd of the mean of n states is √((1+a)/(1−a)/n), and its mean over 200 series
// is within 10 % of that, as is n (1−a)/(1+a) of the ESS: the estimate of one series scatters by up to 20 %, that of 200 by 1.4 %, and it is too
// small by up to 3 % where the series are short. Whatever the unit of the numbers and their mean, ESS and mcse/unit are the same.
func TestMeanErrorOfAutoregressions(t *testing.T) {
	const n, series = 2000, 200
	for _, a := range []float64{0, 0.5, 0.9, -0.4} {
		size, mean := 0.0, 0.0
		for k := range series {
			s := rng.Key{Seed: 14, Purpose: rng.Synthetic, Iteration: k}.Stream()
			x, moved := make([]float64, n), make([]float64, n)
			now := s.Normal()
			for i := range x {
				now = a*now + math.Sqrt(1-a*a)*s.Normal()
				x[i], moved[i] = now, 8*now-64
			}
			ess, mcse := MeanError(x)
			size, mean = size+ess/series, mean+mcse/series
			if e, m := MeanError(moved); !(math.Abs(e/ess-1) < 1e-6) || !(math.Abs(m/mcse/8-1) < 1e-6) {
				t.Fatalf("a = %v: ESS %v and mcse %v, of eight times the numbers %v and %v", a, ess, mcse, e, m)
			}
		}
		wantSize, want := n*(1-a)/(1+a), math.Sqrt((1+a)/(1-a)/n)
		if !(math.Abs(size/wantSize-1) <= 0.1) || !(math.Abs(mean/want-1) <= 0.1) {
			t.Errorf("a = %v: ESS %.0f, want %.0f; standard error %.5f, want %.5f", a, size, wantSize, mean, want)
		}
	}
}
