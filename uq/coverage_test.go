package uq

import "testing"

// The borders of an interval belong to it: the quartiles are in the interval of ½.
func TestCoverageHasItsBorders(t *testing.T) {
	for p, want := range map[float64]float64{0.5: 0.5, 0.75: 1} {
		if got := Coverage([]float64{0.25, 0.75, 0.125, 0.875}, p); got != want {
			t.Errorf("coverage of %v is %v, want %v", p, got, want)
		}
	}
}
