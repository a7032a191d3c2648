package eval

import (
	"slices"
	"strings"
	"testing"
)

// TestOffSum: what is wrong with rows that do not sum to 1 is said by what they sum to.
func TestOffSum(t *testing.T) {
	for _, c := range []struct {
		values []float64
		shape  []int
		want   string
	}{
		{[]float64{.333, .333, .334, .33, .33, .33}, []int{2, 3}, "row 1 sums to 0.99, not 1: are they rounded?"},
		{[]float64{.334, .334, .334}, []int{1, 3}, "row 0 sums to 1.002, not 1: are they rounded?"},
		{[]float64{33.3, 33.3, 33.4}, []int{1, 3}, "row 0 sums to 100, not 1: are they per cent? Divide them by 100"},
		{[]float64{.1, .9, .4, .9, .1, .6}, []int{2, 3}, "row 0 sums to 1.4, not 1: its columns do: is it transposed?"},
		{[]float64{.1, .9}, []int{2, 1}, "save [1-p, p]"},
		{[]float64{2, 3, 1}, []int{1, 3}, "are these logits?"},
		{[]float64{.2, .3, .1}, []int{1, 3}, "are these logits?"},
		{[]float64{-2, 3, 0}, []int{1, 3}, "are these logits?"},
		{[]float64{.3335, .3335, .3335}, []int{1, 3}, ""},
	} {
		err := checkProbabilities("p", slices.Clone(c.values), c.shape)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.values, err, c.want)
		}
	}
}
