package paper

import (
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
)

// The two-level accuracy of a rule that abstains where a classifier's probability of a wrong answer is above τ: the share of right decisions (Liang et
// al., section 3.8). A decision is right if a right answer is given, or if a row abstains that should: a wrong answer, or a foreign input.

// tauSteps are the steps of τ from 0 to 1 at which the two-level accuracy is kept.
const tauSteps = 20

func tauAt(step int) float64 { return float64(step) / tauSteps }

// twoLevel is the two-level accuracy, the share of right decisions, at each step of τ; nil if no classifier decides. At τ = 0 every row abstains, unless
// its probability is 0: it is the share of the rows that should. At τ = 1 every row answers: it is the share of right answers.
func twoLevel(a *eval.Assessment) (over Values) {
	if a.Rule == nil {
		return nil
	}
	if learns, _ := decide.Learns(a.Rule.By); !learns {
		return nil
	}
	for i := range tauSteps + 1 {
		over = append(over, decide.Judge(*a.Doubts, tauAt(i)).TwoLevel)
	}
	return over
}

// twoLevelMeasure is that curve, of the mean over the groups.
var twoLevelMeasure = Measure{Name: "two_level_by_threshold", Title: "two-level accuracy by τ", Most: 1, Beside: true, Of: func(d Done) (Values, error) {
	if own, ok := d.(*fitDone); ok {
		return own.twoLevel, nil
	}
	return nil, nil
}}
