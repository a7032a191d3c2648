package bnn

import (
	"context"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Draws says how targets are drawn from the predictive distribution of an ensemble.
type Draws struct {
	N     int    // draws of each example
	Seed  uint64 // decides the network of a draw and, with the number of an example, what it predicts
	First int    // the number of the first example of the set, where it is a part of a larger one
}

// Draw draws targets of every example of a set: Draws[(i·N + d)·K + k] is draw d of target k of example i, for a regression on the scale on which
// the network was trained, and for classes the number of the class, −1 where the network overflows. Targets of the set are ignored.
//
// Draw d is of one network, which is network j with probability W_j, for all examples: y_ik ~ N(μ_ijk, σ_ijk²), or the Student-t of that scale, or class c with probability
// p_ijc. So draw d of some examples is a draw from their joint predictive distribution, and any function of them, such as a sum, has the
// distribution that the ensemble predicts for it. Neither the other examples of the set, the number of draws nor the threads change a draw.
func (e *Ensemble) Draw(ctx context.Context, set *data.Set, by Draws, p *nn.Pool) ([]float64, error) {
	model, err := nn.NewModel(e.Net, set, p)
	if err != nil {
		return nil, err
	}
	one, k := e.drawn, max(1, e.Net.Targets())
	if !e.Net.Likelihood().Regression() {
		probabilities, err := e.probabilities()
		if err != nil {
			return nil, err
		}
		one = func(s *rng.Stream, _ int, out []float32, to []float64) {
			m := uq.NewMember(1, e.Net.Classes())
			probabilities(m, out)
			to[0] = float64(choose(m.Probs, s.Float64()))
		}
	}
	of := e.networks(by)
	chosen := slices.Compact(slices.Sorted(slices.Values(of)))
	place := make([]int, e.Size())
	for at, j := range chosen {
		place[j] = at
	}
	draws, outputs := make([]float64, set.Len()*by.N*k), e.Net.Outputs()
	err = e.blocks(ctx, model, chosen, func(first, n int, out []float32) {
		p.Run(n, func(i int) {
			s := rng.Key{Seed: by.Seed, Purpose: rng.Target, Iteration: by.First + first + i}.Stream()
			for d, j := range of {
				one(s, j, out[(place[j]*n+i)*outputs:][:outputs], draws[((first+i)*by.N+d)*k:][:k])
			}
		})
	})
	return draws, err
}

// networks chooses the network of each draw.
func (e *Ensemble) networks(by Draws) []int {
	weights, _ := exponentials([][]float64{e.LogWeights})
	sum := 0.0
	for _, w := range weights[0] {
		sum += w
	}
	s := rng.Key{Seed: by.Seed, Purpose: rng.Target, Island: 1}.Stream()
	of := make([]int, by.N)
	for d := range of {
		of[d] = choose(weights[0], float64(sum*s.Float64()))
	}
	return of
}

// drawn draws the targets of an example in the likelihood of network j, from its outputs.
func (e *Ensemble) drawn(s *rng.Stream, j int, out []float32, to []float64) {
	scale := make([]float64, len(to))
	df := e.Net.Likelihood().Predicts(out, e.own(j), to, scale)
	for c := range to {
		to[c] += float64(scale[c] * s.Normal() * tail(s, df))
	}
}

// tail draws what makes a normal number one of a Student-t: √(ν/(2γ)), γ ~ Gamma(ν/2, 1). It is 1 for normal noise, of df 0.
func tail(s *rng.Stream, df float64) float64 {
	if df == 0 {
		return 1
	}
	return rng.Exp(float64(0.5 * (rng.Log(df/2) - s.LogOfGamma(df/2))))
}

// choose is the number of the part in which u lies, if parts of these lengths follow each other from 0 on: the last that is not empty where
// rounding leaves a gap. It is −1 where a length is not a number.
func choose(lengths []float64, u float64) int {
	last, end := -1, 0.0
	for k, length := range lengths {
		if length != length {
			return -1
		}
		if length > 0 {
			if end += length; u < end {
				return k
			}
			last = k
		}
	}
	return last
}
