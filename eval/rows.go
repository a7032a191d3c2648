package eval

import (
	"context"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// asksForTops reports whether the settings need the moments of the particles' answers.
func asksForTops(by *decide.Settings) bool {
	if by == nil || by.Abstain == nil {
		return false
	}
	_, is := by.Abstain.By.(decide.Classifier)
	return is
}

// rowsOf are the scores to abstain by of a prediction of so many members: one has no epistemic doubt.
func rowsOf(v *uq.Predictive, members int) *decide.Rows {
	r := &decide.Rows{Entropy: v.Total, Confidence: uq.Confidence(v.Probs, v.Classes), Energy: v.Energy}
	if members > 1 {
		r.Epistemic = v.Epistemic
	}
	return r
}

// predictedNumbers are what decisions are learnt from, and made by, of a prediction of numbers in the target's unit.
type predictedNumbers struct {
	mean      []float64
	rows      *decide.Rows
	low, high [][]float64 // quantiles of the stretched laws at the levels of each rate
}

// predictNumbers predicts a set whose targets are standardised as said.
func predictNumbers(ctx context.Context, e *bnn.Ensemble, targets *data.Standard, set *data.Set, factor float64, rates []float64, p *pool.Pool) (*predictedNumbers, error) {
	v, err := e.PredictAmounts(ctx, set, amounts(targets), nil, p)
	if err != nil {
		return nil, err
	}
	restoreRegression(v, targets)
	out := &predictedNumbers{mean: v.Mean, rows: numberRows(v, e.Alive())}
	if len(rates) == 0 {
		return out, nil
	}
	if v, err = e.Stretched(factor).PredictAmounts(ctx, set, amounts(targets), levelsOf(rates), p); err != nil {
		return nil, err
	}
	restoreRegression(v, targets)
	for k := range rates {
		out.low, out.high = append(out.low, every(v.Quantiles, 2*k, 2*len(rates))), append(out.high, every(v.Quantiles, 2*k+1, 2*len(rates)))
	}
	return out, nil
}

// levelsOf are the levels of the quantiles of each rate's intervals, the low one and the high one in turn.
func levelsOf(rates []float64) (levels []float64) {
	for _, rate := range rates {
		low, high := decide.Levels(rate)
		levels = append(levels, low, high)
	}
	return levels
}

// numberRows are the scores to abstain by of a prediction of numbers.
func numberRows(v *bnn.Regression, members int) *decide.Rows {
	r := &decide.Rows{SD: make([]float64, len(v.Mean))}
	for i, a := range v.Aleatoric {
		r.SD[i] = math.Sqrt(float64(a*a) + float64(v.Epistemic[i]*v.Epistemic[i]))
	}
	if members > 1 {
		r.Epistemic = v.Epistemic
	}
	return r
}
