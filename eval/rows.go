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

// asksForTops reports whether the settings need the moments of the particles' answers.
func asksForTops(by *decide.Settings) bool {
	if by == nil || by.Abstain == nil {
		return false
	}
	learns, _ := decide.Learns(by.Abstain.By)
	return learns
}

// rowsOf are the scores to abstain by of a prediction of so many members: one has no epistemic uncertainty.
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

// predictNumbers predicts a set. targets say how its targets are standardised.
func predictNumbers(ctx context.Context, e *bnn.Ensemble, targets *data.Standard, set *data.Set, factor float64, rates []float64, p *pool.Pool) (*predictedNumbers, error) {
	all, err := predictStretched(ctx, e, targets, set, asksFor(factor, rates), p)
	if err != nil {
		return nil, err
	}
	return newPredictedNumbers(all, len(rates), e.Alive()), nil
}

// asksFor lists what newPredictedNumbers takes: the laws as they are, and the quantiles of the stretched ones, if there are rates.
func asksFor(factor float64, rates []float64) []bnn.Stretch {
	if len(rates) == 0 {
		return []bnn.Stretch{{Times: 1}}
	}
	return []bnn.Stretch{{Times: 1}, {Times: factor, Quantiles: levelsOf(rates)}}
}

// predictStretched is bnn.Ensemble.PredictStretched in the target's unit.
func predictStretched(ctx context.Context, e *bnn.Ensemble, targets *data.Standard, set *data.Set, asked []bnn.Stretch, p *pool.Pool) ([]*bnn.Regression, error) {
	all, err := e.PredictStretched(ctx, set, amounts(targets), asked, p)
	for _, v := range all {
		restoreRegression(v, targets)
	}
	return all, err
}

// newPredictedNumbers are those of a prediction of what asksFor lists, for so many rates, by so many members.
func newPredictedNumbers(all []*bnn.Regression, rates, members int) *predictedNumbers {
	out := &predictedNumbers{mean: all[0].Mean, rows: numberRows(all[0], members)}
	for k := range rates {
		q := all[1].Quantiles
		out.low, out.high = append(out.low, every(q, 2*k, 2*rates)), append(out.high, every(q, 2*k+1, 2*rates))
	}
	return out
}

// levelsOf are the levels of the quantiles of each rate's intervals, the low one and the high one in turn.
func levelsOf(rates []float64) (levels []float64) {
	for _, rate := range rates {
		low, high := decide.Levels(rate)
		levels = append(levels, low, high)
	}
	return levels
}

// numberRows are the scores to abstain by of a prediction of numbers: NaN where the network overflows, so that the mean is infinite.
func numberRows(v *bnn.Regression, members int) *decide.Rows {
	r := &decide.Rows{SD: make([]float64, len(v.Mean))}
	spread := slices.Clone(v.Epistemic)
	for i, a := range v.Aleatoric {
		if !finite(v.Mean[i]) {
			spread[i] = math.NaN()
		}
		r.SD[i] = math.Sqrt(float64(a*a) + float64(spread[i]*spread[i]))
	}
	if members > 1 {
		r.Epistemic = spread
	}
	return r
}

// noRows are the scores of no rows at all.
func noRows() *decide.Rows {
	none := []float64{}
	return &decide.Rows{Wrong: none, Epistemic: none, Entropy: none, Confidence: none, Energy: none, SD: none}
}
