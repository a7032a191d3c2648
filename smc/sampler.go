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
	"math"

	"github.com/starling-smc/starling/internal/numeral"
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
	Resample  Resampler // zero: multinomial, when the path says
	Particles int       // J
	Start     []float64 // J×D, first positions of the particles; nil: draws from the prior. Each is evaluated, even if some are equal
	Keep      int       // states kept of all particles together, evenly over the second half, on a path with a budget such as Fixed; 0: only the last, which is no draw for moves that select (mcmc.Move). Fewer if moves that vary, as NUTS does, are fewer

	Seed   uint64
	Island int        // number of this sampler; islands of one run share the seed
	Pool   *mcmc.Pool // threads for particles with many parameters; nil: none. The Model has its own pool

	work      mcmc.Work
	orders    [2]order  // of the examples
	before    State     // the state when the step began
	ancestors []int32   // J, the index in before of each particle's parent
	place     []int32   // J, the number of that parent among the distinct ones
	change    []float64 // log π_k − log π_{k−1}
	energy    []float64 // ΔH, summed over mutations
	scratch   []float64 // J
	centre    []float64 // D, the particles' mean, or the vector that one was carried along
	tuned     int       // number of values that the move tunes, once counted
	counted   bool
}

// Done reports whether st is the end of the path.
func (s *Sampler) Done(st *State) bool { return s.Path.Done(st) }

// step is the algorithm, without what is only looked at: see record.
func (s *Sampler) step(ctx context.Context, st *State) (info Info, err error) {
	last, spent := st.Stage, st.Spent
	stage, err := s.Path.Next(st) // which target comes next?
	if err != nil {
		return info, err
	}
	target, weighting := s.target(stage, st), s.weighting()
	early := weighting.Early()
	if !early {
		if err = s.weigh(st, nil, &info); err != nil {
			return info, err
		}
		s.choose(st, &info) // which particles multiply, by the weights of earlier iterations?
	}
	change, err := s.retarget(ctx, st, target, stage) // what is the change of target worth at the particles?
	if err != nil {
		return info, err
	}
	if early { // … or by this change as well?
		if err = s.weigh(st, change, &info); err != nil {
			return info, err
		}
		change = nil // it is in the weights
	}
	if err = s.begin(ctx, st, target, last, &info); err != nil { // which step and scale suit the target?
		return info, err
	}
	if early {
		s.choose(st, &info)
	}
	if err = s.mutate(ctx, st, target, &info); err != nil { // how does a particle travel?
		return info, err
	}
	if err = st.checkMoved(); err != nil {
		return info, err
	}
	if _, err = st.reweight(weighting.After(&st.Population, change, s.energy)); err != nil { // what is the move worth?
		return info, err
	}
	s.advance(st, spent)
	return info, nil
}

// weigh adds increments, if there are any, to the log-weights.
func (s *Sampler) weigh(st *State, increments []float64, info *Info) (err error) {
	if info.ESS, err = st.reweight(increments); err != nil {
		return err
	}
	info.Dead, info.LogWeightVar = dead(st.LogW), numeral.Number(logVariance(st.LogW))
	return nil
}

// choose resamples if the Resampler says so.
func (s *Sampler) choose(st *State, info *Info) {
	if info.Resampled = s.Resample.when(s.Path).Due(info.ESS, st.J); info.Resampled {
		s.resample(st)
	}
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

// advance ends an iteration that began with spent: it increments K and keeps the states that are due.
func (s *Sampler) advance(st *State, spent int) {
	st.K++
	if path, ok := s.Path.(rememberer); ok {
		st.Memory = path.Remember(st)
	}
	switch n, budget := s.Keep/st.J, s.Path.Budget(st); {
	case n == 0:
	case !s.varies():
		st.keep(n, budget)
	case 2*spent >= budget:
		st.keepByMoves(n, s.Done(st))
	}
}

// record completes info by what st shows.
func (s *Sampler) record(st *State, info *Info) {
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
