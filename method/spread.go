package method

import (
	"context"
	"math"
	"slices"
)

// after is the trajectory after one more epoch, which ends at theta. It shares nothing with a that a snapshot changes.
func (a *average) after(theta []float64) *average {
	end := *a
	end.Theta, end.Epochs = theta, a.Epochs+1
	end.Mean, end.Squares, end.Deviations = slices.Clone(a.Mean), slices.Clone(a.Squares), slices.Clone(a.Deviations)
	end.snapshot(end.taken())
	return &end
}

// judgedDraws is the largest number of draws by which a trajectory measures its spread.
const judgedDraws = 10

// measure compares the spread of the draws with that of the posterior around their mean. For a posterior with precision Λ there, and
// draws mean ± δ with δ ~ N(0, S), the log-posterior falls from the mean to a draw by
//
//	fall = log p(mean) − ½ [log p(mean + δ) + log p(mean − δ)]        E[fall] = ½ tr(ΛS)
//
// and tr(ΛS)/D, for D random parameters, is 1 where S = Λ⁻¹: the mean of the squared width of the draws in units of the posterior's, over
// all directions. Spread is this mean; of draws whose log-posterior is not finite it is infinite, and 0 where none falls. The two signs
// cancel the slope at the mean, which need not be a maximum. Like the evaluation at the end, this is not counted as work.
func (a *average) measure(ctx context.Context) error {
	logPosterior := func(theta []float64) (float64, error) {
		err := a.train.LogLik(ctx, nil, theta, a.work.ll[:], nil)
		return a.work.ll[0] + a.prior.LogDensity(theta, nil), err
	}
	top, err := logPosterior(a.Mean)
	if err != nil {
		return err
	}
	sum, n := 0.0, min(a.draws, judgedDraws)
	for k := range n {
		theta := a.draw(a, k)
		for range 2 {
			value, err := logPosterior(theta)
			if err != nil {
				return err
			}
			sum += top - value
			for i, mean := range a.Mean {
				theta[i] = float64(2*mean) - theta[i]
			}
		}
	}
	a.Spread = max(0, sum/float64(n*a.random))
	if sum-sum != 0 {
		a.Spread = math.Inf(1)
	}
	return nil
}
