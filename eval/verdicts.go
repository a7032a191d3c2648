package eval

import (
	"context"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// The parts that rows are of, as numbers of decide.Uniform.
const (
	partTest = 1 + iota // examples that are evaluated on
	partFile            // rows of a file to predict
)

// verdicts are what a decision says of rows. A field is nil where nothing was learnt for it.
type verdicts struct {
	probs     []float64 // classes: tempered probabilities [n, classes]; the ensemble's without a temperature
	wrong     []float64 // probability that the answer is wrong
	doubts    []float64 // by which rows abstain
	abstain   []bool
	sets      [][]int   // classes of the set of each row
	low, high []float64 // ends of the interval of each row
}

func (t *PerEnsemble) posterior() *float64    { return &t.Posterior }
func (t *PerEnsemble) ofMAP() *float64        { return t.MAP }
func (t *PerEnsemble) deepEnsemble() *float64 { return t.DeepEnsemble }

// temper is the temperature, or the factor, of the posterior; 1 without one.
func (l *Learnt) temper() float64 {
	if t := l.tempers((*PerEnsemble).posterior)[0]; t != 0 {
		return t
	}
	return 1
}

// tempers are the numbers of some of the ensembles; 0: none was learnt.
func (l *Learnt) tempers(which ...func(*PerEnsemble) *float64) (all []float64) {
	t := l.Temperature
	if t == nil {
		t = l.Factor
	}
	for _, of := range which {
		v := 0.0
		if t != nil && of(t) != nil {
			v = *of(t)
		}
		all = append(all, v)
	}
	return all
}

// rates are those of the intervals; none without.
func (l *Learnt) rates() []float64 {
	if l.Intervals == nil {
		return nil
	}
	return []float64{l.by.Sets.Rate}
}

// conformal is the rule that makes sets at a rate's thresholds.
func (l *Learnt) conformal(thresholds []uq.Number) *decide.Conformal {
	c := &decide.Conformal{Sets: *l.by.Sets, Examples: l.Sets.Examples}
	for _, t := range thresholds {
		c.Thresholds = append(c.Thresholds, float64(t))
	}
	return c
}

// network is the classifier of wrong answers.
func (c *Classifier) network() *decide.Network {
	return &decide.Network{Mean: c.Mean, SD: c.SD, Theta: c.Theta, Epochs: c.Epochs, NLL: float64(c.NLL)}
}

// rule is the rule to abstain, whose score is that of the settings.
func (l *Learnt) rule(numbers bool) (*decide.Rule, error) {
	a, err := l.by.Abstain.Complete(numbers)
	if err != nil {
		return nil, err
	}
	return decide.NewRule(a.By, float64(l.Abstain.Threshold), l.Abstain.Kept, l.Abstain.Examples), nil
}

// classes applies the decision to rows of a part, from its row first on, that an ensemble of so many members predicts. The prediction has its
// Tops if there is a classifier.
func (l *Learnt) classes(ctx context.Context, v *uq.Predictive, members, part, first int, p *pool.Pool) (out verdicts, err error) {
	out.probs = decide.Temper(v.Probs, v.Classes, l.temper())
	if l.Sets != nil {
		c := l.conformal(l.Sets.Thresholds)
		for i := range v.Len() {
			out.sets = append(out.sets, c.Set(out.probs[i*v.Classes:(i+1)*v.Classes], decide.Uniform(l.Seed, part, first+i)))
		}
	}
	rows, err := l.scores(ctx, v, members, p)
	if err != nil {
		return out, err
	}
	out.wrong = rows.Wrong
	return out, l.abstains(&out, rows, false)
}

// scores are the scores to abstain by of predicted classes, that of the classifier among them if there is one.
func (l *Learnt) scores(ctx context.Context, v *uq.Predictive, members int, p *pool.Pool) (rows *decide.Rows, err error) {
	if rows = rowsOf(v, members); l.Classifier != nil {
		rows.Wrong, err = l.Classifier.network().Wrong(ctx, decide.FeaturesOf(v), p)
	}
	return rows, err
}

// abstains fills in which rows abstain.
func (l *Learnt) abstains(out *verdicts, rows *decide.Rows, numbers bool) error {
	if l.Abstain == nil {
		return nil
	}
	rule, err := l.rule(numbers)
	if err != nil {
		return err
	}
	if out.doubts, err = decide.Doubts(rule.By, rows); err != nil {
		return err
	}
	for _, d := range out.doubts {
		out.abstain = append(out.abstain, rule.Abstains(d))
	}
	return nil
}

// numbers applies the decision to predicted numbers, in the target's unit. The first of their rates is that of the intervals.
func (l *Learnt) numbers(v *predictedNumbers) (out verdicts, err error) {
	if l.Intervals != nil {
		rule := decide.Intervals{Rate: l.by.Sets.Rate, Widen: l.Intervals.Widen}
		for i := range v.mean {
			low, high := rule.Interval(v.low[0][i], v.high[0][i])
			out.low, out.high = append(out.low, low), append(out.high, high)
		}
	}
	return out, l.abstains(&out, v.rows, true)
}
