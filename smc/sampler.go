// Package smc lets a population of weighted particles follow a path of targets.
//
// One loop, Sampler.Step, with four exchangeable parts:
//
//	Path        which target comes next?               Paths; Fixed, TemperedStart
//	Move        how does a particle travel?            mcmc.Moves
//	Weighting   what is the move worth?                Weightings
//	Resampler   when and how are particles resampled?  Schemes, Occasions
//
// and two optional ones: a Learner moves the parameters that all particles share, a Keeper chooses the states of the ensemble.
//
// The methods of the papers are choices of these parts:
//
//	S-SMC       Tempering, moves with accept/reject (scalable-bayesian-monte-carlo, section 3.2)
//	S-HMC       Fixed, mcmc.HMC: particles are chains (scalable-bayesian-monte-carlo, section 3.3)
//	annealing   a Schedule or SDA, mcmc.Unadjusted, Momentum: batches grow along the path (data-annealing-smc, section 3)
//	SMC-SGHMC   Full, mcmc.Epoch, Bootstrap, After (smc-sghmc-ensembles, section 2.2)
//	GOHSMC      a Schedule, mcmc.Unadjusted of one step, Momentum, a Learner (guided-open-horizon-smc, section 3.2)
//	OHSMC       a Schedule, mcmc.Walk, Bootstrap, a Learner (guided-open-horizon-smc, section 3.3a)
//
// Islands are independent samplers, combined by Combine (scalable-bayesian-monte-carlo, section 3.4).
//
// A Step advances a State and returns an Info. A run resumes from the State alone; Info is for diagnostics.
package smc

import (
	"context"
	"fmt"
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
	WasteFree int       // m: the particles that an iteration moves, whose states along the way are the next population; 0: all move, and only where they end counts
	Keep      Keeper    // nil: only the last state, which is no draw for moves that select (mcmc.Traits)

	// Learn moves ψ, which all particles share, where the Model is a mcmc.Partial; nil: ψ stays at Psi. Unlike Algorithm 1 of GOHSMC
	// (guided-open-horizon-smc, section 3.2), the first move uses B_0, on which the particles were weighted. The product of the weights
	// of targets whose ψ moves estimates no evidence: State.LogZ is a diagnosis alone. Values that particles remember, such as
	// State.LL, are those at ψ before its last step. On Fixed too a change of ψ enters the weights of several particles: as chains
	// they take Unweighted.
	Learn Learner
	Psi   []float64 // start of ψ, of the length that the Model learns

	// Judge is the loss of a state on examples that the sampler does not see, for Best. The state has made its iteration: ψ has moved.
	// It must neither change nor keep the state.
	Judge func(ctx context.Context, st *State) (loss float64, err error)

	Seed   uint64
	Island int        // number of this sampler; islands of one run share the seed
	Pool   *mcmc.Pool // threads for particles with many parameters; nil: none. The Model has its own pool

	work      mcmc.Work
	waste     wasteFree // of WasteFree
	orders    [2]order  // of the examples
	before    State     // the state when the step began
	ancestors []int32   // J, the index of each particle's parent among the particles when the iteration began
	lineage   []int32   // J, the index of its ancestor in before: of several iterations, the same for one
	inherited []int32   // J, scratch: what children get of their parents
	origin    []float64 // J×D, where the iteration's moves began; empty: where the ancestors in before were
	place     []int32   // J, the number of that parent among the distinct ones
	change    []float64 // log π_k − log π_{k−1}
	energy    []float64 // ΔH, summed over mutations
	accepted  []float64 // of each of several chains, the sum over the moves of a step; empty: there are none
	scratch   []float64 // J
	ascent    []float64 // gradient by ψ
	centre    []float64 // D, the particles' mean, or the vector that one was carried along
	tuned     int       // number of values that the move tunes, once counted
	counted   bool
	several   bool // the step is of several iterations
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
	if path, ok := s.Path.(Adaptive); ok {
		st.LadderBias += path.LadderBias(st, stage)
	}
	target, weighting := s.target(stage, st), s.weighting()
	early := weighting.Traits().Early
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
			return info, s.died(st, info.Step, err)
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
	if err = s.checkMoved(st); err != nil {
		return info, err
	}
	if _, err = st.reweight(weighting.After(s.moved(st, change, s.energy)), s.waste.chains(st.K)); err != nil { // what is the move worth?
		return info, s.died(st, info.Step, err)
	}
	if err = s.learn(ctx, st, target); err != nil { // how do the parameters that all particles share move?
		return info, err
	}
	s.advance(st)
	return info, s.keep(ctx, st, spent, &info)
}

// moved is the iteration after st as a Weigher sees it. Nothing has counted it yet.
func (s *Sampler) moved(st *State, change, energy []float64) Moved {
	m := Moved{Population: &st.Population, Change: change, Energy: energy, Iteration: iterations(s.Path, st) + 1, Examples: st.Examples}
	if s.Keep != nil {
		m.Warmup = s.Keep.warmup()
	}
	return m
}

// weigh adds increments, if there are any, to the log-weights.
func (s *Sampler) weigh(st *State, increments []float64, info *Info) (err error) {
	if info.ESS, err = st.reweight(increments, s.waste.chains(st.K)); err != nil {
		return err
	}
	info.Dead, info.LogWeightVar = dead(st.LogW), numeral.Number(logVariance(st.LogW))
	return nil
}

// choose resamples if the Resampler says so.
func (s *Sampler) choose(st *State, info *Info) {
	if st.K == 0 && s.weighting().Traits().Afresh && (s.Start != nil || s.movesFirst()) {
		return // nothing has weighted the particles yet
	}
	if info.Resampled = s.WasteFree > 0 || s.Resample.when(s.Path, s.weighting()).Due(info.ESS, st.J); info.Resampled {
		s.resample(st)
	}
}

// resample replaces the particles by copies of their parents, with all cached values that are still read, and makes the weights equal.
func (s *Sampler) resample(st *State) {
	weights.Exp(st.LogW, s.scratch)
	key := rng.Key{Seed: s.Seed, Purpose: rng.Resample, Island: s.Island, Iteration: st.K}
	s.Resample.scheme().Ancestors(s.scratch, key.Stream().Float64, s.waste.drawn(s.ancestors))
	s.waste.multiply(s.ancestors)

	parents := st.Population
	if s.renews(st) {
		parents.GradLL = nil // Gather copies what is there
	}
	s.work.Proposal.Gather(s.Pool, &parents, s.ancestors)
	st.Population, s.work.Proposal = s.work.Proposal, st.Population
	for j := range s.ancestors {
		st.LogW[j] = -rng.Log(float64(st.J))
	}
	s.inherit(st.Roots)
	s.inherit(s.lineage)
	st.Genealogy.resampled(s.ancestors)
}

// inherit replaces the value of every particle by its parent's.
func (s *Sampler) inherit(values []int32) {
	for j, a := range s.ancestors {
		s.inherited[j] = values[a]
	}
	copy(values, s.inherited)
}

// learn moves ψ. The state holds the particles after the move, and their weights.
func (s *Sampler) learn(ctx context.Context, st *State, target *mcmc.Target) error {
	model := s.learned()
	if s.Learn == nil || model == nil {
		return nil
	}
	weights.Exp(st.LogW, s.scratch)
	if len(s.ascent) != len(st.Psi) {
		s.ascent = make([]float64, len(st.Psi))
	}
	if err := model.LearnedGradient(ctx, target.Rows, st.Psi, st.Theta, s.scratch, s.ascent); err != nil {
		return err
	}
	n := target.Examples()
	st.Gradients += n * st.J
	for i, g := range s.ascent {
		s.ascent[i] = -g / float64(n) // an optimiser descends
	}
	s.Learn.Step(&st.Moments, st.Psi, s.ascent)
	for i, x := range st.Psi {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return &mcmc.Diverged{Err: fmt.Errorf("the learned parameter %s became %v: take a smaller rate in learn (%v)", model.LearnedName(i), x, s.Learn)}
		}
	}
	return nil
}

// checkMoved refuses values that a move must not keep (mcmc.Model). The moves of package mcmc keep none, a program's own might.
func (s *Sampler) checkMoved(st *State) error {
	for j, l := range st.LL {
		if l < math.Inf(1) {
			continue
		}
		broken := st.Broken(s.Model)
		if broken != "" {
			broken = ", where " + broken
		}
		return fmt.Errorf("the move left particle %d at log-likelihood %v%s: a move must reject a proposal whose log-likelihood is NaN or +Inf", j, l, broken)
	}
	return nil
}

// died adds to the error of weights that cannot be normalised what the parameters are, and what to change. Moves put a particle that
// dies back to where it was, so its parameters are finite and only the likelihood says what happened. step is that of the moves. The
// error is a *mcmc.Diverged.
func (s *Sampler) died(st *State, step float64, err error) error {
	what := st.Broken(s.Model)
	if what == "" {
		what = "all parameters are finite"
	}
	mend := "more particles, or a prior or start where the model is defined"
	if !s.weighting().Traits().Early {
		mend = fmt.Sprintf("a smaller step than %.4g of %v", step, s.Move)
	}
	if s.Learn != nil {
		largest := 0
		for i, x := range st.Psi {
			if math.Abs(x) > math.Abs(st.Psi[largest]) {
				largest = i
			}
		}
		what += fmt.Sprintf(", the largest of those that are learned is %s at %.3g", s.learned().LearnedName(largest), st.Psi[largest])
		mend += fmt.Sprintf(", or a smaller rate in learn (%v)", s.Learn)
	}
	return &mcmc.Diverged{Err: fmt.Errorf("%w; %s: take %s", err, what, mend)}
}

// advance counts the iteration.
func (s *Sampler) advance(st *State) {
	st.K++
	if path, ok := s.Path.(Rememberer); ok {
		st.Memory = path.Remember(st)
	}
}

// keep keeps the state after an iteration that began with spent, if it is due.
func (s *Sampler) keep(ctx context.Context, st *State, spent int, info *Info) error {
	if s.Keep == nil {
		return nil
	}
	return s.Keep.keep(ctx, s.keeping(st.Examples), st, spent, info)
}

// record completes info by what st shows.
func (s *Sampler) record(st *State, info *Info) {
	info.Island, info.K, info.Progress = s.Island, st.K, s.Path.Progress(st)
	info.Lambda, info.Examples, info.Annealed = st.Lambda, st.Annealed+st.Rows.size(st.Examples), st.Annealed
	info.LogZ, info.LogLikelihood = numeral.Number(st.LogZ), numeral.Number(st.logLikelihood())
	info.LogZSD, info.LadderBias = known(st.Genealogy.SD()), nil
	if _, ok := s.Path.(Adaptive); ok {
		info.LadderBias = known(st.LadderBias)
	}
	info.Parents, info.Ancestors = s.places(s.lineage), s.survivors(st)
	info.Displacement = numeral.Number(s.relativeDisplacement(st))
	info.Epochs, info.Gradients, info.Values = st.Epochs(), st.Gradients, st.Values
	info.Chains = s.each(st, info.Mutations)
}

// each is what the moves of a step did to each of several chains.
func (s *Sampler) each(st *State, moves int) (chains []ChainInfo) {
	clear(s.centre)
	for j, a := range s.accepted {
		one := ChainInfo{Acceptance: numeral.Number(a / float64(moves)), LogLikelihood: numeral.Number(st.LL[j])}
		if moved := s.carried(st, j); moved > 0 {
			one.Displacement = numeral.Number(math.Sqrt(moved / squaredDistance(st.Theta[j*st.D:(j+1)*st.D], s.centre)))
		}
		chains = append(chains, one)
	}
	return chains
}

// chains reports whether the particles are several chains that share what they learn.
func (s *Sampler) chains() bool { return s.Particles > 1 && s.Path.Traits().Epochs > 0 }

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
