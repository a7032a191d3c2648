package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/nn"
)

// Labelled are predictions of labelled examples of classes, as the ensemble makes them.
type Labelled struct {
	Probs    []float64 // [n, classes]
	Labels   []int32   // [n]
	Rows     *Rows     // scores to abstain by
	Features []float64 // [n, 7], for the classifier of wrong answers
}

// Classes are the predictions that a decision about classes is learnt from. None of them may be of test examples, or of those that taught
// the temperature.
type Classes struct {
	Classes     int
	Temperature float64 // of the probabilities that sets are made of; 1: they are the ensemble's
	Calibrate   Labelled
	Fitted      *Labelled // of the training examples, for Classifier.Literal alone
	Foreign     *Labelled // Rows and Features of foreign inputs; nil: there are none
}

// Numbers are the predictions of numbers that a decision is learnt from, in the target's unit; likewise.
type Numbers struct {
	Y         []float64 // targets [n]
	Mean      []float64 // of the predictive laws
	Low, High []float64 // their quantiles at Levels of the rate, of laws as wide as those of new rows will be; nil if there are no sets
	Rows      *Rows     // scores to abstain by
	Foreign   *Rows     // of foreign inputs; nil: there are none
}

// Decision is what was learnt, beside a temperature.
type Decision struct {
	Sets      *Conformal // of tempered probabilities; nil: none
	Intervals *Intervals // of numbers; nil: none
	Network   *Network   // nil: no classifier
	Rule      *Rule      // nil: no row abstains
}

// Classes learns sets and a rule to abstain. The seed draws what is held out, and u of the calibration examples (Uniform, part 0). With
// a classifier a threshold is chosen by the examples that its network was not trained on. Where one piece is refused, the error says why
// and the decision has the others.
func (s Settings) Classes(ctx context.Context, c *Classes, seed uint64, p *nn.Pool) (*Decision, error) {
	d := new(Decision)
	if err := checkLabels(c.Calibrate.Probs, c.Classes, c.Calibrate.Labels); err != nil {
		return d, err
	}
	var faults [2]error
	if s.Sets != nil {
		u := make([]float64, len(c.Calibrate.Labels))
		for i := range u {
			u[i] = Uniform(seed, 0, i)
		}
		d.Sets, faults[0] = s.Sets.Conformal(Temper(c.Calibrate.Probs, c.Classes, c.Temperature), c.Classes, c.Calibrate.Labels, u)
	}
	if s.Abstain != nil {
		faults[1] = s.Abstain.classes(ctx, c, d, seed, p)
	}
	return d, refusals(faults)
}

// refusals joins why sets and the rule to abstain were refused.
func refusals(faults [2]error) error {
	for k, piece := range []string{"sets", "abstain"} {
		if err := faults[k]; err != nil {
			faults[k] = fmt.Errorf("%s: %w", piece, err)
		}
	}
	return errors.Join(faults[:]...)
}

// Numbers learns intervals and a rule to abstain. Errors are as those of Classes.
func (s Settings) Numbers(n *Numbers) (*Decision, error) {
	d := new(Decision)
	var faults [2]error
	if s.Sets != nil {
		d.Intervals, faults[0] = s.Sets.Intervals(n.Low, n.High, n.Y)
	}
	if s.Abstain != nil {
		faults[1] = s.Abstain.numbers(n, d)
	}
	return d, refusals(faults)
}

// numbers learns the rule to abstain.
func (a Abstain) numbers(n *Numbers, d *Decision) (err error) {
	if a, err = a.Complete(true); err != nil {
		return err
	}
	x := Examples{Wrong: WrongNumbers(n.Mean, n.Y, a.Tolerance)}
	if x.Doubts, err = Doubts(a.By, n.Rows); err != nil {
		return err
	}
	if n.Foreign != nil {
		if x.Foreign, err = Doubts(a.By, n.Foreign); err != nil {
			return err
		}
	}
	d.Rule, err = a.Choose(x)
	return err
}

// classes learns the rule to abstain.
func (a Abstain) classes(ctx context.Context, c *Classes, d *Decision, seed uint64, p *nn.Pool) error {
	a, err := a.Complete(false)
	if err != nil {
		return err
	}
	wrong, err := Wrongs(c.Calibrate.Probs, c.Classes, c.Calibrate.Labels)
	if err != nil {
		return err
	}
	foreign := c.Foreign
	if foreign == nil {
		foreign = &Labelled{Rows: &Rows{}}
	}
	rows, outside := c.Calibrate.Rows, foreign.Rows
	keep := slices.Repeat([]bool{true}, len(wrong)) // calibration examples that choose the threshold
	var strange []bool                              // foreign inputs that serve the threshold; nil: all
	if learns, fitted := Learns(a.By); learns {
		l := Learn{Features: c.Calibrate.Features, Labels: c.Calibrate.Labels, Wrong: wrong, Foreign: foreign.Features}
		if fitted {
			if c.Fitted == nil {
				return errors.New("a literal classifier of wrong answers needs the predictions of the training examples")
			}
			w, err := Wrongs(c.Fitted.Probs, c.Classes, c.Fitted.Labels)
			if err != nil {
				return err
			}
			l.Features, l.Labels, l.Wrong = c.Fitted.Features, c.Fitted.Labels, w
		}
		network, err := l.Train(ctx, seed, p)
		if err != nil {
			return err
		}
		d.Network = network
		rows, outside = &Rows{}, &Rows{}
		if rows.Wrong, err = network.Wrong(ctx, c.Calibrate.Features, p); err != nil {
			return err
		}
		if outside.Wrong, err = network.Wrong(ctx, foreign.Features, p); err != nil {
			return err
		}
		held := HoldOut(l.all(), seed)
		strange = held[len(l.Labels):]
		if !fitted {
			keep = held[:len(wrong)]
		}
	}
	doubts, err := Doubts(a.By, rows)
	if err != nil {
		return err
	}
	if len(doubts) != len(keep) {
		return fmt.Errorf("%d values of %s for %d examples", len(doubts), a.By, len(keep))
	}
	x := Examples{Doubts: pick(doubts, keep), Wrong: pick(wrong, keep)}
	if c.Foreign != nil {
		if x.Foreign, err = Doubts(a.By, outside); err != nil {
			return err
		}
		if strange != nil {
			x.Foreign = pick(x.Foreign, strange)
		}
	}
	d.Rule, err = a.Choose(x)
	if need := new(NeedError); errors.As(err, &need) && len(x.Doubts) < len(wrong) {
		return &NeedError{What: ofHeld(need.What), Have: len(wrong), Need: allFor(need.Need)}
	}
	return err
}

// pick copies the rows that are kept: x has a row of the same length for each.
func pick[T any](x []T, keep []bool) []T {
	out := []T{}
	if len(keep) == 0 {
		return out
	}
	size := len(x) / len(keep)
	for i, k := range keep {
		if k {
			out = append(out, x[i*size:(i+1)*size]...)
		}
	}
	return out
}
