package mcmc

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Every way in which chains have no R-hat is an error, as is an R-hat above the bound. A comparison with NaN would say nothing.
func TestMixed(t *testing.T) {
	agree, apart := lehmer(4, 100, 0, 0, 1), lehmer(4, 100, 0, 2, 1)
	broken := lehmer(2, 20, 0, 0, 1)
	broken[1][5] = math.NaN()
	longer := [][]float64{append([]float64{1e6}, agree[0]...), agree[1], agree[2], agree[3]}
	for _, c := range []struct {
		what   string
		chains [][]float64
		most   float64
		rHat   float64
		want   string
	}{
		{"agreement", agree, 1.1, 1.004902993893124, ""}, // as arviz has it: TestDiagnosticsEqualArviz
		{"of different lengths", longer, 1.1, 1.004902993893124, ""},
		{"at the bound", agree, RHat(agree), RHat(agree), ""},
		{"above a bound", agree, 1.004, 1.004902993893124, "R-hat is 1.00, above 1.004: "},
		{"apart", apart, 1.1, RHat(apart), ": the chains do not sample one distribution together"},
		{"none", nil, 1.1, math.NaN(), "no chains"},
		{"a bound that is none", agree, math.NaN(), 1.004902993893124, "above NaN"},
		{"seven states", lehmer(4, 7, 0, 2, 1), 1.1, math.NaN(), "a chain has 7 states, and R-hat needs 8: "},
		{"eight states", lehmer(4, 8, 0, 0, 1), 10, RHat(lehmer(4, 8, 0, 0, 1)), ""},
		{"one of seven", [][]float64{agree[0], agree[1][:7]}, 1.1, math.NaN(), "a chain has 7 states"},
		{"not a number", broken, 1.1, math.NaN(), "chain 1 is NaN in state 5"},
		{"all equal", [][]float64{slices.Repeat([]float64{3}, 9), slices.Repeat([]float64{3}, 9)}, 1.1, math.NaN(), "the chains did not move"},
		{"each at its place", [][]float64{slices.Repeat([]float64{3}, 9), slices.Repeat([]float64{4}, 9)}, 1.1, math.Inf(1), "R-hat is +Inf, above 1.1"},
	} {
		rHat, err := Mixed(c.chains, c.most)
		if same := math.IsNaN(c.rHat) && math.IsNaN(rHat) || rHat == c.rHat || math.Abs(rHat-c.rHat) < 1e-12; !same {
			t.Errorf("%s: R-hat %v, want %v", c.what, rHat, c.rHat)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}
