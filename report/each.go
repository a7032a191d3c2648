package report

import (
	"math"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// score is a figure that is made of a mean over examples. So it has an interval, and two runs on the same examples have a paired difference.
type score struct {
	of    func(a *eval.Assessment) []float64             // of each example, or of each target value
	from  func(a *eval.Assessment, mean float64) float64 // the figure of the mean; nil: it is the mean
	share bool                                           // each is 0 or 1
}

// scores are those figures, by the names that they have in tables.
var scores = map[string]score{
	Accuracy: {of: rights, share: true},
	NLL: {of: func(a *eval.Assessment) []float64 { return a.Losses.Posterior }, from: func(a *eval.Assessment, mean float64) float64 {
		if a.Test != nil { // −ln of a probability
			return max(mean, 0)
		}
		return mean
	}},
	"Brier score ↓": {from: atLeast0, of: func(a *eval.Assessment) []float64 {
		labels := a.Set().Labels
		return each(len(labels), func(i int) float64 {
			p := probs(a.Test, i)
			return uq.Brier(p, len(p), labels[i:i+1])
		})
	}},
	RMSE: {of: squared, from: func(_ *eval.Assessment, mean float64) float64 { return math.Sqrt(max(mean, 0)) }},
	r2Row: {of: squared, from: func(a *eval.Assessment, mean float64) float64 {
		sd := a.TargetSD()
		return 1 - max(mean, 0)/float64(sd*sd)
	}},
	"mean absolute error ↓": {from: atLeast0, of: func(a *eval.Assessment) []float64 {
		return each(len(a.Regression.Mean), func(i int) float64 { return math.Abs(a.Regression.Mean[i] - a.Regression.Targets[i]) })
	}},
	"mean error": {of: func(a *eval.Assessment) []float64 {
		return each(len(a.Regression.Mean), func(i int) float64 { return a.Regression.Mean[i] - a.Regression.Targets[i] })
	}},
	In50: inside(.5), In90: inside(.9), In95: inside(.95),
}

// Names of rows of the table of scores.
const (
	Accuracy = "accuracy ↑"
	NLL      = "NLL, nats ↓"
	RMSE     = "RMSE ↓"
	r2Row    = "R² ↑"
	In50     = "targets in 50\u00a0% intervals"
	In90     = "targets in 90\u00a0% intervals"
	In95     = "targets in 95\u00a0% intervals"
)

// atLeast0 is a mean of numbers that are not negative.
func atLeast0(_ *eval.Assessment, mean float64) float64 { return max(mean, 0) }

func each(n int, of func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = of(i)
	}
	return x
}

// rights are 1 for an example that is answered rightly, and else 0.
func rights(a *eval.Assessment) []float64 {
	labels := a.Set().Labels
	return each(len(labels), func(i int) float64 { return float64(btoi(uq.Argmax(probs(a.Test, i)) == int(labels[i]))) })
}

// squared are the squared errors of the targets.
func squared(a *eval.Assessment) []float64 {
	return each(len(a.Regression.Mean), func(i int) float64 {
		d := a.Regression.Mean[i] - a.Regression.Targets[i]
		return d * d
	})
}

// inside are 1 for a target in its central interval, and else 0.
func inside(level float64) score {
	return score{share: true, of: func(a *eval.Assessment) []float64 {
		return each(len(a.Regression.PIT), func(i int) float64 { return uq.Coverage(a.Regression.PIT[i:i+1], level) })
	}}
}

// perExample are the means of the score over the target values of each example, which depend on each other in an unknown way.
func (s score) perExample(a *eval.Assessment) []float64 {
	x := s.of(a)
	if a.Metrics.N < 1 || len(x) <= a.Metrics.N {
		return x
	}
	k := len(x) / a.Metrics.N
	return each(a.Metrics.N, func(i int) float64 { return uq.Mean(x[i*k : (i+1)*k]) })
}

// Small reports whether a run was evaluated on so few examples that figures are shown with their intervals.
func Small(a *eval.Assessment) bool { return a.Metrics.N < uq.Small }

// Interval returns the 95 % interval of a figure of the posterior, by its name in a table: of a share by Wilson, of other means by Student's
// t over the examples. ok is false for a figure that has none.
func Interval(a *eval.Assessment, name string) (low, high float64, ok bool) {
	s, known := scores[name]
	if !known {
		return 0, 0, false
	}
	x := s.perExample(a)
	if len(x) == 0 {
		return 0, 0, false
	}
	if s.share && len(x) == len(s.of(a)) {
		n := float64(len(x))
		low, high = uq.Wilson(uq.Mean(x)*n, n)
		return low, high, true
	}
	if len(x) == 1 {
		return 0, 0, false
	}
	low, high = uq.MeanInterval(x)
	if s.from != nil {
		low, high = s.from(a, low), s.from(a, high)
		low, high = min(low, high), max(low, high)
	}
	return low, high, !math.IsNaN(low) && !math.IsNaN(high) && !math.IsInf(low, 0) && !math.IsInf(high, 0)
}

// intervalText writes an interval of a figure as the figure is written; a dash if there is none.
func intervalText(a *eval.Assessment, name string, write func(float64) string) string {
	low, high, ok := Interval(a, name)
	if !ok {
		return "–"
	}
	return write(low) + " to " + write(high)
}

// alike reports whether a figure of one run cannot be told from that of another on the same examples: their paired difference is at most two
// standard errors, or there are too few examples to tell. known is false for a figure that is no mean over the examples.
func alike(a, b *eval.Assessment, name string) (alike, known bool) {
	s, is := scores[name]
	if !is {
		return false, false
	}
	x, y := s.perExample(a), s.perExample(b)
	if len(x) == 0 || len(x) != len(y) {
		return false, false
	}
	by, se := eval.Paired(x, y)
	return len(x) < uq.Few || !(math.Abs(by) > 2*se), true
}
