package arrays

import (
	"math"
	"strings"
	"testing"
)

// TestFractionsAsLabels: labels that are whole numbers as floats are to be made integers, which fractions and NaN are not.
func TestFractionsAsLabels(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want string
	}{{[]float64{0, 1, 2}, "astype"}, {[]float64{0, .5}, "label 1, from 0, is 0.5"}, {[]float64{math.NaN()}, "label 0, from 0, is NaN"}, {[]float64{math.Inf(1)}, "is +Inf"}} {
		_, err := (&Array{Name: "y.npy", Shape: []int{len(c.y)}, Values: c.y}).Ints()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.y, err, c.want)
		}
	}
}
