package decide

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/uq"
)

// Verdict scores a threshold of the doubt. Positive are the rows that should abstain (z): wrong answers and foreign inputs.
type Verdict struct {
	Answered Outcome `json:"answered"`
	Refused  Outcome `json:"refused"`

	Precision uq.Number `json:"precision"` // share of rows that should, among those that abstain; NaN if none does
	Recall    uq.Number `json:"recall"`    // share of those that abstain, among the rows that should; NaN without one
	F1        uq.Number `json:"f1"`        // harmonic mean of the two; 0 if no row that abstains should
	TwoLevel  uq.Number `json:"two_level"` // share of right decisions: rows that answer and are right, rows that abstain and should
}

// Outcome is one half of the matrix of answered and refused rows.
type Outcome struct {
	Right   int `json:"right"`
	Wrong   int `json:"wrong"`
	Foreign int `json:"foreign"`
}

// Judge scores the decision at a threshold on the examples.
func Judge(x Examples, threshold float64) Verdict {
	var v Verdict
	for i, d := range x.Doubts {
		o := &v.Answered
		if abstains(d, threshold) {
			o = &v.Refused
		}
		if x.Wrong[i] {
			o.Wrong++
		} else {
			o.Right++
		}
	}
	for _, d := range x.Foreign {
		if abstains(d, threshold) {
			v.Refused.Foreign++
		} else {
			v.Answered.Foreign++
		}
	}
	tp, fp := float64(v.Refused.Wrong+v.Refused.Foreign), float64(v.Refused.Right)
	fn, tn := float64(v.Answered.Wrong+v.Answered.Foreign), float64(v.Answered.Right)
	v.Precision, v.Recall = uq.Number(tp/(tp+fp)), uq.Number(tp/(tp+fn))
	v.F1 = uq.Number(harmonic(tp, fp, fn))
	v.TwoLevel = uq.Number((tp + tn) / (tp + fp + fn + tn))
	return v
}

// harmonic is the F1 of these counts; 0 without a row that is found.
func harmonic(tp, fp, fn float64) float64 {
	if tp == 0 {
		return 0
	}
	return 2 * tp / (float64(2*tp) + fp + fn)
}

// f1 is the F1 of abstaining above a threshold; z: the rows that should.
func f1(doubts []float64, z []bool, threshold float64) float64 {
	tp, fp, fn := 0., 0., 0.
	for i, d := range doubts {
		switch a := abstains(d, threshold); {
		case a && z[i]:
			tp++
		case a:
			fp++
		case z[i]:
			fn++
		}
	}
	return harmonic(tp, fp, fn)
}

// AUC is the probability that a row that should abstain has the larger doubt than one that should not, ties counting one half; NaN without
// rows of one kind. A doubt of +∞ is the largest.
func AUC(x Examples) float64 {
	doubts, z := x.joined()
	var negative, positive []float64
	for i, d := range doubts {
		if z[i] {
			positive = append(positive, d)
		} else {
			negative = append(negative, d)
		}
	}
	return uq.AUROC(negative, positive)
}

// Point is one threshold of a curve.
type Point struct {
	Threshold float64 // of the doubt
	Abstained float64 // share of rows that abstain
	Accuracy  float64 // share of right decisions: Verdict.TwoLevel
	Recall    float64 // of rows that should abstain, the share that does: y of the ROC
	Alarms    float64 // of rows that should not, the share that does: x of the ROC
}

// Curve scores every threshold: first −∞, at which all rows abstain, then each doubt in ascending order.
func Curve(x Examples) []Point {
	doubts, z := x.joined()
	order := make([]int, len(doubts))
	positives := 0
	for i := range order {
		if order[i] = i; z[i] {
			positives++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case doubts[a] < doubts[b]:
			return -1
		case doubts[a] > doubts[b]:
			return 1
		}
		return 0
	})
	n, right, missed := len(order), 0, 0 // answered: right ones, and those that should abstain
	point := func(t float64) Point {
		p, q := float64(positives), float64(n-positives)
		return Point{
			Threshold: t, Abstained: float64(n-right-missed) / float64(n), Accuracy: float64(right+positives-missed) / float64(n),
			Recall: (p - float64(missed)) / p, Alarms: (q - float64(right)) / q,
		}
	}
	curve := []Point{point(math.Inf(-1))}
	for k, i := range order {
		if math.IsInf(doubts[i], 1) { // never answered
			break
		}
		if z[i] {
			missed++
		} else {
			right++
		}
		if k+1 == n || doubts[order[k+1]] > doubts[i] {
			curve = append(curve, point(doubts[i]))
		}
	}
	return curve
}
