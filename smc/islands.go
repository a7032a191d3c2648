package smc

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// Watch is called with the state between iterations. It must neither change nor keep the state; an error stops the run.
type Watch func(st *State, info Info) error

// Run steps st to the end of the path. watch, if not nil, is called after every iteration. After an error st is the last
// complete state.
func (s *Sampler) Run(ctx context.Context, st *State, watch Watch) error {
	for !s.Done(st) {
		info, err := s.Step(ctx, st)
		if err != nil {
			return err
		}
		if watch != nil {
			if err := watch(st, info); err != nil {
				return err
			}
		}
	}
	return nil
}

// RunIslands is for programs that sample without a config. It runs independent samplers, which must differ in Island, on the
// threads of workers, and returns their last states in the same order. watch is called by several islands at the same time,
// though never twice by one. The first error stops all islands; every state is then the last complete one, nil for an island
// that has not begun.
func RunIslands(ctx context.Context, workers *mcmc.Pool, islands []*Sampler, watch Watch) ([]*State, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	states := make([]*State, len(islands))
	workers.Run(len(islands), func(i int) {
		s := islands[i]
		st, err := s.Init(ctx)
		if err == nil {
			states[i] = st
			err = s.Run(ctx, st, watch)
		}
		if err != nil {
			stop(err)
		}
		s.Release()
	})
	return states, context.Cause(ctx)
}

// Release frees scratch memory. An island that waits for others does not need it.
func (s *Sampler) Release() { s.work, s.before, s.origin, s.ascent = mcmc.Work{}, State{}, nil, nil }

// Combined holds the weights of islands by evidence, and the evidence of the run.
type Combined struct {
	Omega     []float64 // normalised weights of the islands by evidence, exp(log Z_p) / Σ_q exp(log Z_q)
	Effective float64   // effective number of islands by these weights, 1/Σ_p ω_p²
	LogZ      float64   // log-evidence of the run: logarithm of the mean of Z_p
	SD        float64   // standard deviation of log Z_p over the islands; NaN for one island
	Jackknife float64   // standard error of LogZ by leaving out one island after the other; NaN for one island
}

// Combine weights islands by their evidence (scalable-bayesian-monte-carlo, eq. (5) and Appendix D). An estimate is Σ_p ω_p
// Σ_i W_i φ(θ_{i,p}) with the weights W within the island; equal weights 1/P in place of ω are consistent as the number of
// particles of an island grows, and are better where the evidences differ by noise (section 6, A12). Chains have log Z_p = 0,
// so their weights are equal in both cases.
func Combine(logZ []float64) (Combined, error) {
	c := Combined{Omega: make([]float64, len(logZ))}
	logW := append([]float64(nil), logZ...)
	sum, effective, err := weights.Normalise(logW, "island")
	if err != nil {
		return Combined{}, fmt.Errorf("combining islands by their evidence: %w", err)
	}
	weights.Exp(logW, c.Omega)
	c.Effective, c.LogZ = effective, sum-rng.Log(float64(len(logZ)))
	var mean, square float64
	for _, z := range logZ {
		mean += z / float64(len(logZ))
	}
	for _, z := range logZ {
		square += float64((z - mean) * (z - mean))
	}
	c.SD = math.Sqrt(square / float64(len(logZ)-1))
	c.Jackknife = math.NaN()
	if len(logZ) > 1 {
		c.Jackknife = jackknife(c.Omega)
	}
	return c, nil
}

// jackknife is the standard error of log (1/P) Σ_p Z_p by its P values without one of the islands (Efron and Stein 1981),
//
//	L_p = log (1/(P−1)) Σ_{q≠p} Z_q = LogZ + log(1 − ω_p) + log(P/(P−1)),   se² = (P−1)/P Σ_p (L_p − mean L)².
//
// SD/√P is the error of the mean of log Z_p instead, which lies below the logarithm of the mean. Both agree where SD is small. Where one island
// has nearly all the weight, the jackknife is large: without that island little is left.
func jackknife(omega []float64) float64 {
	n := float64(len(omega))
	without := make([]float64, len(omega))
	var mean, square float64
	for p := range without {
		rest := 0.0
		for q, w := range omega {
			if q != p {
				rest += w
			}
		}
		without[p] = rng.Log(rest)
		mean += without[p] / n
	}
	for _, l := range without {
		square += float64((l - mean) * (l - mean))
	}
	return math.Sqrt((n - 1) / n * square)
}
