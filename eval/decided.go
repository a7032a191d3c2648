package eval

import (
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/uq"
)

// Tempered are the scores of an ensemble whose probabilities, or predicted laws, were corrected by one number that its own predictions of
// validation examples taught.
type Tempered struct {
	Temperature *uq.Number `json:"temperature,omitempty"` // of classes
	Factor      *uq.Number `json:"factor,omitempty"`      // of numbers
	NLL         uq.Number  `json:"nll"`
	Brier       *uq.Number `json:"brier,omitempty"`
	ECE         *uq.Number `json:"ece,omitempty"`
	CRPS        *uq.Number `json:"crps,omitempty"`
	Coverage    *Coverage  `json:"coverage,omitempty"`
}

// SetScores say whether sets, or intervals, keep their promise for the examples evaluated on.
type SetScores struct {
	Promise
	Examples int       `json:"examples"`         // that the rule was learnt from
	Others   []Promise `json:"others,omitempty"` // other rates

	// ByClass are the same of the examples of each class alone; nil for numbers. The promise is about them only where sets were learnt by class.
	ByClass []ClassPromise `json:"by_class,omitempty"`
}

// ClassPromise is the coverage of the sets of the examples of a class.
type ClassPromise struct {
	Class    string    `json:"class"` // its name, or its number if classes have none
	N        int       `json:"n"`
	Coverage uq.Number `json:"coverage"` // NaN without examples, and so is Size
	Size     uq.Number `json:"size"`
}

// Least is the class of the lowest coverage, the first of equals; nil if no class has examples.
func (s *SetScores) Least() (least *ClassPromise) {
	for i, c := range s.ByClass {
		if c.N > 0 && (least == nil || c.Coverage < least.Coverage) {
			least = &s.ByClass[i]
		}
	}
	return least
}

// Promise compares the coverage of a rate with the rate.
type Promise struct {
	Rate     float64    `json:"rate"`
	Coverage uq.Number  `json:"coverage"`        // share of sets or intervals that hold the truth
	Size     *uq.Number `json:"size,omitempty"`  // mean number of classes of a set
	Width    *uq.Number `json:"width,omitempty"` // mean width of an interval, in the target's unit
	Score    *uq.Number `json:"interval_score,omitempty"`
}

// Abstention are the scores of the rule to abstain, for the examples evaluated on and the groups of foreign inputs.
type Abstention struct {
	By        string    `json:"by"`
	Threshold uq.Number `json:"threshold"` // in the score's unit
	N         int       `json:"n"`         // examples evaluated on
	Foreign   int       `json:"foreign"`   // inputs of groups
	Share     uq.Number `json:"answered_share"`
	Error     uq.Number `json:"error_answered"`      // share of wrong answers among the examples answered; NaN if none is, and for numbers without a tolerance
	Tolerance float64   `json:"tolerance,omitempty"` // of numbers: the distance from the mean, in the target's unit, above which an answer is wrong; 0: none was given, and only NaN is wrong
	AUC       uq.Number `json:"auc"`
	decide.Verdict
}
