package uq

import (
	"math"
	"slices"
	"testing"
)

// drawnScores draws up to 60 negative and positive scores, of which few or many are equal.
func drawnScores(k int) (negative, positive []float64) {
	s := stream(40 + k)
	values := 1 + s.IntN(30)
	for range 1 + s.IntN(60) {
		negative = append(negative, float64(s.IntN(values)))
	}
	for range 1 + s.IntN(60) {
		positive = append(positive, float64(s.IntN(values)+s.IntN(4)))
	}
	return negative, positive
}

// TestROC: the points are the shares at or above each score, counted one by one, and the area is the AUROC.
func TestROC(t *testing.T) {
	for k := range 300 {
		negative, positive := drawnScores(k)
		c := ROC(negative, positive)
		all := slices.Concat(negative, positive)
		slices.Sort(all)
		all = slices.Compact(all)
		if len(c.FPR) != len(all)+1 || c.FPR[0] != 0 || c.TPR[0] != 0 {
			t.Fatalf("%d points of %d thresholds, from (%v, %v)", len(c.FPR), len(all), c.FPR[0], c.TPR[0])
		}
		share := func(of []float64, threshold float64) float64 {
			n := 0
			for _, v := range of {
				if v >= threshold {
					n++
				}
			}
			return float64(n) / float64(len(of))
		}
		for i, threshold := range all {
			at := len(all) - i
			if c.FPR[at] != share(negative, threshold) || c.TPR[at] != share(positive, threshold) {
				t.Fatalf("at %v: (%v, %v), want (%v, %v)", threshold, c.FPR[at], c.TPR[at], share(negative, threshold), share(positive, threshold))
			}
		}
		if want := AUROC(negative, positive); !(math.Abs(c.Area()-want) <= 1e-12) {
			t.Fatalf("the area is %v, the AUROC %v", c.Area(), want)
		}
	}
	inf := math.Inf(1)
	if c := ROC([]float64{-inf, 0}, []float64{0, inf}); !slices.Equal(c.FPR, []float64{0, 0, .5, 1}) || !slices.Equal(c.TPR, []float64{0, .5, 1, 1}) {
		t.Errorf("infinite scores: %v", c)
	}
	for _, none := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{math.NaN()}, {1}}, {{1}, {math.NaN()}}} {
		if c := ROC(none[0], none[1]); c != nil {
			t.Errorf("%v: a curve %v", none, c)
		}
	}
}

// TestROCThin: points that are left out are near the line that is drawn, the area changes by no more, and few points stay.
func TestROCThin(t *testing.T) {
	dropped := 0
	for k := range 200 {
		negative, positive := drawnScores(k)
		if k%4 == 0 { // many, without ties
			s := stream(400 + k)
			negative, positive = make([]float64, 3000), make([]float64, 2000)
			for i := range negative {
				negative[i] = s.Normal()
			}
			for i := range positive {
				positive[i] = s.Normal() + float64(k%3)
			}
		}
		c := ROC(negative, positive)
		for _, within := range []float64{0, .0025, .05, .5} {
			thin := c.Thin(within)
			n, last := len(thin.FPR), len(c.FPR)-1
			if thin.FPR[0] != 0 || thin.TPR[0] != 0 || thin.FPR[n-1] != 1 || thin.TPR[n-1] != 1 {
				t.Fatalf("ends (%v, %v) and (%v, %v)", thin.FPR[0], thin.TPR[0], thin.FPR[n-1], thin.TPR[n-1])
			}
			if most := 4/within + 2; float64(n) > most || n > last+1 {
				t.Fatalf("%d points of %d, want %v at most", n, last+1, most)
			}
			if diff := math.Abs(thin.Area() - c.Area()); !(diff <= within+1e-12) {
				t.Fatalf("the area changes by %v, more than %v", diff, within)
			}
			dropped += last + 1 - n
			next := 1
			for i := range c.FPR {
				u, w := c.FPR[i]+c.TPR[i], c.TPR[i]-c.FPR[i]
				for next < n-1 && thin.FPR[next]+thin.TPR[next] < u {
					next++
				}
				u0, w0 := thin.FPR[next-1]+thin.TPR[next-1], thin.TPR[next-1]-thin.FPR[next-1]
				u1, w1 := thin.FPR[next]+thin.TPR[next], thin.TPR[next]-thin.FPR[next]
				if line := w0 + (u-u0)/(u1-u0)*(w1-w0); !(math.Abs(line-w) <= within+1e-12) {
					t.Fatalf("point %d is %v from the line", i, line-w)
				}
			}
		}
	}
	if dropped < 100_000 {
		t.Errorf("only %d points were left out", dropped)
	}
}

// TestROCAt: the highest rate on a vertical rise, and the straight line between thresholds.
func TestROCAt(t *testing.T) {
	c := &Curve{FPR: []float64{0, 0, .5, .5, 1, 1}, TPR: []float64{0, .25, .5, .75, .75, 1}}
	for _, want := range [][2]float64{{0, .25}, {.25, .375}, {.5, .75}, {.75, .75}, {1, 1}} {
		if got := c.At(want[0]); got != want[1] {
			t.Errorf("at %v: %v, want %v", want[0], got, want[1])
		}
	}
}

// TestMeanROC: two curves by hand, whose rates at ½ are ½ and 1: the standard deviation of two numbers is their distance over √2.
func TestMeanROC(t *testing.T) {
	chance := &Curve{FPR: []float64{0, 1}, TPR: []float64{0, 1}}
	perfect := &Curve{FPR: []float64{0, 0, 1}, TPR: []float64{0, 1, 1}}
	mean, sd := MeanROC([]*Curve{chance, perfect}, []float64{0, .5, 1})
	if !slices.Equal(mean, []float64{.5, .75, 1}) {
		t.Errorf("mean %v", mean)
	}
	for i, want := range []float64{1 / math.Sqrt2, .5 / math.Sqrt2, 0} {
		if !(math.Abs(sd[i]-want) <= 1e-15) {
			t.Errorf("standard deviation %v, want %v", sd[i], want)
		}
	}
	if mean, sd := MeanROC([]*Curve{chance}, []float64{.3}); mean[0] != .3 || !math.IsNaN(sd[0]) {
		t.Errorf("a single curve: %v ± %v", mean, sd)
	}
}
