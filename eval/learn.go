package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// otherRates are the rates at which a report compares the coverage of sets and intervals with the promise.
var otherRates = []float64{0.5, 0.8, 0.9, 0.95, 0.99}

// Decide learns what a run decides by: which inputs are foreign, from the validation examples, and what the settings by, which may be nil, ask
// for. The seed draws what decide.Settings.Classes draws. There is no decision, nil, where nothing could be learnt. What was refused,
// and why, is among the findings. The error is that of a prediction, or of ctx.
func Decide(ctx context.Context, e *Ensembles, lessons data.Lessons, by *decide.Settings, schema *data.Schema, seed uint64, p *pool.Pool) (*Decision, []finding.Finding, error) {
	var validated *uq.Predictive
	d := new(Decision)
	var found []finding.Finding
	if set := lessons.Validate(); set != nil && set.Len() > 0 && e.Posterior.Net.Classes() > 0 {
		var err error
		if validated, err = e.Posterior.Predict(ctx, set, p); err != nil {
			return nil, nil, err
		}
		d.Foreign, found = foreign(e.Posterior.Net, validated)
	}
	if by != nil {
		l := learner{ctx: ctx, Ensembles: e, Lessons: lessons, by: *by, schema: schema, seed: seed, pool: p, validated: validated}
		var err error
		if d.Learnt, err = l.learn(); err != nil {
			return nil, nil, err
		}
		found = slices.Concat(found, l.found)
	}
	if d.Foreign == nil && d.Learnt == nil {
		return nil, found, nil
	}
	return d, found, nil
}

// ForLast is Decide of the m members of the posterior that were kept last, without settings.
func ForLast(ctx context.Context, posterior *bnn.Ensemble, m int, lessons data.Lessons, p *pool.Pool) (*Decision, []finding.Finding, error) {
	return Decide(ctx, &Ensembles{Posterior: last(posterior, m)}, lessons, nil, nil, 0, p)
}

// learner learns a Learnt.
type learner struct {
	ctx context.Context
	*Ensembles
	data.Lessons
	by        decide.Settings
	schema    *data.Schema
	seed      uint64
	pool      *pool.Pool
	validated *uq.Predictive // the posterior's prediction of the validation examples; nil: none

	teach     *data.Set // examples that teach the temperature; nil: it is not asked for
	calibrate *data.Set // examples that teach all else; nil: none
	found     []finding.Finding
}

func (l *learner) learn() (*Learnt, error) {
	out := &Learnt{Seed: l.seed, From: Sums{}, by: l.by}
	var err error
	if out.Settings, err = config.EncodeJSON(l.by, decide.Families()...); err != nil {
		return nil, err
	}
	if out.Weights, err = l.Posterior.Sum(); err != nil {
		return nil, err
	}
	l.divide(out.From)
	if l.Posterior.Net.Likelihood().Regression() {
		err = l.numbers(out)
	} else {
		err = l.classes(out)
	}
	return out, err
}

// divide chooses the examples that teach the temperature, and those that teach all else. Where there are no validation examples, a third of
// the calibration examples teaches the temperature, and nothing else.
func (l *learner) divide(from Sums) {
	if l.calibrate = l.Calibrate(); l.calibrate != nil {
		from["calibrate"] = l.calibrate.Checksum()
	}
	for _, g := range l.Lessons.Foreign() {
		from["calibrate/"+g.Name] = g.Set.Checksum()
	}
	if !l.by.Temperature {
		return
	}
	if l.teach = l.Validate(); l.teach != nil {
		from["validate"] = l.teach.Checksum()
		return
	}
	if all := l.calibrate; all != nil {
		var parts [2][]int32
		for i, third := range decide.Third(all.Len(), l.seed) {
			k := 0
			if third {
				k = 1
			}
			parts[k] = append(parts[k], int32(i))
		}
		l.calibrate, l.teach = all.Select(all.Name, parts[0]), all.Select(all.Name, parts[1])
	}
}

// joined is what errors.Join returns.
type joined interface{ Unwrap() []error }

// refused adds a finding for each piece that was refused.
func (l *learner) refused(err error) {
	if all, ok := err.(joined); ok {
		for _, err := range all.Unwrap() {
			l.refused(err)
		}
	} else if err != nil {
		l.found = append(l.found, finding.Of(finding.NotDecided{Why: err.Error()}))
	}
}

// perEnsemble learns a number for each ensemble, under its weighting of the particles. predict returns how the number is learnt from the
// ensemble's predictions. If it cannot be learnt, that is a finding, and there are no numbers. The error is that of a prediction.
func (l *learner) perEnsemble(predict func(e *bnn.Ensemble, logWeights []float64) (learn func() (float64, error), err error)) (*PerEnsemble, error) {
	type one struct {
		e          *bnn.Ensemble
		logWeights []float64
	}
	all := []one{{l.Posterior, l.Posterior.LogWeights}}
	if l.Restarts != nil {
		all = append(all, one{l.Restarts, l.Restarts.LogWeights}, one{l.Restarts, l.chosen()})
	}
	numbers := make([]float64, len(all))
	for i, of := range all {
		learn, err := predict(of.e, of.logWeights)
		if err != nil {
			return nil, err
		}
		if numbers[i], err = learn(); err != nil {
			l.refused(fmt.Errorf("temperature: %w", err))
			return nil, nil
		}
	}
	t := &PerEnsemble{Posterior: numbers[0]}
	if len(numbers) > 1 {
		t.DeepEnsemble, t.MAP = &numbers[1], &numbers[2]
	}
	return t, nil
}

// classes learns a decision about classes.
func (l *learner) classes(out *Learnt) (err error) {
	classes := l.Posterior.Net.Classes()
	if l.teach != nil {
		out.Temperature, err = l.perEnsemble(func(e *bnn.Ensemble, logWeights []float64) (func() (float64, error), error) {
			v := l.validated
			if e != l.Posterior || v == nil {
				all, err := e.PredictUnder(l.ctx, l.teach, [][]float64{logWeights}, false, l.pool)
				if err != nil {
					return nil, err
				}
				v = all[0]
			}
			return func() (float64, error) { return decide.Temperature(v.Probs, classes, l.teach.Labels) }, nil
		})
		if err != nil {
			return err
		}
	}
	c := &decide.Classes{Classes: classes, Temperature: out.temper()}
	if l.by.Sets == nil && l.by.Abstain == nil {
		return nil
	}
	c.Calibrate.Rows = noRows() // a threshold that is given needs no examples
	if l.calibrate != nil {
		if c.Calibrate, err = l.labelled(l.calibrate); err != nil {
			return err
		}
	}
	for _, g := range l.Lessons.Foreign() {
		v, err := l.labelled(g.Set)
		if err != nil {
			return err
		}
		if c.Foreign == nil {
			c.Foreign = &decide.Labelled{Rows: new(decide.Rows)}
		}
		c.Foreign.Rows.Append(v.Rows)
		c.Foreign.Features = append(c.Foreign.Features, v.Features...)
	}
	if by := l.by.Abstain; by != nil {
		if _, fitted := decide.Learns(by.By); fitted {
			v, err := l.labelled(l.Train())
			if err != nil {
				return err
			}
			c.Fitted, out.From["train"] = &v, l.Train().Checksum()
		}
	}
	d, err := l.by.Classes(l.ctx, c, l.seed, l.pool)
	if err := l.ctx.Err(); err != nil {
		return err
	}
	l.refused(err)
	if d.Sets != nil {
		out.Sets = &SetRule{Examples: d.Sets.Examples, Thresholds: asNumbers(d.Sets.Thresholds)}
		for _, rate := range otherRates {
			by := *l.by.Sets
			by.Rate = rate
			if d, err := (decide.Settings{Sets: &by}).Classes(l.ctx, c, l.seed, l.pool); err == nil {
				out.Sets.Others = append(out.Sets.Others, SetsAt{rate, asNumbers(d.Sets.Thresholds)})
			}
		}
	}
	if w := d.Network; w != nil {
		out.Classifier = &Classifier{w.Mean, w.SD, w.Theta, w.Epochs, uq.Number(w.NLL)}
	}
	l.rule(out, d)
	return nil
}

func asNumbers(x []float64) (out []uq.Number) {
	for _, v := range x {
		out = append(out, uq.Number(v))
	}
	return out
}

// rule keeps the rule to abstain, and notes a risk that no threshold keeps.
func (l *learner) rule(out *Learnt, d *decide.Decision) {
	if d.Rule == nil {
		return
	}
	out.Abstain = &Rule{Threshold: uq.Number(d.Rule.Score()), Kept: d.Rule.Kept, Examples: d.Rule.Examples}
	if risk, is := l.by.Abstain.At.(decide.Risk); is && !d.Rule.Kept {
		l.found = append(l.found, finding.Of(finding.RiskNotKept{Risk: float64(risk), Examples: d.Rule.Examples}))
	}
}

// labelled is the posterior's prediction of a set, as decisions are learnt from it.
func (l *learner) labelled(set *data.Set) (decide.Labelled, error) {
	tops := asksForTops(&l.by)
	all, err := l.Posterior.PredictUnder(l.ctx, set, [][]float64{l.Posterior.LogWeights}, tops, l.pool)
	if err != nil {
		return decide.Labelled{}, err
	}
	v := decide.Labelled{Probs: all[0].Probs, Labels: set.Labels, Rows: rowsOf(all[0], l.Posterior.Alive())}
	if tops {
		v.Features = decide.FeaturesOf(all[0])
	}
	return v, nil
}
