package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// alias draws numbers below its length by given weights, in a time that does not depend on how many there are (Walker 1977; Vose 1991): number
// i is kept with a probability, else its alias is taken.
type alias struct {
	keep  []float64
	other []int32
}

// newAlias makes the table of weights that are given by their logarithms, and returns the log of their mean.
func newAlias(logw []float64) (t alias, logMean float64) {
	n, top, sum := len(logw), math.Inf(-1), 0.0
	for _, l := range logw {
		top = max(top, l)
	}
	t = alias{make([]float64, n), make([]int32, n)}
	for i, l := range logw {
		t.keep[i] = rng.Exp(l - top)
		sum += t.keep[i]
	}
	var small, large []int32
	for i := range t.keep {
		t.other[i] = int32(i)
		if t.keep[i] *= float64(n) / sum; t.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		i, j := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.other[i] = j
		if t.keep[j] -= 1 - t.keep[i]; t.keep[j] < 1 {
			small, large = append(small, j), large[:len(large)-1]
		}
	}
	for _, i := range small { // by rounding alone
		t.keep[i] = 1
	}
	return t, top + rng.Log(sum/float64(n))
}

// draw draws a number.
func (t *alias) draw(s *ssm.Stream) int32 {
	i := int32(s.IntN(len(t.keep)))
	if s.Float64() < t.keep[i] {
		return i
	}
	return t.other[i]
}
