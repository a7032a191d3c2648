package bnn

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// LogDensity is the log of the ensemble's predictive density at the targets y_i of a set's examples, in nats, for a
// network with gaussian likelihood and K outputs:
//
//	log p(y_i) = log Σ_j W_j Π_k N(y_ik; μ_ijk, σ_j²)
//
// The mixture itself, not the normal density of its mean and variance. An error says that the set has no such targets
// or does not fit the network, that the network predicts classes, or is that of ctx.
func (e *Ensemble) LogDensity(ctx context.Context, set *data.Set, p *pool.Pool) ([]float64, error) {
	gaussian, ok := e.Net.Likelihood().(nn.Gaussian)
	if !ok {
		return nil, fmt.Errorf("a network with classes has no density of values")
	}
	n, k := set.Len(), e.Net.Outputs()
	if len(set.Values) != n*k {
		return nil, fmt.Errorf("data set %q has %d target values for %d examples, the network predicts %d each", set.Name, len(set.Values), n, k)
	}
	top, sum := make([]float64, n), make([]float64, n) // of each example: Σ_j = e^top·sum
	for i := range top {
		top[i] = math.Inf(-1)
	}
	weights, total := e.weights(), 0.0
	for _, w := range weights {
		total += w
	}
	err := e.stream(ctx, set, p, func(first, count int) func(particle int, out []float32) {
		return func(particle int, out []float32) {
			sd := e.noise(gaussian, particle)
			peak := rng.Log(weights[particle]/total) - float64(float64(k)*rng.Log(sd*math.Sqrt(2*math.Pi)))
			for i := first; i < first+count; i++ {
				l := peak
				for c := range k {
					z := (float64(set.Values[i*k+c]) - float64(out[(i-first)*k+c])) / sd
					l -= float64(0.5 * float64(z*z))
				}
				switch {
				case l > top[i]:
					sum[i] = float64(sum[i]*rng.Exp(top[i]-l)) + 1
					top[i] = l
				case !math.IsInf(l, -1):
					sum[i] += rng.Exp(l - top[i])
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i, s := range sum {
		top[i] += rng.Log(s)
	}
	return top, nil
}

// noise is the standard deviation that particle j gives to an output.
func (e *Ensemble) noise(lik nn.Gaussian, j int) float64 {
	if lik.Learned {
		return rng.Exp(float64(e.Theta[(j+1)*e.Net.Dim()-1]))
	}
	return lik.SD
}
