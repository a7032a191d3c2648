package uq

import (
	"math"
	"slices"
	"sort"
)

// Curve is a receiver operating characteristic (ROC; Fawcett 2006) of scores that are high for positive examples. Point k is the share of
// the negative scores (FPR, false positives) and of the positive ones (TPR, true positives) that are at or above a threshold. From one
// point to the next the threshold falls to the next score, from above all scores, (0, 0), to the lowest one, (1, 1). Examples with equal
// scores pass a threshold together, and so make one straight step: the area is that of AUROC, in which ties count one half.
type Curve struct{ FPR, TPR []float64 }

// ROC returns the curve of all thresholds. It is nil where AUROC is NaN: if negative or positive is empty or holds a NaN.
func ROC(negative, positive []float64) *Curve {
	if math.IsNaN(AUROC(negative, positive)) {
		return nil
	}
	n, p := slices.Sorted(slices.Values(negative)), slices.Sorted(slices.Values(positive))
	c := &Curve{FPR: []float64{0}, TPR: []float64{0}}
	for i, k := len(n), len(p); i > 0 || k > 0; {
		threshold := math.Inf(-1)
		if i > 0 {
			threshold = n[i-1]
		}
		if k > 0 {
			threshold = max(threshold, p[k-1])
		}
		for i > 0 && n[i-1] == threshold {
			i--
		}
		for k > 0 && p[k-1] == threshold {
			k--
		}
		c.FPR = append(c.FPR, float64(len(n)-i)/float64(len(n)))
		c.TPR = append(c.TPR, float64(len(p)-k)/float64(len(p)))
	}
	return c
}

// Area is the area under the curve, by trapezoids.
func (c *Curve) Area() float64 {
	area := 0.0
	for k := 1; k < len(c.FPR); k++ {
		area += float64((c.FPR[k] - c.FPR[k-1]) * (c.TPR[k] + c.TPR[k-1]) / 2)
	}
	return area
}

// At is the true positive rate at a false positive rate, 0 ≤ fpr ≤ 1: the highest one where the curve rises vertically, and on the straight
// line between two thresholds.
func (c *Curve) At(fpr float64) float64 {
	next := sort.Search(len(c.FPR), func(k int) bool { return c.FPR[k] > fpr })
	if next == len(c.FPR) || c.FPR[next-1] == fpr {
		return c.TPR[next-1]
	}
	x, y := c.FPR[next-1], c.TPR[next-1]
	return y + float64((fpr-x)/(c.FPR[next]-x)*(c.TPR[next]-y))
}

// Thin leaves out points, for drawing. Along the diagonal, u = FPR + TPR, the height w = TPR − FPR of every point that is left out is within
// the given distance of the line through the points that stay. The area is 1/2 + ½ ∫ w du over 0 ≤ u ≤ 2, so it changes by at most that
// distance. At most 4/within + 2 points stay: w changes by no more than u does, so a line over a stretch of u that is no longer than the
// distance leaves out all points on it, and two lines together are longer than that.
func (c *Curve) Thin(within float64) *Curve {
	u := func(k int) float64 { return c.FPR[k] + c.TPR[k] }
	w := func(k int) float64 { return c.TPR[k] - c.FPR[k] }
	thin := &Curve{FPR: c.FPR[:1:1], TPR: c.TPR[:1:1]}
	least, most, from := math.Inf(-1), math.Inf(1), 0 // slopes of lines from the last point that stays which pass all since then within the distance
	for k := 1; k < len(c.FPR); k++ {
		length := u(k) - u(from)
		if slope := (w(k) - w(from)) / length; slope < least || slope > most {
			from = k - 1
			thin.FPR, thin.TPR = append(thin.FPR, c.FPR[from]), append(thin.TPR, c.TPR[from])
			least, most, length = math.Inf(-1), math.Inf(1), u(k)-u(from)
		}
		least = max(least, (w(k)-w(from)-within)/length)
		most = min(most, (w(k)-w(from)+within)/length)
	}
	last := len(c.FPR) - 1
	thin.FPR, thin.TPR = append(thin.FPR, c.FPR[last]), append(thin.TPR, c.TPR[last])
	return thin
}

// MeanROC averages curves, such as those of several seeds, at each false positive rate (Fawcett 2006, algorithm 4): the mean of their true
// positive rates there, and their standard deviation over the curves, which is NaN for a single one.
func MeanROC(curves []*Curve, fpr []float64) (mean, sd []float64) {
	at := make([]float64, len(curves))
	for _, x := range fpr {
		for i, c := range curves {
			at[i] = c.At(x)
		}
		m, se := MeanSE(at)
		mean, sd = append(mean, m), append(sd, float64(se*math.Sqrt(float64(len(at)))))
	}
	return mean, sd
}
