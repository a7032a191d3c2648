package uq

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// TestStudent compares with the table of the two-sided 95 % quantiles of Student's t.
func TestStudent(t *testing.T) {
	for df, want := range map[float64]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 14: 2.145, 28: 2.048, 1000: 1.962} {
		if got := student(df); !(math.Abs(got-want) < .01*want) {
			t.Errorf("%v degrees of freedom: %v, want %v", df, got, want)
		}
	}
	if low, high := MeanInterval([]float64{1, 2, 3, 4, 5}); !(math.Abs(low-(3-2.776/math.Sqrt2)) < .01) || !(math.Abs(high-(3+2.776/math.Sqrt2)) < .01) {
		t.Errorf("%v to %v: the standard error is √½", low, high)
	}
	if low, high := MeanInterval([]float64{2}); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("one value: %v to %v", low, high)
	}
}

// TestAUROCInterval: the ends are where the area is z standard errors away (Hanley and McNeil 1982), and the interval holds the true area in at
// least 93 % of 2,000 draws of 8 and 20 scores: a share that coverage of 95 % undercuts with a probability of 2e-5, and of 96 % below 1e-9.
func TestAUROCInterval(t *testing.T) {
	if low, high := AUROCInterval(1, 5, 5); !(low > .5 && low < .8) || high != 1 {
		t.Errorf("an area of 1 among 5 and 5: %v to %v", low, high)
	}
	low, high := AUROCInterval(.7, 50, 50)
	for _, end := range []float64{low, high} {
		q1, q2 := end/(2-end), 2*end*end/(1+end)
		v := (end*(1-end) + 49*(q1-end*end) + 49*(q2-end*end)) / 2500
		if !(math.Abs(math.Abs(.7-end)/math.Sqrt(v)-z95) < 1e-6) {
			t.Errorf("the end %v is %v standard errors away", end, math.Abs(.7-end)/math.Sqrt(v))
		}
	}
	if low, _ := AUROCInterval(math.NaN(), 0, 3); !math.IsNaN(low) {
		t.Errorf("the interval of no area begins at %v", low)
	}
	draw := rng.Key{Seed: 12, Purpose: rng.Synthetic}.Stream()
	truth, inside := .5*math.Erfc(-.5), 0 // of N(1, 1) above N(0, 1): Φ(1/√2)
	for range 2000 {
		var negative, positive []float64
		for range 20 {
			negative = append(negative, draw.Normal())
		}
		for range 8 {
			positive = append(positive, 1+draw.Normal())
		}
		if low, high := AUROCInterval(AUROC(negative, positive), 20, 8); low <= truth && truth <= high {
			inside++
		}
	}
	if inside < 1860 {
		t.Errorf("%d of 2,000 intervals hold the area", inside)
	}
}

// TestClassScores: the AUROC of a class is that of its probability, and a threshold decides by it.
func TestClassScores(t *testing.T) {
	probs, labels := []float64{.9, .1, .6, .4, .7, .3, .2, .8}, []int32{0, 1, 0, 1}
	s := ByClass(probs, 2, labels)
	if s[1].AUROC != 1 || s[0].AUROC != 1 || s[1].Answered != 1 || s[0].Answered != 3 {
		t.Errorf("%+v", s)
	}
	labels[1], labels[2] = 0, 1 // the second class has .3 and .8, the first .1 and .4
	if s := ByClass(probs, 2, labels); s[1].AUROC != .75 {
		t.Errorf("an AUROC of %v, want 3 of 4 pairs", s[1].AUROC)
	}
	d := Decide(probs, 2, labels, 1, .3)
	want := AtThreshold{N: 4, Positive: 2, Declared: 3, Accuracy: .75, Precision: 2. / 3, Recall: 1, F1: .8}
	if d != want {
		t.Errorf("%+v, want %+v", d, want)
	}
	if d := Decide(probs, 2, labels, 1, .81); !math.IsNaN(float64(d.Precision)) || d.Recall != 0 || d.Accuracy != .5 {
		t.Errorf("nothing declared: %+v", d)
	}
}
