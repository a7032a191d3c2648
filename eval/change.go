package eval

import (
	"context"
	"math"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/uq"
)

// Change is the Monte Carlo error of what chains predict together, as the spread between the predictions of the single chains tells it. R-hat
// compares that spread with the spread within a chain; Change says what it does to the predictions, so it is what a reader is warned by.
//
// Chain c of C predicts p_c(k) for class k, p̄ is their mean, and s_k² the variance of p_c(k) over the chains. So p̄(k) has the variance
// s_k²/C, and its distance from what endlessly many such chains predict costs, to second order (Kullback and Leibler 1951),
//
//	NLL = Σ_k s_k²/(2 C p̄_k)
//
// For numbers it is that of two normal distributions, with v the mean predicted variance of the chains and the variance of their means:
//
//	NLL = var(μ_c)/(2 C v) + var(ln σ_c)/C
//
// Both are means over the inputs that Chains compares. A single chain is compared by its two halves.
type Change struct {
	NLL  uq.Number `json:"nll"`        // nats an example
	Mean uq.Number `json:"prediction"` // standard error: of the class probabilities (total variation), or of a predicted mean in predicted standard deviations

	Numbers bool `json:"numbers,omitempty"` // the predictions are numbers, not classes

	// Limit is the NLL up to which the error does not matter: the standard error of the posterior's NLL on the examples evaluated on, as these
	// cannot tell less, but at least leastLimit and at most mostLimit.
	Limit uq.Number `json:"limit"`
}

// A probability of one half that is off by .07, or a mean that is off by .14 of the predicted standard deviation, costs .01 nats; by .16 and by
// .32, .05 nats.
const (
	leastLimit = .01
	mostLimit  = .05
)

// limit sets the Limit by the posterior's losses. Where their standard error is no number, it is the least.
func (c *Change) limit(losses []float64) {
	if c == nil {
		return
	}
	limit := leastLimit
	if _, se := uq.MeanSE(losses); se > limit {
		limit = min(se, mostLimit)
	}
	c.Limit = uq.Number(limit)
}

// changes compares what the chains of a posterior predict for a set, of being the chain of each particle; nil if there is nothing to compare: one chain of one state.
func changes(ctx context.Context, e *bnn.Ensemble, of []int32, set *data.Set, p *pool.Pool) (*Change, error) {
	parts, err := apart(e, of)
	if err != nil || len(parts) < 2 {
		return nil, err
	}
	var each []chainMean
	for _, logWeights := range parts {
		one := *e
		one.LogWeights = logWeights
		v, err := ofChain(ctx, &one, set, p)
		if err != nil {
			return nil, err
		}
		each = append(each, v)
	}
	return compareMeans(each, set.Len()), nil
}

// apart returns the log-weights of each chain alone, or of the two halves of a single chain.
func apart(e *bnn.Ensemble, of []int32) (parts [][]float64, err error) {
	if slices.Max(of) == 0 {
		of = slices.Clone(of)
		for j := range of {
			of[j] = int32(2 * j / len(of))
		}
	}
	for c := range slices.Max(of) + 1 {
		logWeights, some := slices.Clone(e.LogWeights), false
		for j, chain := range of {
			if chain != c {
				logWeights[j] = math.Inf(-1)
			}
			some = some || logWeights[j] > math.Inf(-1)
		}
		if !some {
			continue
		}
		if _, _, err := weights.Normalise(logWeights, "particle"); err != nil {
			return nil, err
		}
		parts = append(parts, logWeights)
	}
	return parts, nil
}

// chainMean is what one chain predicts: probabilities [n, classes]; or means and standard deviations [n, outputs].
type chainMean struct{ probs, mean, sd []float64 }

func ofChain(ctx context.Context, e *bnn.Ensemble, set *data.Set, p *pool.Pool) (v chainMean, err error) {
	if !e.Net.Likelihood().Regression() {
		u, err := e.Predict(ctx, set, p)
		if err == nil {
			v.probs = u.Probs
		}
		return v, err
	}
	r, err := e.PredictRegression(ctx, set, nil, p)
	if err != nil {
		return v, err
	}
	v.mean = r.Mean
	for i, a := range r.Aleatoric {
		v.sd = append(v.sd, math.Sqrt(float64(a*a)+float64(r.Epistemic[i]*r.Epistemic[i])))
	}
	return v, nil
}

// compareMeans is the Change of what several chains predict for n examples.
func compareMeans(chains []chainMean, n int) *Change {
	c, nll, by := float64(len(chains)), 0.0, 0.0
	for i := range chains[0].probs {
		mean, variance := moments(chains, func(p chainMean) float64 { return p.probs[i] })
		if !(variance <= 0) { // a class that no chain thinks possible adds nothing
			nll += variance / (2 * c * mean)
		}
		by += float64(math.Sqrt(variance/c) / 2)
	}
	outputs := len(chains[0].mean) / n
	for i := range chains[0].mean {
		_, variance := moments(chains, func(p chainMean) float64 { return p.mean[i] })
		within, _ := moments(chains, func(p chainMean) float64 { return float64(p.sd[i] * p.sd[i]) })
		_, logs := moments(chains, func(p chainMean) float64 { return rng.Log(p.sd[i]) })
		v := within + float64(variance*(c-1)/c)
		nll += variance/(2*c*v) + logs/c
		by += math.Sqrt(variance/c/v) / float64(outputs)
	}
	return &Change{NLL: uq.Number(nll / float64(n)), Mean: uq.Number(by / float64(n)), Numbers: chains[0].mean != nil}
}

// moments are the mean and the variance of a number over the chains.
func moments(chains []chainMean, of func(chainMean) float64) (mean, variance float64) {
	n := float64(len(chains))
	for _, c := range chains {
		mean += of(c) / n
	}
	for _, c := range chains {
		d := of(c) - mean
		variance += float64(d*d) / (n - 1)
	}
	return mean, variance
}

// found is the change as findings have it; the zero value if it is not known.
func (c *Change) found() finding.Change {
	if c == nil {
		return finding.Change{}
	}
	return finding.Change{Cost: &c.NLL, By: &c.Mean, Limit: &c.Limit, Numbers: c.Numbers}
}
