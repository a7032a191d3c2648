// Package smc lets a population of weighted particles follow a path of targets.
//
// One loop, Sampler.Step, with four exchangeable parts:
//
//	Path        which target comes next?               Tempering, Ladder, Fixed, Schedule, SDA, Warm
//	Move        how does a particle travel?            mcmc.HMC, mcmc.PCN, mcmc.Unadjusted
//	Weighting   what is the move worth?                Reversal, Momentum
//	Resampler   when and how do the fit multiply?      multinomial, systematic, stratified, residual
//
// Adaptive tempering with moves of accept/reject is the SMC sampler of scalable-bayesian-monte-carlo, section 3.2; a
// Fixed path makes the particles chains (section 3.3). A Schedule or SDA, moves without accept/reject and the weight
// Momentum are data annealing (data-annealing-smc, section 3): the targets are those of batches of examples, which grow as
// the path says. Islands are independent samplers, combined by Combine (scalable-bayesian-monte-carlo, section 3.4). A
// Step takes a State to the next State and reports an Info; all that goes on is in the State, Info is only looked at.
package smc

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Sampler is one island's settings. Model, Prior, Path, Move and Particles must be set; other zero values are
// defaults. A Sampler keeps scratch memory: use it for one State at a time, and do not copy it once used.
type Sampler struct {
	Model     mcmc.Model
	Prior     mcmc.Prior
	Path      Path
	Move      mcmc.Move
	Mutations Mutations // moves an iteration; zero: 1
	Weighting Weighting // nil: Momentum for mcmc.Unadjusted, Reversal for all others
	Resample  Resampler // zero: multinomial if ESS < J/2
	Particles int       // J
	Start     []float64 // J×D, where the particles start; nil: draws from the prior. Each is evaluated, also where they are equal
	Keep      int       // states that a Fixed path keeps, of all particles together, evenly over the second half; 0: only the last

	Seed   uint64
	Island int        // number of this sampler among those with the same seed
	Pool   *pool.Pool // for work on long particles; nil: none. The Model has its own

	work      mcmc.Work
	orders    [2]order  // of the examples
	before    State     // as it was when the step began
	ancestors []int32   // of the particles, in before
	place     []int32   // of the particles' parents, among those that differ
	change    []float64 // log π_k − log π_{k−1}
	energy    []float64 // ΔH, summed over mutations
	scratch   []float64 // J
}

// Info is what there is to see of one iteration.
type Info struct {
	Island       int
	K            int     // iterations made, this one included
	Progress     float64 // 0…1, on the path
	Lambda       float64 // λ of the target
	Examples     int     // that the target sees, with those that have settled
	Settled      int     // of them
	Warm         bool    // the iteration led to the path's first target
	ESS          float64 // effective sample size before resampling; Momentum's weights are then those of the iterations before
	LogWeightVar float64 // variance of the log-weights then, nats²: (1/n) Σ (log w_j − mean)² over the n living particles
	Dead         int     // particles of weight 0 before resampling
	Resampled    bool
	Parents      int     // distinct parents in this resampling; J without
	Ancestors    int     // distinct first ancestors alive
	Mutations    int     // moves made
	Acceptance   float64 // mean acceptance probability
	Step         float64 // step size of the last move: h, or b of pCN
	EnergySpread float64 // standard deviation of ΔH over particles and mutations, where finite
	Broken       int     // proposals whose energy was NaN or infinite
	LogZ         float64 // log-evidence so far
	Epochs       float64 // passes over the examples that moves made so far, a particle
	Gradients    int     // evaluations of value and gradient so far, in examples, over all particles
	Values       int     // evaluations of the value alone, likewise
}

// Done says whether st is the end of the path.
func (s *Sampler) Done(st *State) bool { return s.Path.Done(st) }

// Step makes one iteration. After an error, a cancelled context included, st is as it was before.
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

// step is the algorithm.
func (s *Sampler) step(ctx context.Context, st *State) (info Info, err error) {
	stage, err := s.Path.Next(st) // which target comes next?
	if err != nil {
		return info, err
	}
	target, change := s.target(stage, st), []float64(nil)
	weighting := s.weighting()
	early := weighting.Early()
	if early {
		if change, err = s.retarget(ctx, st, target, stage); err != nil { // what is its change worth where the particles stand?
			return info, err
		}
	}
	if info.ESS, err = st.reweight(change); err != nil {
		return info, err
	}
	info.Dead, info.LogWeightVar = dead(st.LogW), logVariance(st.LogW)
	if info.Resampled = s.Resample.due(info.ESS, st.J); info.Resampled { // do the fit multiply?
		s.resample(st)
	}
	if change = nil; !early {
		if change, err = s.retarget(ctx, st, target, stage); err != nil {
			return info, err
		}
	}
	if err = s.mutate(ctx, st, target, &info); err != nil { // how does a particle travel?
		return info, err
	}
	if _, err = st.reweight(weighting.After(change, s.energy)); err != nil { // what is the move worth?
		return info, err
	}
	s.record(st, &info)
	return info, nil
}

// reweight adds increments, if there are any, to the log-weights and their log-mean to the evidence, and returns the
// effective sample size.
func (st *State) reweight(increments []float64) (ess float64, err error) {
	for j, l := range increments {
		st.LogW[j] += l
	}
	logSum, ess, err := Normalise(st.LogW)
	if increments != nil {
		st.LogZ += logSum // the weights before were normalised: this is log Σ_j W_j e^{increment}, the 1/J included
	}
	return ess, err
}

// resample makes the particles copies of their ancestors, with all that belongs to them, of equal weight.
func (s *Sampler) resample(st *State) {
	weights(st.LogW, s.scratch)
	key := rng.Key{Seed: s.Seed, Purpose: rng.Resample, Island: s.Island, Iteration: st.K}
	s.Resample.Scheme.Ancestors(s.scratch, key.Stream().Float64, s.ancestors)

	s.work.Proposal.Gather(s.Pool, &st.Population, s.ancestors)
	st.Population, s.work.Proposal = s.work.Proposal, st.Population
	for j, a := range s.ancestors {
		st.Roots[j] = s.before.Roots[a]
		st.LogW[j] = -rng.Log(float64(st.J))
	}
}

// mutate moves all particles, as often as s.Mutations says and the budget allows.
func (s *Sampler) mutate(ctx context.Context, st *State, target *mcmc.Target, info *Info) error {
	clear(s.energy)
	var spread spread
	for dist := 0.0; ; {
		now := s.moment(st, target)
		now.Key.Mutation = info.Mutations
		out, err := s.Move.Mutate(ctx, &s.work, target, &st.Population, st.Tuning, now)
		if err != nil {
			return err
		}
		info.Mutations++
		info.Broken += out.Broken
		info.Step = out.Step
		for j, a := range out.Probability {
			info.Acceptance += a
			s.energy[j] += out.Energy[j]
			spread.add(out.Energy[j])
		}
		st.Spent += out.Gradients + out.Values
		st.Gradients += st.J * out.Gradients
		st.Values += st.J * out.Values

		last := dist
		if s.Mutations.Eta > 0 {
			dist = s.displacement(st)
		}
		budget := s.Path.Budget(st)
		if s.Mutations.enough(info.Mutations, last, dist) || budget > 0 && st.Spent >= budget {
			info.Acceptance /= float64(st.J * info.Mutations)
			info.EnergySpread = spread.sd()
			return nil
		}
	}
}

// moment tells a move where in the run it is.
func (s *Sampler) moment(st *State, target *mcmc.Target) mcmc.Moment {
	now := mcmc.Moment{Key: rng.Key{Seed: s.Seed, Island: s.Island, Iteration: st.K}}
	if budget := s.Path.Budget(st); budget > 0 {
		n := max(1, target.Examples())
		now.Progress = float64(st.Spent) / float64(budget)
		now.Left = max(1, (budget-st.Spent+n-1)/n)
	}
	return now
}

// record ends the iteration: it keeps the states that are due and fills in the rest of info.
func (s *Sampler) record(st *State, info *Info) {
	st.K++
	if st.Warm {
		st.Warmed++
	}
	budget := s.Path.Budget(st)
	// State i = 1…n of each particle is due at (1 + i/n)/2 of the budget.
	if n := s.Keep / st.J; n > 0 && 2*n*st.Spent >= budget*(n+len(st.KeptLL)/st.J+1) {
		st.Kept = append(st.Kept, st.Theta...)
		st.KeptLL = append(st.KeptLL, st.LL...)
	}
	info.Island, info.K, info.Lambda, info.LogZ = s.Island, st.K, st.Lambda, st.LogZ
	info.Examples, info.Settled, info.Warm = st.examples(st.Examples), st.Settled, st.Warm
	info.Progress = s.Path.Progress(st)
	info.Parents, info.Ancestors = s.places(), s.lines(st)
	info.Epochs, info.Gradients, info.Values = st.Epochs(), st.Gradients, st.Values
}

// lines counts the first ancestors of the living.
func (s *Sampler) lines(st *State) (n int) {
	clear(s.scratch)
	for j, r := range st.Roots {
		if s.scratch[r] == 0 && !math.IsInf(st.LogW[j], -1) {
			s.scratch[r] = 1
			n++
		}
	}
	return n
}

// spread is the variance of a stream of numbers (Welford 1962), those that are finite.
type spread struct{ n, mean, square float64 }

func (s *spread) add(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	s.n++
	d := x - s.mean
	s.mean += d / s.n
	s.square += float64(d * (x - s.mean))
}

func (s *spread) variance() float64 { return s.square / max(1, s.n) }

func (s *spread) sd() float64 { return math.Sqrt(s.variance()) }
