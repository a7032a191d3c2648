package weights

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestNormalise compares with weights whose sums are known: the logarithm of their sum, the effective sample size 1/Σ W², and
// each logarithm of a normalised weight. A common factor changes the first alone, and a dead particle nothing. An error of a
// rounding, 1e-12, would be seen.
func TestNormalise(t *testing.T) {
	w, ess := []float64{0.1, 0, 0.2, 0.7}, 1/(0.01+0.04+0.49)
	for _, scale := range []float64{-800, -3, 0, 2.5, 800} {
		logw := make([]float64, len(w))
		for j := range logw {
			logw[j] = scale + math.Log(w[j])
		}
		logSum, got, err := Normalise(logw, "particle")
		if err != nil || !(math.Abs(logSum-scale) <= 1e-12) || !(math.Abs(got-ess) <= 1e-12*ess) {
			t.Errorf("weights times exp(%v): log sum %v, effective size %v, %v; want %v and %v", scale, logSum, got, err, scale, ess)
		}
		normal := make([]float64, len(w))
		Exp(logw, normal)
		for j := range w {
			if !(math.Abs(normal[j]-w[j]) <= 1e-12) {
				t.Errorf("weights times exp(%v): %d is %v; want %v", scale, j, normal[j], w[j])
			}
		}
	}
}

// TestNormaliseLarge: log-weights so large that the logarithm of their sum is lost beside them sum to 1 all the same.
func TestNormaliseLarge(t *testing.T) {
	for _, logw := range [][]float64{{1e300, 1e300, -1e300}, {1e12, 1e12 + 1, 1e12 - 3}, {-1e17, -1e17, -1e17}} {
		if _, _, err := Normalise(logw, "particle"); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, l := range logw {
			sum += math.Exp(l)
		}
		if !(math.Abs(sum-1) <= 1e-12) {
			t.Errorf("the weights of %v sum to %v", logw, sum)
		}
	}
}

// An error names the thing that is weighted, and leaves the log-weights alone.
func TestErrorsNameWhatIsWeighed(t *testing.T) {
	inf := math.Inf(1)
	for want, logw := range map[string][]float64{
		"no islands":                   {},
		"island 1 has log-weight NaN":  {0, math.NaN(), 1},
		"island 2 has log-weight +Inf": {0, 3, inf},
		"all 2 islands are dead":       {-inf, -inf},
	} {
		before := slices.Clone(logw)
		_, _, err := Normalise(logw, "island")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
		for i, l := range before {
			if l != logw[i] && !math.IsNaN(l) {
				t.Errorf("log-weight %d became %v", i, logw[i])
			}
		}
	}
}
