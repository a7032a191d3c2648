package uq

import (
	"math"
	"testing"
)

// TestByClass: against a confusion matrix by hand. Its rows are the true class, its columns the answer; the last class has no examples
// and is never the answer, class 2 is never the answer, and one example of class 1 has no answer.
func TestByClass(t *testing.T) {
	confusion := [4][4]int{
		{5, 1, 0, 0},
		{2, 4, 0, 0},
		{1, 2, 0, 0},
		{0, 0, 0, 0},
	}
	var probs []float64
	var labels []int32
	for y, row := range confusion {
		for answer, n := range row {
			for range n {
				p := []float64{0.1, 0.1, 0.1, 0.1}
				p[answer] = 0.7
				probs, labels = append(probs, p...), append(labels, int32(y))
			}
		}
	}
	nan := math.NaN()
	probs, labels = append(probs, nan, nan, nan, nan), append(labels, 1)
	want := []struct {
		n                     int
		precision, recall, f1 float64
	}{
		{6, 5. / 8, 5. / 6, 10. / 14}, // 8 answers, of which 5 are right
		{7, 4. / 7, 4. / 7, 8. / 14},
		{3, nan, 0, 0},
		{0, nan, nan, nan},
	}
	same := func(a Number, b float64) bool {
		return math.Abs(float64(a)-b) < 1e-15 || math.IsNaN(float64(a)) && math.IsNaN(b)
	}
	for c, got := range ByClass(probs, 4, labels) {
		if w := want[c]; got.N != w.n || !same(got.Precision, w.precision) || !same(got.Recall, w.recall) || !same(got.F1, w.f1) {
			t.Errorf("class %d: %+v, want %+v", c, got, w)
		}
	}
}
