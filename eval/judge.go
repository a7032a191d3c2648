package eval

import (
	"context"
	"math"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// temper scores tempered classes; nil without a temperature, 0.
func temper(v *uq.Predictive, labels []int32, t float64) *Tempered {
	if t == 0 {
		return nil
	}
	s := uq.Score(decide.Temper(v.Probs, v.Classes, t), v.Classes, labels)
	return &Tempered{Temperature: number(t), NLL: s.NLL, Brier: &s.Brier, ECE: &s.ECE}
}

// temperNumbers scores stretched laws under each weighting that has a factor.
func temperNumbers(ctx context.Context, e *bnn.Ensemble, set *data.Set, problem *data.Problem, logWeights [][]float64, factors []float64, truth []float64, scores []Evaluation, p *pool.Pool) error {
	for w, c := range factors {
		if c == 0 {
			continue
		}
		all, err := e.Stretched(c).EvaluateAmounts(ctx, set, nil, amounts(standard(problem)), nil, logWeights[w:w+1], p)
		if err != nil {
			return err
		}
		restore(all[0], standard(problem))
		var s Evaluation
		s.regression(all[0], truth)
		scores[w].Tempered = &Tempered{Factor: number(c), NLL: s.NLL, CRPS: s.CRPS, Coverage: s.Coverage}
	}
	return nil
}

// judge scores the decisions of the posterior, and keeps the doubts for the report.
func (a *Assessment) judge(ctx context.Context, l *Learnt, e *bnn.Ensemble, p *pool.Pool) error {
	if l.Sets == nil && l.Intervals == nil && l.Abstain == nil {
		return nil
	}
	x := new(decide.Examples)
	score := a.judgeClasses
	if a.Test == nil {
		score = a.judgeNumbers
	}
	if err := score(ctx, l, e, x, p); err != nil || l.Abstain == nil {
		return err
	}
	rule, err := l.rule(a.Test == nil)
	if err != nil {
		return err
	}
	v := decide.Judge(*x, rule.Threshold)
	answered, wrong := float64(v.Answered.Right+v.Answered.Wrong), float64(v.Answered.Wrong)
	if a.Test == nil && l.by.Abstain.Tolerance == 0 { // what an error would be is not said
		wrong = math.NaN()
	}
	a.Metrics.Abstention = &Abstention{
		By: decide.Signals.Name(rule.By), Threshold: l.Abstain.Threshold, N: len(x.Doubts), Foreign: len(x.Foreign),
		Share: uq.Number(answered / float64(len(x.Doubts))), Error: uq.Number(wrong / answered), Tolerance: l.by.Abstain.Tolerance,
		AUC: uq.Number(decide.AUC(*x)), Verdict: v,
	}
	a.Doubts, a.Rule = x, rule
	return nil
}

func (a *Assessment) judgeClasses(ctx context.Context, l *Learnt, e *bnn.Ensemble, x *decide.Examples, p *pool.Pool) error {
	members, labels := e.Alive(), a.Set().Labels
	v, err := l.classes(ctx, a.Test, members, partTest, 0, p)
	if err != nil {
		return err
	}
	if l.Sets != nil {
		u := make([]float64, len(labels))
		for i := range u {
			u[i] = decide.Uniform(l.Seed, partTest, i)
		}
		promise := func(rate float64, thresholds []uq.Number) Promise {
			covered, size := l.conformal(thresholds).Coverage(v.probs, a.Test.Classes, labels, u)
			return Promise{Rate: rate, Coverage: uq.Number(covered), Size: number(size)}
		}
		a.Metrics.Sets = &SetScores{Promise: promise(l.by.Sets.Rate, l.Sets.Thresholds), Examples: l.Sets.Examples}
		for _, o := range l.Sets.Others {
			a.Metrics.Sets.Others = append(a.Metrics.Sets.Others, promise(o.Rate, o.Thresholds))
		}
		a.Metrics.Sets.ByClass = setsByClass(a.Set(), a.Test.Classes, v.sets)
	}
	if l.Abstain == nil {
		return nil
	}
	x.Doubts = v.doubts
	if x.Wrong, err = decide.Wrongs(a.Test.Probs, a.Test.Classes, labels); err != nil {
		return err
	}
	for _, g := range a.Groups { // which have no sets to score
		rows, err := l.scores(ctx, g, members, p)
		var v verdicts
		if err == nil {
			err = l.abstains(&v, rows, false)
		}
		if err != nil {
			return err
		}
		x.Foreign = append(x.Foreign, v.doubts...)
	}
	return nil
}

// setsByClass are the coverage and the mean size of the sets of the examples of each class.
func setsByClass(set *data.Set, classes int, sets [][]int) []ClassPromise {
	all := make([]ClassPromise, classes)
	for i, y := range set.Labels {
		c := &all[y]
		c.N++
		c.Size += uq.Number(len(sets[i]))
		if slices.Contains(sets[i], int(y)) {
			c.Coverage++
		}
	}
	for y := range all {
		c := &all[y]
		n := uq.Number(c.N)
		c.Class, c.Coverage, c.Size = set.Class(int32(y)), c.Coverage/n, c.Size/n
	}
	return all
}

func (a *Assessment) judgeNumbers(ctx context.Context, l *Learnt, e *bnn.Ensemble, x *decide.Examples, p *pool.Pool) error {
	targets := standard(a.Problem)
	var rates []float64
	if l.Intervals != nil {
		rates = append(rates, l.by.Sets.Rate)
		for _, o := range l.Intervals.Others {
			rates = append(rates, o.Rate)
		}
	}
	v, err := predictNumbers(ctx, e, targets, a.Set(), l.temper(), rates, p)
	if err != nil {
		return err
	}
	y := a.Regression.Targets
	if l.Intervals != nil {
		promise := func(k int, widen float64) Promise {
			rule := decide.Intervals{Rate: rates[k], Widen: widen}
			low, high, inside, width := make([]float64, len(y)), make([]float64, len(y)), 0.0, 0.0
			for i, t := range y {
				low[i], high[i] = rule.Interval(v.low[k][i], v.high[k][i])
				if low[i] <= t && t <= high[i] {
					inside++
				}
				width += high[i] - low[i]
			}
			n := float64(len(y))
			return Promise{Rate: rates[k], Coverage: uq.Number(inside / n), Width: number(width / n), Score: number(decide.IntervalScore(low, high, y, rates[k]))}
		}
		a.Metrics.Sets = &SetScores{Promise: promise(0, l.Intervals.Widen), Examples: l.Intervals.Examples}
		for k, o := range l.Intervals.Others {
			a.Metrics.Sets.Others = append(a.Metrics.Sets.Others, promise(k+1, o.Widen))
		}
	}
	if l.Abstain == nil {
		return nil
	}
	tolerance := math.Inf(1)
	if t := l.by.Abstain.Tolerance; t != 0 {
		tolerance = t
	}
	var made verdicts
	if err := l.abstains(&made, v.rows, true); err != nil {
		return err
	}
	x.Doubts, x.Wrong = made.doubts, decide.WrongNumbers(v.mean, y, tolerance)
	for _, g := range a.Problem.Groups {
		v, err := predictNumbers(ctx, e, targets, g.Set, l.temper(), nil, p)
		if err != nil {
			return err
		}
		var made verdicts
		if err := l.abstains(&made, v.rows, true); err != nil {
			return err
		}
		x.Foreign = append(x.Foreign, made.doubts...)
	}
	return nil
}
