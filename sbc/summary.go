package sbc

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/uq"
)

var nan = math.NaN()

// Level is the false-failure rate: a right sampler has ranks that are not uniform, by their p-value, in at most so many of all checks.
const Level = 0.01

// Summary is what the ranks of all fits say together.
type Summary struct {
	Fits       int        `json:"fits"`
	Failed     int        `json:"failed"` // fits that have no ranks
	Why        string     `json:"why,omitempty"`
	P          float64    `json:"p"`     // min(1, m × the least of the p-values of m quantities), right for any dependence between them (Bonferroni)
	Level      float64    `json:"level"` // a right sampler has p of at most this in at most so many of all checks
	Uniform    bool       `json:"uniform"`
	Quantities []Quantity `json:"quantities"`
	Probes     []int32    `json:"probes"`         // rows of the training examples at whose inputs predictions are ranked
	Networks   int        `json:"networks"`       // the fewest among which a fit ranks
	Effective  float64    `json:"effective"`      // the least 1/Σ W²
	IACT       *uq.Number `json:"iact,omitempty"` // the largest by which a fit's states were thinned
}

// Quantity is what is said of the ranks of one quantity.
type Quantity struct {
	Name  string    `json:"name"`
	P     float64   `json:"p"`      // by itself
	Mean  float64   `json:"mean"`   // of the ranks, ½ if they are uniform
	SD    float64   `json:"spread"` // the root of the mean square of their distance from ½, √(1/12) = .289 if they are uniform
	Shape Shape     `json:"shape"`
	Ranks []float64 `json:"ranks"` // of the fits that have some, in order
}

// Shape says in which way ranks are not uniform.
type Shape string

// The shapes.
const (
	Even   Shape = "uniform"
	Low    Shape = "draws too low"   // the truth ranks too high
	High   Shape = "draws too high"  // the truth ranks too low
	Narrow Shape = "draws too close" // the truth ranks at the ends
	Wide   Shape = "draws too wide"  // the truth ranks in the middle
)

// Summarise sums up the lines of all fits.
func (c *Check) Summarise(lines []Line) (*Summary, error) {
	s := &Summary{Fits: len(lines), Level: Level, Probes: slices.Clone(c.Probes), Networks: math.MaxInt, Effective: math.Inf(1)}
	for _, name := range c.Quantities() {
		s.Quantities = append(s.Quantities, Quantity{Name: name})
	}
	for i, l := range lines {
		if l.Failed != "" {
			if s.Failed++; s.Why == "" {
				s.Why = fmt.Sprintf("fit %d: %s", i+1, l.Failed)
			}
			continue
		}
		s.Networks, s.Effective = min(s.Networks, l.Networks), min(s.Effective, l.Effective)
		if l.IACT != nil && (s.IACT == nil || *l.IACT > *s.IACT) {
			s.IACT = l.IACT
		}
		for q, r := range l.Ranks {
			s.Quantities[q].Ranks = append(s.Quantities[q].Ranks, r)
		}
	}
	n := len(lines) - s.Failed
	if n < Fewest || 2*s.Failed > len(lines) {
		return nil, fmt.Errorf("%d of %d fits failed, so that there are too few ranks: %s", s.Failed, len(lines), s.Why)
	}
	test := uq.NewUniform(n)
	s.P = 1
	for i := range s.Quantities {
		q := &s.Quantities[i]
		q.P = test.P(q.Ranks)
		s.P = min(s.P, q.P*float64(len(s.Quantities)))
		q.describe(s.OwnLevel())
	}
	s.Uniform = s.P > Level
	return s, nil
}

// OwnLevel is the level of the p-value of one quantity.
func (s *Summary) OwnLevel() float64 { return s.Level / float64(len(s.Quantities)) }

// describe says in which way ranks are not uniform, if they are not: by their mean or by their variance, whichever is farther out in standard
// errors.
func (q *Quantity) describe(level float64) {
	n, squares := float64(len(q.Ranks)), 0.0
	q.Mean = uq.Mean(q.Ranks)
	for _, r := range q.Ranks {
		squares += float64((r-0.5)*(r-0.5)) / n
	}
	q.SD = math.Sqrt(squares)
	variance := squares - float64((q.Mean-0.5)*(q.Mean-0.5))
	shift, spread := (q.Mean-0.5)/math.Sqrt(1/(12*n)), (variance-1./12)/math.Sqrt(1/(180*n))
	switch {
	case q.P > level:
		q.Shape = Even
	case math.Abs(shift) >= math.Abs(spread) && shift > 0:
		q.Shape = Low
	case math.Abs(shift) >= math.Abs(spread):
		q.Shape = High
	case spread > 0:
		q.Shape = Narrow
	default:
		q.Shape = Wide
	}
}
