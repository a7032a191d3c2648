package eval

import (
	"context"
	"math"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/uq"
)

// comparison has a value for each prediction.
type comparison struct {
	rHat [][]float64 // of all chains, and then without each of them in turn, if that is asked for
	ess  []float64
	iact []float64 // mean over the chains
}

// long reports whether at least half of the predictions have 50 autocorrelation times.
func (d *comparison) long(states int) bool { return float64(states) >= 50*nearestRank(d.iact, 0.5) }

// chainOf is the chain of each particle, for so many chains an island: an island has the states of all its chains at one time, then those of
// the next.
func chainOf(e *bnn.Ensemble, together int) []int32 {
	chains, begin := make([]int32, e.Size()), 0
	for j, island := range e.Island {
		if j > 0 && island != e.Island[j-1] {
			begin = j
		}
		chains[j] = island*int32(together) + int32((j-begin)%together)
	}
	return chains
}

// statesOf are the states of each chain in an ensemble.
type statesOf [][]int

// byChain finds the states of each chain: as many of the last ones as all have.
func byChain(of []int32) statesOf {
	chains, least := make(statesOf, slices.Max(of)+1), len(of)
	for j, c := range of {
		chains[c] = append(chains[c], j)
	}
	for _, states := range chains {
		least = min(least, len(states))
	}
	for c, states := range chains {
		chains[c] = states[len(states)-least:]
	}
	return chains
}

// each is the number of states of a chain.
func (s statesOf) each() int { return len(s[0]) }

// of returns the values of each chain.
func (s statesOf) of(values []float64) (chains [][]float64) {
	for _, states := range s {
		chain := make([]float64, len(states))
		for i, j := range states {
			chain[i] = values[j]
		}
		chains = append(chains, chain)
	}
	return chains
}

// comparePredictions compares what the chains predict for a set. Without an answer a value is NaN. The autocorrelation time of
// a chain that stands still is infinite.
func comparePredictions(ctx context.Context, e *bnn.Ensemble, chains statesOf, set *data.Set, few bool, p *pool.Pool) (*comparison, error) {
	each := 1
	if e.Net.Likelihood().Regression() {
		each = e.Net.Targets()
	}
	d := &comparison{rHat: make([][]float64, 1), ess: make([]float64, set.Len()*each), iact: make([]float64, set.Len()*each)}
	if few {
		d.rHat = make([][]float64, 1+len(chains))
	}
	for i := range d.rHat {
		d.rHat[i] = make([]float64, set.Len()*each)
	}
	err := e.Particles(ctx, set, p, func(i int, values [][]float64) {
		for v, of := range values {
			at, states := i*each+v, chains.of(of)
			d.rHat[0][at] = mcmc.RHat(states)
			if few {
				for c, without := range withoutEach(states) {
					d.rHat[1+c][at] = without
				}
				continue
			}
			d.ess[at], d.iact[at] = mcmc.BulkESS(states), meanIACT(states)
		}
	})
	return d, err
}

// meanIACT is the mean over the chains: NaN if no state differs from another one, +Inf if a chain stands still.
func meanIACT(chains [][]float64) float64 {
	sum := 0.0
	for _, chain := range chains {
		tau, _ := mcmc.IACT(chain)
		if math.IsNaN(tau) && !math.IsNaN(mcmc.RHat(chains)) {
			tau = math.Inf(1)
		}
		sum += tau
	}
	return sum / float64(len(chains))
}

// withoutEach returns R-hat without each chain in turn.
func withoutEach(chains [][]float64) []float64 {
	rHat := make([]float64, len(chains))
	for c := range chains {
		rHat[c] = mcmc.RHat(slices.Delete(slices.Clone(chains), c, c+1))
	}
	return rHat
}

// interval is the jackknife's interval; nil if it has none.
func interval(all float64, without []float64) *[2]uq.Number {
	low, high := mcmc.Jackknife(all, without)
	if math.IsNaN(low) || math.IsNaN(high) {
		return nil
	}
	return &[2]uq.Number{uq.Number(low), uq.Number(high)}
}

// nearestRank is the quantile of values by the nearest rank: the smallest value that a share of them does not exceed. NaN is
// left out, where a prediction is the same for all states; +Inf is a value. It is NaN without values.
func nearestRank(values []float64, share float64) float64 {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}
