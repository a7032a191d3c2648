package smc

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Watch looks at a state between iterations. It must not change it, nor hold on to it; an error stops the run.
type Watch func(st *State, info Info) error

// Run takes st to the end of the path. watch, if not nil, is called after every iteration. After an error st is the
// last complete state.
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

// RunIsland is an island as a task for any machine: bytes in, bytes out. saved is a State (nil: begin), and so is the
// result. Since randomness is keyed, a task that was lost is done again, by anyone, with the same bits.
func (s *Sampler) RunIsland(ctx context.Context, saved []byte, watch Watch) ([]byte, error) {
	st := new(State)
	var err error
	if saved == nil {
		st, err = s.Init(ctx)
	} else {
		err = st.UnmarshalBinary(saved)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx, st, watch); err != nil {
		return nil, err
	}
	return st.MarshalBinary()
}

// RunIslands runs independent samplers, which must differ in Island, on the threads of workers, and returns their last
// states in the same order. saved has the states to go on from, and they are used up: one for each sampler, nil where it
// has not begun; nil: all begin. watch is called by several islands at the same time, though never twice by one. The
// first error ends all; every state is then the last complete one, nil where an island has not begun.
func RunIslands(ctx context.Context, workers *pool.Pool, islands []*Sampler, saved []*State, watch Watch) ([]*State, error) {
	if saved != nil && len(saved) != len(islands) {
		return nil, fmt.Errorf("%d saved states for %d islands", len(saved), len(islands))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	states := make([]*State, len(islands))
	copy(states, saved)
	workers.Run(len(islands), func(i int) {
		if err := islands[i].enter(ctx, &states[i], watch); err != nil {
			stop(err)
		}
		islands[i].release()
	})
	return states, context.Cause(ctx)
}

// enter takes st, or if it is nil a new state, to the end of the path.
func (s *Sampler) enter(ctx context.Context, st **State, watch Watch) (err error) {
	if *st == nil {
		if *st, err = s.Init(ctx); err != nil {
			*st = nil
			return err
		}
	}
	return s.Run(ctx, *st, watch)
}

// release gives scratch memory back, which islands that wait for others to end do not need.
func (s *Sampler) release() { s.work, s.before = mcmc.Work{}, State{} }

// Combined says how islands count when they are taken together.
type Combined struct {
	Omega     []float64 // normalised weights of the islands by evidence, exp(log Z_p) / Σ_q exp(log Z_q)
	Effective float64   // effective number of islands by these weights, 1/Σ_p ω_p²
	LogZ      float64   // log-evidence of the run: logarithm of the mean of Z_p
	SD        float64   // standard deviation of log Z_p over the islands; NaN for one island
}

// Combine weighs islands by their evidence (scalable-bayesian-monte-carlo, eq. (5) and Appendix D). An estimate is
// Σ_p ω_p Σ_i W_i φ(θ_{i,p}) with the weights W within the island; equal weights 1/P in place of ω are consistent as
// the islands grow, and better where the evidences scatter by chance (section 6, A12). Chains have log Z_p = 0, so
// their islands count the same either way.
func Combine(logZ []float64) (Combined, error) {
	c := Combined{Omega: make([]float64, len(logZ))}
	logW := append([]float64(nil), logZ...)
	sum, effective, err := Normalise(logW)
	if err != nil {
		return Combined{}, fmt.Errorf("combining islands by their evidence (a particle here is an island): %w", err)
	}
	weights(logW, c.Omega)
	c.Effective, c.LogZ = effective, sum-rng.Log(float64(len(logZ)))
	var mean, square float64
	for _, z := range logZ {
		mean += z / float64(len(logZ))
	}
	for _, z := range logZ {
		square += float64((z - mean) * (z - mean))
	}
	c.SD = math.Sqrt(square / float64(len(logZ)-1))
	return c, nil
}
