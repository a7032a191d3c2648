package decide

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
)

// Abstain are the settings of a rule by which rows abstain: a row does where its score is on the doubtful side of a threshold, or is NaN.
type Abstain struct {
	By        Signal  `yaml:"by,omitempty"`                // the score: entropy, epistemic, confidence, energy or classifier for classes; sd or epistemic for numbers; default entropy, of numbers sd
	At        Cutoff  `yaml:"at"`                          // where the threshold is: a number, f1, {pass: 0.95}, {coverage: 0.9} or {risk: 0.02}
	Tolerance float64 `yaml:"tolerance,omitempty,nonzero"` // numbers, {risk: r} and f1: the distance from the mean, in the target's unit, above which an answer is an error; above 0
}

// Check implements config.Checker.
func (a Abstain) Check(f *config.Faults) {
	f.If(a.At == nil, "at", "want %s", Cutoffs.Forms())
	f.If(!(a.Tolerance >= 0) || math.IsInf(a.Tolerance, 0), "tolerance", "want a number above 0, have %.12g", a.Tolerance)
}

// Complete fills in the score for classes or for numbers. Errors: a score, or a rule, that is for the other.
func (a Abstain) Complete(numbers bool) (Abstain, error) {
	switch {
	case a.By == nil && numbers:
		a.By = SD{}
	case a.By == nil:
		a.By = Entropy{}
	case numbers && !a.By.Numbers():
		return a, fmt.Errorf("by %s is for classes: want %s", Signals.Name(a.By), suiting(Signal.Numbers).Forms())
	case !numbers && !a.By.Classes():
		return a, fmt.Errorf("by %s is for numbers: want %s", Signals.Name(a.By), suiting(Signal.Classes).Forms())
	}
	if a.At == nil {
		return a, fmt.Errorf("at is missing: want %s", Cutoffs.Forms())
	}
	if t, given := a.At.(Threshold); given && a.By.bounded() && !(t >= 0 && t <= 1) {
		return a, fmt.Errorf("at %.12g: the %s lies between 0 and 1", float64(t), a.By)
	}
	if judges := a.At.judges(); numbers && judges && a.Tolerance == 0 {
		return a, fmt.Errorf("at %s of numbers needs a tolerance: the distance from the mean above which an answer is an error", Cutoffs.Name(a.At))
	} else if a.Tolerance != 0 && !(numbers && judges) {
		return a, fmt.Errorf("tolerance is for numbers, with at: f1 or {risk: 0.02}")
	}
	return a, nil
}

// Rule is a learnt rule to abstain.
type Rule struct {
	By        Signal
	Threshold float64 // of the doubt: a row abstains where its doubt is above; −∞: every row does
	Kept      bool    // false: no threshold keeps the risk that was asked for, so that every row abstains
	Examples  int     // labelled ones that it was learnt from; 0: the user gave the threshold
}

// NewRule is a learnt rule with a threshold in the score's own unit, as Score returned it.
func NewRule(by Signal, score float64, kept bool, examples int) *Rule {
	return &Rule{By: by, Threshold: by.sign() * score, Kept: kept, Examples: examples}
}

// Score is the threshold in the score's own unit.
func (r *Rule) Score() float64 { return r.By.sign() * r.Threshold }

// String says which rows abstain, as in "where the total entropy is above 0.3648".
func (r *Rule) String() string {
	switch side := "above"; {
	case math.IsInf(r.Threshold, -1):
		return "everywhere"
	case math.IsInf(r.Threshold, 1):
		return fmt.Sprintf("where the %s is no number", r.By)
	default:
		if r.By.sign() < 0 {
			side = "below"
		}
		return fmt.Sprintf("where the %s is %s %s", r.By, side, numeral.Significant(r.Score()))
	}
}

// Abstains reports a row whose doubt is above the threshold, or is NaN.
func (r *Rule) Abstains(doubt float64) bool { return abstains(doubt, r.Threshold) }

// Choose learns the threshold. Errors say what examples are missing: a *NeedError where more of them would do.
func (a Abstain) Choose(x Examples) (*Rule, error) {
	if len(x.Wrong) != len(x.Doubts) {
		return nil, fmt.Errorf("%d doubts for %d answers", len(x.Doubts), len(x.Wrong))
	}
	t, kept, err := a.At.choose(a.By, &x)
	if err != nil {
		return nil, err
	}
	rule := &Rule{By: a.By, Threshold: t, Kept: kept}
	if least, _ := a.At.needs(); least > 0 {
		rule.Examples = len(x.Doubts)
	}
	return rule, nil
}
