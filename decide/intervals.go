package decide

import (
	"fmt"
	"math"
)

// Intervals is a rule that makes intervals of numbers.
type Intervals struct {
	Rate     float64 // promised share of intervals that hold the truth
	Widen    float64 // what is added at both ends, in the target's unit; below 0: they are drawn in
	Examples int     // that it was learnt from
}

// Levels are the levels of the two quantiles that an interval of this rate is made from.
func Levels(rate float64) (low, high float64) { return (1 - rate) / 2, (1 + rate) / 2 }

// Intervals learns intervals from the quantiles low and high [n] of predictive laws, at Levels(Rate), and the targets y [n], all in one
// unit: conformalised quantile regression (Romano, Patterson and Candès 2019), score max(low − y, y − high). The interval of a new row
// that is like these holds its target with a chance of at least Rate. Rows whose quantiles are NaN do not count. Errors: a *NeedError where
// ⌈(n+1)·Rate⌉ > n, a target that is no number, laws whose quantiles are infinite.
func (s Sets) Intervals(low, high, y []float64) (*Intervals, error) {
	if err := checkRate(s.Rate); err != nil {
		return nil, err
	}
	if len(low) != len(y) || len(high) != len(y) {
		return nil, fmt.Errorf("%d and %d quantiles for %d targets", len(low), len(high), len(y))
	}
	var scores []float64
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("target %d is %v: want a number", i, v)
		}
		if low[i] == low[i] && high[i] == high[i] {
			scores = append(scores, max(low[i]-v, v-high[i]))
		}
	}
	q, err := quantile(scores, s.Rate, fmt.Sprintf("a rate of %v", s.Rate))
	if err != nil {
		return nil, err
	}
	if math.IsInf(q, 0) {
		return nil, fmt.Errorf("at a rate of %v the intervals would have no ends: the predicted laws have none", s.Rate)
	}
	return &Intervals{Rate: s.Rate, Widen: q, Examples: len(scores)}, nil
}

// Interval is that of a row whose quantiles at Levels(Rate) are low and high; all numbers where one is NaN. Ends that are drawn in past each
// other meet in the middle.
func (r *Intervals) Interval(low, high float64) (float64, float64) {
	if low != low || high != high {
		return math.Inf(-1), math.Inf(1)
	}
	a, b := low-r.Widen, high+r.Widen
	if a > b {
		a = low + float64(0.5*(high-low))
		b = a
	}
	return a, b
}

// IntervalScore is the mean of (high − low) + 2/(1−rate)·(distance of y outside), which is least for the true quantiles (Gneiting and
// Raftery 2007, eq. (43)); NaN without rows.
func IntervalScore(low, high, y []float64, rate float64) float64 {
	sum := 0.0
	for i, v := range y {
		sum += high[i] - low[i] + float64(2/(1-rate)*max(low[i]-v, v-high[i], 0))
	}
	return sum / float64(len(y))
}
