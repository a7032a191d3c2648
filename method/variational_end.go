package method

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
)

// quarters is the end of a descent of VI: the means of m, ρ and ψ over the states after the steps of its third and of its last quarter,
//
//	a₃ = mean of the third quarter        a₄ = mean of the last quarter
//
// The posterior is at a₄. At a constant rate a single state is away from the best one by the noise of its last steps; in the mean this
// noise averages out. The rise of the ELBO from a₃ to a₄ says whether the descent has arrived. Both are estimated with common random
// numbers, all examples and the same noise ξ_k for the two, so that the difference is known much better than either:
//
//	rise = mean over k of [log p(y|x, θ₄ₖ) − log p(y|x, θ₃ₖ)] − KL(q₄‖p) + KL(q₃‖p)        θ = m + σ ξ_k
type quarters struct {
	Third, Last []float64 // a₃ and a₄, as far as they have come
	Rise, Error float64   // of the ELBO, in nats, and its standard error: after the last step
}

// steps is the number of steps for n examples.
func (m VI) steps(n int) int { return m.Epochs * ceil(n, m.Batch) }

// quarter is the number of steps of a quarter.
func (v *variational) quarter() int { return max(1, v.steps(v.model.Examples())/4) }

// smooth takes the state after a step, counted from 1, into the mean of its quarter.
func (v *variational) smooth(step int) {
	n := v.quarter()
	mean, k := &v.Last, step-v.steps(v.model.Examples())+n
	if k <= 0 {
		mean, k = &v.Third, k+n
	}
	switch {
	case v.Keep != KeepMean || k <= 0:
	case k == 1:
		*mean = append((*mean)[:0], v.At...)
	default:
		per := 1 / float64(k)
		for i, x := range v.At {
			(*mean)[i] += float64((x - (*mean)[i]) * per)
		}
	}
}

// kept is m, ρ and ψ of the posterior.
func (v *variational) kept() []float64 {
	switch {
	case v.Keep == KeepMean:
		return v.Last
	case len(v.Watch.Theta) > 0:
		return v.Watch.Theta
	}
	return v.At // no validation NLL was a number
}

// compare estimates the rise of the ELBO by an eighth as many draws as there are epochs, 4 to 32. A value costs about a third of a
// gradient, so this is a twelfth of a descent of 32 to 256 epochs, and less of a longer one.
func (v *variational) compare(ctx context.Context) error {
	third, w := v.Third, v.work
	if len(third) == 0 {
		third = v.first // a single step
	}
	n, mean, squares := min(32, max(4, v.VI.Epochs/8)), 0.0, 0.0
	for k := range n {
		v.key(rng.Draw, k, v.job.Seed).Stream().Normals(w.xi)
		var ll [2]float64
		for i, of := range [][]float64{third, v.Last} {
			v.network(of)
			if err := v.model.LogLik(ctx, nil, w.theta, w.ll[:], nil); err != nil {
				return err
			}
			ll[i] = w.ll[0]
		}
		rise := ll[1] - ll[0]
		from := rise - mean
		mean += float64(from / float64(k+1))
		squares += float64(from * (rise - mean))
	}
	if mean-mean != 0 {
		return v.broken()
	}
	v.Rise = mean - v.divergence(v.Last) + v.divergence(third)
	v.Error = math.Sqrt(squares / float64(n*(n-1)))
	return nil
}

// settled is the rise of the ELBO for which a descent counts as arrived: a nat or, of many parameters, a hundredth for each, by which
// means are off by about .14 of their standard deviation.
func settled(parameters int) float64 { return max(1, 0.01*float64(parameters)) }

// findings says if the ELBO was still on its way, by more than three standard errors, and that validation chose the posterior.
func (v *variational) findings() (found []finding.Finding) {
	if v.Keep == KeepValidation {
		return []finding.Finding{finding.Of(finding.ChosenByValidation{Field: pathOfVI + ".keep", Value: KeepValidation})}
	}
	if !(math.Abs(v.Rise) <= max(settled(len(v.random)), 3*v.Error)) {
		found = append(found, finding.Of(finding.ELBOUnsettled{
			By: math.Abs(v.Rise), SE: v.Error, Epochs: v.VI.Epochs, Twice: 2 * v.VI.Epochs, Rose: v.Rise > 0,
		}))
	}
	return found
}
