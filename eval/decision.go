package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/uq"
)

// Decision is what a run decides by: decision.json.
type Decision struct {
	*Foreign // which inputs are out of distribution, by their energy; nil: it does not say
	*Learnt  // what the settings decide.Settings asked for; nil: there were none
}

// Learnt is what was learnt for the decisions that the settings ask for.
type Learnt struct {
	Settings json.RawMessage `json:"decide"` // as in a config
	Seed     uint64          `json:"seed"`
	Weights  string          `json:"weights"` // checksum of the posterior whose predictions it is for (bnn.Ensemble.Sum)
	From     Sums            `json:"from"`    // of the examples that it was learnt from

	Temperature *PerEnsemble `json:"temperature,omitempty"` // classes: the T of p ∝ p̄^(1/T)
	Factor      *PerEnsemble `json:"factor,omitempty"`      // numbers: how many times as wide about its mean a predicted law is made
	Sets        *SetRule     `json:"sets,omitempty"`        // of classes
	Intervals   *Intervals   `json:"intervals,omitempty"`   // of numbers
	Classifier  *Classifier  `json:"classifier,omitempty"`  // of wrong answers
	Abstain     *Rule        `json:"abstain,omitempty"`

	by decide.Settings // as Settings has them
}

// Sums are checksums of sets of examples, by the names of the parts of a data.Problem.
type Sums map[string]string

// PerEnsemble is a number for each ensemble of a run, learnt from its own predictions. MAP and DeepEnsemble are nil without restarts.
type PerEnsemble struct {
	Posterior    float64  `json:"posterior"`
	MAP          *float64 `json:"map,omitempty"`
	DeepEnsemble *float64 `json:"deep_ensemble,omitempty"`
}

// SetRule makes sets of classes: a class is in the set where its score is at most the threshold.
type SetRule struct {
	Examples   int         `json:"examples"`        // that it was learnt from
	Thresholds []uq.Number `json:"thresholds"`      // one for all classes, or one a class
	Others     []SetsAt    `json:"rates,omitempty"` // of other rates, by which a report compares coverage and promise
}

// SetsAt are the thresholds of a rate.
type SetsAt struct {
	Rate       float64     `json:"rate"`
	Thresholds []uq.Number `json:"thresholds"`
}

// Intervals widens the intervals between the quantiles of predicted laws, in the target's unit.
type Intervals struct {
	Examples int           `json:"examples"`
	Widen    float64       `json:"widen"`
	Others   []IntervalsAt `json:"rates,omitempty"`
}

// IntervalsAt is the widening of a rate.
type IntervalsAt struct {
	Rate  float64 `json:"rate"`
	Widen float64 `json:"widen"`
}

// Classifier is decide.Network as JSON.
type Classifier struct {
	Mean   []float64 `json:"mean"`
	SD     []float64 `json:"sd"`
	Theta  []float64 `json:"theta"`
	Epochs int       `json:"epochs"`
	NLL    uq.Number `json:"nll"`
}

// Rule is the threshold of the score to abstain by, in the score's own unit. Kept is false if no threshold keeps the risk that was
// asked for: every row abstains then.
type Rule struct {
	Threshold uq.Number `json:"threshold"`
	Kept      bool      `json:"kept"`
	Examples  int       `json:"examples"`
}

// ReadDecision reads decision.json.
func ReadDecision(text []byte) (*Decision, error) {
	d := new(Decision)
	if err := jsontext.Read(text, d); err != nil {
		return nil, err
	}
	if d.Foreign == nil && d.Learnt == nil {
		return nil, errors.New("decides nothing")
	}
	if d.Foreign != nil {
		if err := d.Foreign.check(); err != nil {
			return nil, err
		}
	}
	if d.Learnt != nil {
		if err := d.Learnt.read(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Has reports whether a set is a part that taught the decision, other than the training examples.
func (s Sums) Has(set *data.Set) bool {
	sum := set.Checksum()
	for part, of := range s {
		if of == sum && part != "train" {
			return true
		}
	}
	return false
}

// read takes the settings, and checks that what they ask for is well formed.
func (l *Learnt) read() (err error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, l.Settings); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	l.Settings = compact.Bytes()
	if l.by, _, err = config.Parse[decide.Settings]("", l.Settings, nil, decide.Families()...); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	switch {
	case l.Sets != nil && (l.by.Sets == nil || len(l.Sets.Thresholds) == 0), l.Intervals != nil && l.by.Sets == nil:
		return errors.New("has sets that its settings do not ask for")
	case l.Abstain != nil && l.by.Abstain == nil, l.Classifier != nil && l.by.Abstain == nil:
		return errors.New("has a rule to abstain that its settings do not ask for")
	}
	for _, t := range []*PerEnsemble{l.Temperature, l.Factor} {
		if t != nil && !(t.Posterior > 0) {
			return fmt.Errorf("has a temperature or a factor of %v: want a number above 0", t.Posterior)
		}
	}
	return nil
}

// Fits returns an error if the decision was learnt for another posterior.
func (d *Decision) Fits(posterior *bnn.Ensemble) error {
	if d == nil || d.Learnt == nil {
		return nil
	}
	sum, err := posterior.Sum()
	if err == nil && sum != d.Weights {
		err = errors.New("was learnt for another posterior than the run's: learn it again with starling calibrate")
	}
	return err
}
