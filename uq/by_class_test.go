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

// The groups of the classes have the mean entropies of their own examples, by hand.
func TestGroupsByClass(t *testing.T) {
	p := &Predictive{Classes: 3, Probs: make([]float64, 15), Total: []float64{1, 2, 4, 8, 16}, Aleatoric: []float64{.5, 1, 3, 2, 6}, Epistemic: []float64{.5, 1, 1, 6, 10}}
	groups := GroupsByClass(p, []int32{2, 0, 2, 0, 2}, []string{"no", "perhaps", "yes"})
	if len(groups) != 3 || groups[1].N != 0 || groups[1].Total == groups[1].Total {
		t.Fatalf("groups %+v, want that of a class without examples without a mean", groups)
	}
	for i, want := range []Group{0: {Name: "no", N: 2, Total: 5, Aleatoric: 1.5, Epistemic: 3.5}, 2: {Name: "yes", N: 3, Total: 7, Aleatoric: Number(9.5) / 3, Epistemic: Number(11.5) / 3}} {
		if i != 1 && groups[i] != want {
			t.Errorf("group %+v, want %+v", groups[i], want)
		}
	}
}
