package eval

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/decide"
)

// numbers learns a decision about numbers.
func (l *learner) numbers(out *Learnt) (err error) {
	if l.teach != nil {
		out.Factor, err = l.perEnsemble(func(e *bnn.Ensemble, logWeights []float64) (func() (float64, error), error) {
			n, nll, err := e.ByWidth(l.ctx, l.teach, logWeights, l.pool)
			return func() (float64, error) { return decide.Factor(n, decide.WidthSpread, nll) }, err
		})
		if err != nil {
			return err
		}
	}
	if l.by.Sets == nil && l.by.Abstain == nil {
		return nil
	}
	factor := out.temper()
	var rates []float64
	if l.by.Sets != nil {
		rates = append([]float64{l.by.Sets.Rate}, otherRates...)
	}
	n := &decide.Numbers{Rows: noRows()} // a threshold that is given needs no examples
	var r *predictedNumbers
	if l.calibrate != nil {
		if r, err = predictNumbers(l.ctx, l.Posterior, l.schema.Targets, l.calibrate, factor, rates, l.pool); err != nil {
			return err
		}
		n.Y, n.Mean, n.Rows = inUnits(l.calibrate, l.schema.Targets), r.mean, r.rows
		if rates != nil {
			n.Low, n.High = r.low[0], r.high[0]
		}
	}
	for _, g := range l.Lessons.Foreign() {
		v, err := predictNumbers(l.ctx, l.Posterior, l.schema.Targets, g.Set, factor, nil, l.pool)
		if err != nil {
			return err
		}
		if n.Foreign == nil {
			n.Foreign = new(decide.Rows)
		}
		n.Foreign.Append(v.rows)
	}
	d, err := l.by.Numbers(n)
	l.refused(err)
	if d.Intervals != nil {
		out.Intervals = &Intervals{Examples: d.Intervals.Examples, Widen: d.Intervals.Widen}
		for k, rate := range rates[1:] {
			by := decide.Sets{Rate: rate}
			if v, err := by.Intervals(r.low[k+1], r.high[k+1], n.Y); err == nil {
				out.Intervals.Others = append(out.Intervals.Others, IntervalsAt{rate, v.Widen})
			}
		}
	}
	l.rule(out, d)
	return nil
}
