package decide

import (
	"context"
	"errors"
	"fmt"

	"github.com/starling-smc/starling/nn"
)

// Labelled are predictions of labelled examples of classes, as the ensemble makes them.
type Labelled struct {
	Probs    []float64 // [n, classes]
	Labels   []int32   // [n]
	Rows     *Rows     // scores to abstain by
	Features []float64 // [n, 7], for the classifier of wrong answers
}

// Classes are the predictions that a decision about classes is learnt from. None of them may be of test examples.
type Classes struct {
	Classes   int
	Calibrate Labelled
	Validate  *Labelled // teaches the temperature; nil: a keyed Third of Calibrate does, and nothing else then
	Fitted    *Labelled // of the training examples, for Classifier.Literal alone
	Foreign   *Labelled // Rows and Features of foreign inputs; nil: there are none
}

// Decision is all that was learnt.
type Decision struct {
	Temperature float64    // 1 where none was asked for
	Sets        *Conformal // of tempered probabilities; nil: none
	Network     *Network   // nil: no classifier
	Rule        *Rule      // nil: no row abstains
}

// Classes learns what the settings ask for. The seed draws what is held out, and u of the calibration examples (Uniform, part 0). With
// a classifier a threshold is chosen by the examples that its network was not trained on. Where one piece is refused, the error says why
// and the decision has the others.
func (s Settings) Classes(ctx context.Context, c *Classes, seed uint64, p *nn.Pool) (*Decision, error) {
	d := &Decision{Temperature: 1}
	if err := checkLabels(c.Calibrate.Probs, c.Classes, c.Calibrate.Labels); err != nil {
		return d, err
	}
	keep := make([]bool, len(c.Calibrate.Labels)) // calibration examples that serve sets and thresholds
	for i := range keep {
		keep[i] = true
	}
	var faults []error
	if s.Temperature {
		from := c.Validate
		if from == nil {
			third := Third(len(keep), seed)
			for i := range keep {
				keep[i] = !third[i]
			}
			some := Labelled{Probs: pick(c.Calibrate.Probs, third), Labels: pick(c.Calibrate.Labels, third)}
			from = &some
		}
		if t, err := Temperature(from.Probs, c.Classes, from.Labels); err != nil {
			faults = append(faults, err)
		} else {
			d.Temperature = t
		}
	}
	if s.Sets != nil {
		u := make([]float64, len(keep))
		for i := range u {
			u[i] = Uniform(seed, 0, i)
		}
		var err error
		d.Sets, err = s.Sets.Conformal(Temper(pick(c.Calibrate.Probs, keep), c.Classes, d.Temperature), c.Classes, pick(c.Calibrate.Labels, keep), pick(u, keep))
		faults = append(faults, err)
	}
	if s.Abstain != nil {
		faults = append(faults, s.Abstain.classes(ctx, c, keep, d, seed, p))
	}
	return d, errors.Join(faults...)
}

// classes learns the rule to abstain.
func (a Abstain) classes(ctx context.Context, c *Classes, keep []bool, d *Decision, seed uint64, p *nn.Pool) error {
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
	var strange []bool // foreign inputs that serve the threshold; nil: all
	if by, ok := a.By.(Classifier); ok {
		l := Learn{Features: pick(c.Calibrate.Features, keep), Labels: pick(c.Calibrate.Labels, keep), Wrong: pick(wrong, keep), Foreign: foreign.Features}
		if by.Literal {
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
		n := len(l.Labels)
		strange = held[n:]
		if !by.Literal {
			next := 0
			for i, k := range keep {
				if k {
					keep[i] = held[next]
					next++
				}
			}
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
