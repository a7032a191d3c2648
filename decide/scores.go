package decide

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
)

// Rows are the scores of rows by which they may abstain, in columns of equal length; nil: the prediction has none. They are those of the
// ensemble as it is, not of tempered probabilities.
type Rows struct {
	Wrong      []float64 // probability that the answer is wrong, by a Network
	Epistemic  []float64 // classes: H_ep in nats; numbers: the standard deviation of the particles' means
	Entropy    []float64 // H_tot in nats
	Confidence []float64 // probability of the most probable class
	Energy     []float64
	SD         []float64 // standard deviation of a number
}

// Signal is a score to abstain by.
type Signal interface {
	// String is the score's title in sentences.
	String() string

	// Classes and Numbers report what the score is for.
	Classes() bool
	Numbers() bool

	// column is the score's column, and sign 1 where large values mean doubt, −1 where small ones do.
	column(r *Rows) []float64
	sign() float64

	// bounded reports a score between 0 and 1.
	bounded() bool
}

// Signals lists the scores to abstain by, with their names in a config.
var Signals = config.Table[Signal]{
	{Name: "entropy", Part: Entropy{}},
	{Name: "epistemic", Part: Epistemic{}},
	{Name: "confidence", Part: Confidence{}},
	{Name: "energy", Part: Energy{}},
	{Name: "classifier", Part: Classifier{}},
	{Name: "sd", Part: SD{}},
}

// suiting are the rows of Signals for classes or for numbers.
func suiting(suits func(Signal) bool) config.Table[Signal] {
	return slices.DeleteFunc(slices.Clone(Signals), func(row config.Row[Signal]) bool { return !suits(row.Part) })
}

// Learns reports a score that a Network learns from the features of predictions; fitted: of those of the training examples.
func Learns(by Signal) (learns, fitted bool) {
	c, learns := by.(Classifier)
	return learns, c.Literal
}

// Entropy is the total entropy of the classes, which single networks have as well.
type Entropy struct{}

func (Entropy) String() string           { return "total entropy" }
func (Entropy) Classes() bool            { return true }
func (Entropy) Numbers() bool            { return false }
func (Entropy) column(r *Rows) []float64 { return r.Entropy }
func (Entropy) sign() float64            { return 1 }
func (Entropy) bounded() bool            { return false }

// Epistemic is the uncertainty about the parameters: the epistemic entropy of classes, the spread of the particles' means of numbers. A
// single network has none.
type Epistemic struct{}

func (Epistemic) String() string           { return "epistemic uncertainty" }
func (Epistemic) Classes() bool            { return true }
func (Epistemic) Numbers() bool            { return true }
func (Epistemic) column(r *Rows) []float64 { return r.Epistemic }
func (Epistemic) sign() float64            { return 1 }
func (Epistemic) bounded() bool            { return false }

// Confidence is the probability of the most probable class: small values mean doubt.
type Confidence struct{}

func (Confidence) String() string           { return "confidence" }
func (Confidence) Classes() bool            { return true }
func (Confidence) Numbers() bool            { return false }
func (Confidence) column(r *Rows) []float64 { return r.Confidence }
func (Confidence) sign() float64            { return -1 }
func (Confidence) bounded() bool            { return true }

// Energy is the energy of the logits, high for inputs that are unlike the training examples.
type Energy struct{}

func (Energy) String() string           { return "energy" }
func (Energy) Classes() bool            { return true }
func (Energy) Numbers() bool            { return false }
func (Energy) column(r *Rows) []float64 { return r.Energy }
func (Energy) sign() float64            { return 1 }
func (Energy) bounded() bool            { return false }

// Classifier is the probability that an answer is wrong, by a small Network that learns it from seven features of the prediction.
type Classifier struct {
	Literal bool `yaml:"literal,omitempty"` // learn from the predictions of the training examples, as the paper may be read, in place of fresh examples
}

func (Classifier) String() string           { return "classifier of wrong answers" }
func (Classifier) Classes() bool            { return true }
func (Classifier) Numbers() bool            { return false }
func (Classifier) column(r *Rows) []float64 { return r.Wrong }
func (Classifier) sign() float64            { return 1 }
func (Classifier) bounded() bool            { return true }

// SD is the standard deviation of a predicted number.
type SD struct{}

func (SD) String() string           { return "standard deviation" }
func (SD) Classes() bool            { return false }
func (SD) Numbers() bool            { return true }
func (SD) column(r *Rows) []float64 { return r.SD }
func (SD) sign() float64            { return 1 }
func (SD) bounded() bool            { return false }

// Doubts are the values of a score, with a sign that makes large values mean doubt; +∞ where the score is NaN. Errors: the prediction does not have
// the score.
func Doubts(by Signal, r *Rows) ([]float64, error) {
	column := by.column(r)
	if column == nil {
		return nil, fmt.Errorf("the prediction has no %s: take another score (abstain.by)", by)
	}
	out := make([]float64, len(column))
	for i, v := range column {
		if out[i] = by.sign() * v; v != v {
			out[i] = math.Inf(1)
		}
	}
	return out, nil
}

// Append adds other rows of the same ensemble after those of r.
func (r *Rows) Append(other *Rows) {
	r.Wrong, r.Epistemic, r.Entropy = append(r.Wrong, other.Wrong...), append(r.Epistemic, other.Epistemic...), append(r.Entropy, other.Entropy...)
	r.Confidence, r.Energy, r.SD = append(r.Confidence, other.Confidence...), append(r.Energy, other.Energy...), append(r.SD, other.SD...)
}
