// Package smc lets a population of weighted particles follow a path of targets.
//
// One loop, Sampler.Step, with four exchangeable parts:
//
//	Path        which target comes next?               Paths; Fixed, Ladder, TemperedStart
//	Move        how does a particle travel?            mcmc.Moves
//	Weighting   what is the move worth?                Weightings
//	Resampler   when and how are particles resampled?  Schemes, Occasions
//
// Adaptive tempering with moves of accept/reject is the SMC sampler of scalable-bayesian-monte-carlo, section 3.2; a
// Fixed path makes the particles chains (section 3.3). A Schedule or SDA with moves without accept/reject and the weighting
// Momentum is data annealing (data-annealing-smc, section 3): targets see batches of examples, which grow along the path.
// Islands are independent samplers, combined by Combine (scalable-bayesian-monte-carlo, section 3.4).
//
// A Step advances a State and returns an Info. A run resumes from the State alone; Info is for diagnostics.
package smc

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// Sampler is one island's settings. Model, Prior, Path, Move and Particles must be set; other zero values are
// defaults. A Sampler keeps scratch memory: use it for one State at a time, and do not copy it once used.
type Sampler struct {
	Model     mcmc.Model
	Prior     mcmc.Prior
	Path      Targets
	Move      mcmc.Kernel
	Weighting Weigher   // nil: DefaultWeighting of the move
	Resample  Resampler // zero: multinomial if ESS < J/2
	Particles int       // J
	Start     []float64 // J×D, first positions of the particles; nil: draws from the prior. Each is evaluated, even if some are equal
	Keep      int       // states kept of all particles together, evenly over the second half, on a path with a budget such as Fixed; 0: only the last

	Seed   uint64
	Island int        // number of this sampler; islands of one run share the seed
	Pool   *pool.Pool // threads for particles with many parameters; nil: none. The Model has its own pool

	work      mcmc.Work
	orders    [2]order  // of the examples
	before    State     // the state when the step began
	ancestors []int32   // J, the index in before of each particle's parent
	place     []int32   // J, the number of that parent among the distinct ones
	change    []float64 // log π_k − log π_{k−1}
	energy    []float64 // ΔH, summed over mutations
	scratch   []float64 // J
	centre    []float64 // D, the particles' mean
	tuned     int       // number of values that the move tunes, once counted
	counted   bool
}

// Done reports whether st is the end of the path.
func (s *Sampler) Done(st *State) bool { return s.Path.Done(st) }

// Step makes one iteration. After an error, also of a cancelled context, st is unchanged.
func (s *Sampler) Step(ctx context.Context, st *State) (Info, error) {
	if err := s.prepare(st); err != nil {
		return Info{}, err
	}
	s.before.copy(st)
	info, err := s.step(ctx, st)
	if err != nil {
		*st, s.before = s.before, *st
		return Info{}, fmt.Errorf("island %d, iteration %d: %w", s.Island, st.K, err)
	}
	return info, nil
}

// Undo takes back the last Step: st is as it was before. It must be called at most once after a Step that succeeded on st, and
// before Release.
func (s *Sampler) Undo(st *State) { *st, s.before = s.before, *st }

// step is the algorithm.
func (s *Sampler) step(ctx context.Context, st *State) (info Info, err error) {
	stage, err := s.Path.Next(st) // which target comes next?
	if err != nil {
		return info, err
	}
	target, weighting := s.target(stage, st), s.weighting()
	early := weighting.Early()
	if !early {
		if err = s.selection(st, nil, &info); err != nil { // which particles multiply, by the weights of earlier iterations?
			return info, err
		}
	}
	change, err := s.retarget(ctx, st, target, stage) // what is the change of target worth at the particles?
	if err != nil {
		return info, err
	}
	if early {
		if err = s.selection(st, change, &info); err != nil { // … or by this change as well?
			return info, err
		}
		change = nil // it is in the weights
	}
	if err = s.mutate(ctx, st, target, &info); err != nil { // how does a particle travel?
		return info, err
	}
	if _, err = st.reweight(weighting.After(&st.Population, change, s.energy)); err != nil { // what is the move worth?
		return info, err
	}
	s.record(st, &info)
	return info, nil
}

// selection adds increments, if there are any, to the log-weights and resamples if the Resampler says so.
func (s *Sampler) selection(st *State, increments []float64, info *Info) (err error) {
	if info.ESS, err = st.reweight(increments); err != nil {
		return err
	}
	info.Dead, info.LogWeightVar = dead(st.LogW), numeral.Number(logVariance(st.LogW))
	if info.Resampled = s.Resample.when().Due(info.ESS, st.J); info.Resampled {
		s.resample(st)
	}
	return nil
}

// resample replaces the particles by copies of their parents, with all cached values, and makes the weights equal.
func (s *Sampler) resample(st *State) {
	weights.Exp(st.LogW, s.scratch)
	key := rng.Key{Seed: s.Seed, Purpose: rng.Resample, Island: s.Island, Iteration: st.K}
	s.Resample.scheme().Ancestors(s.scratch, key.Stream().Float64, s.ancestors)

	s.work.Proposal.Gather(s.Pool, &st.Population, s.ancestors)
	st.Population, s.work.Proposal = s.work.Proposal, st.Population
	for j, a := range s.ancestors {
		st.Roots[j] = s.before.Roots[a]
		st.LogW[j] = -rng.Log(float64(st.J))
	}
}

// record ends the iteration: it increments K, keeps the states that are due and completes info.
func (s *Sampler) record(st *State, info *Info) {
	st.K++
	if path, ok := s.Path.(rememberer); ok {
		st.Memory = path.Remember(st)
	}
	budget := s.Path.Budget(st)
	// State i = 1…n of each particle is due at (1 + i/n)/2 of the budget.
	if n := s.Keep / st.J; n > 0 && 2*n*st.Spent >= budget*(n+len(st.KeptLL)/st.J+1) {
		st.Kept = append(st.Kept, st.Theta...)
		st.KeptLL = append(st.KeptLL, st.LL...)
	}
	info.Island, info.K, info.Progress = s.Island, st.K, s.Path.Progress(st)
	info.Lambda, info.Examples, info.Annealed = st.Lambda, st.Annealed+st.Rows.size(st.Examples), st.Annealed
	info.LogZ, info.LogLikelihood = numeral.Number(st.LogZ), numeral.Number(st.logLikelihood())
	info.Parents, info.Ancestors = s.places(), s.survivors(st)
	info.Displacement = numeral.Number(s.relativeDisplacement(st))
	info.Epochs, info.Gradients, info.Values = st.Epochs(), st.Gradients, st.Values
}

// rememberer is a path that keeps something in State.Memory.
type rememberer interface{ Remember(st *State) []int }

// survivors counts the first ancestors of the particles alive.
func (s *Sampler) survivors(st *State) (n int) {
	clear(s.scratch)
	for j, r := range st.Roots {
		if s.scratch[r] == 0 && !math.IsInf(st.LogW[j], -1) {
			s.scratch[r] = 1
			n++
		}
	}
	return n
}
