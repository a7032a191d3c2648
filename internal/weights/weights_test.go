package weights

import (
	"math"
	"slices"
	"strings"
	"testing"
)

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

// An error names the thing that is weighed, and leaves the log-weights alone.
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
