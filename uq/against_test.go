package uq

import (
	"math"
	"slices"
	"testing"
)

// TestAgainst: three rows by hand. The first agrees in its most probable class alone, the second in none, and in the third both have two
// most probable classes, of which the first counts.
func TestAgainst(t *testing.T) {
	p := []float64{.7, .2, .1, .1, .3, .6, .4, .4, .2}
	q := []float64{.5, .2, .3, .2, .5, .3, .5, .5, 0}
	if got := Agreement(p, q, 3); !slices.Equal(got, []float64{1, 0, 1}) {
		t.Errorf("agreement %v", got)
	}
	distance := TotalVariation(p, q, 3)
	for i, want := range []float64{.2, .3, .2} {
		if !(math.Abs(distance[i]-want) <= 1e-15) {
			t.Errorf("row %d: total variation %v, want %v", i, distance[i], want)
		}
	}
	a := Compare(p, q, 3)
	if a.Agreement != 2./3 || !(math.Abs(float64(a.TotalVariation)-.7/3) <= 1e-15) || a.N != 3 {
		t.Errorf("%+v", a)
	}
	if back := Compare(q, p, 3); *back != *a {
		t.Errorf("the other way round %+v, want %+v", back, a)
	}
	if equal := Compare(p, p, 3); *equal != (Against{Agreement: 1, N: 3}) {
		t.Errorf("equal arrays: %+v", equal)
	}
	if apart := Compare([]float64{1, 0}, []float64{0, 1}, 2); *apart != (Against{TotalVariation: 1, N: 1}) {
		t.Errorf("certain of different classes: %+v", apart)
	}
	nan := math.NaN()
	if got := Compare([]float64{nan, nan}, []float64{nan, 1}, 2); got.Agreement != 0 || !math.IsNaN(float64(got.TotalVariation)) {
		t.Errorf("without an answer: %+v", got)
	}
}

// TestTotalVariationIsOverSets: the distance is the largest difference of the probabilities of a set of classes, over all sets.
func TestTotalVariationIsOverSets(t *testing.T) {
	const n, classes = 50, 5
	s := stream(30)
	p, q := randomProbs(s, n, classes), randomProbs(s, n, classes)
	for i, got := range TotalVariation(p, q, classes) {
		most := 0.0
		for set := range 1 << classes {
			d := 0.0
			for c := range classes {
				if set>>c&1 == 1 {
					d += p[i*classes+c] - q[i*classes+c]
				}
			}
			most = max(most, d)
		}
		if !(math.Abs(got-most) <= 1e-14) {
			t.Errorf("row %d: %v, over sets %v", i, got, most)
		}
	}
}
