package smc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Init draws and evaluates the first particles.
func (s *Sampler) Init(ctx context.Context) (*State, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	j, d := s.Particles, s.Model.Dim()
	stage, weigh := s.Path.Start(s.Model.Examples())
	st := &State{
		Population: mcmc.NewPopulation(j, d, s.Move.Traits().Needs),
		Stage:      stage, Examples: s.Model.Examples(),
		LogW: make([]float64, j), Roots: make([]int32, j), Psi: slices.Clone(s.Psi),
	}
	if s.Path.Traits().AnnealsIn {
		st.CarryAnnealed()
	}
	for i := range j {
		theta, stream := st.Theta[i*d:(i+1)*d], rng.Key{Seed: s.Seed, Purpose: rng.Init, Island: s.Island, Particle: i}.Stream()
		if s.Start != nil {
			copy(theta, s.Start[i*d:])
		} else {
			s.Prior.Sample(stream, theta)
		}
		if st.Momentum != nil {
			stream.Normals(st.Momentum[i*d : (i+1)*d])
		}
		st.LogW[i], st.Roots[i] = -rng.Log(float64(j)), int32(i)
	}
	target := s.target(stage, st)
	var err error
	if st.Tuning, err = s.Move.Tuning(target, s.learners()); err != nil { // first, because it may fail and evaluations are expensive
		return nil, err
	}
	if err = target.Evaluate(ctx, &st.Population); err != nil {
		return nil, err
	}
	s.countEvaluation(st, j*target.Examples())
	if err = s.weighStart(st, weigh); err != nil {
		return nil, fmt.Errorf("%s %d: at the start: %w", s.unit(st), s.Island, err)
	}
	return st, nil
}

// unit is what an error calls the sampler.
func (s *Sampler) unit(st *State) string {
	if st.J == 1 && s.Path.Traits().Epochs > 0 {
		return "chain"
	}
	return "island"
}

// movesFirst reports whether draws from the prior have equal weights until they have moved.
func (s *Sampler) movesFirst() bool {
	w := s.weighting().Traits()
	return w.Afresh && (s.Learn != nil || w.Equal)
}

// ErrStart is the error of a particle at whose start the log-likelihood or the log-prior is undefined, which no weight can mend.
var ErrStart = errors.New("want finite numbers")

// weighStart weights the first particles on a path that weighs them: draws from the prior by their likelihood under the first
// target, or as a weighting does that weighs the population afresh, and any particle whose likelihood is 0 by 0, whatever the
// target's power. It refuses starts that no weight can mend, by the rule of mcmc.Model.
func (s *Sampler) weighStart(st *State, weigh bool) error {
	w := s.weighting().Traits()
	weigh = weigh && !w.Equal
	weighted := weigh && s.Start == nil && !s.movesFirst()
	first, impossible := make([]float64, st.J), 0
	again := weighted && w.Afresh
	if again {
		copy(first, s.weighting().After(s.moved(st, nil, make([]float64, st.J))))
	}
	for j := range first {
		l := st.LL[j]
		if st.AnnealedLL != nil {
			l += st.AnnealedLL[j]
		}
		zero := math.IsInf(l, -1)
		if lp := st.LP[j]; !(l < math.Inf(1)) || math.IsNaN(lp) || math.IsInf(lp, 0) || zero && !weigh {
			return fmt.Errorf("particle %d starts with log-likelihood %v and log-prior %v at θ = %s: %w",
				j, l, lp, numeral.Vector(st.Theta[j*st.D:(j+1)*st.D]), ErrStart)
		}
		if weighted && !again {
			first[j] = st.Stage.logLik(&st.Population, j)
		}
		if zero {
			first[j] = math.Inf(-1)
			impossible++
		}
	}
	if impossible == st.J {
		return fmt.Errorf("the likelihood of all %d particles is 0 or undefined (−Inf or NaN), first at θ = %s: "+
			"take a prior or a start where the model is defined", st.J, numeral.Vector(st.Theta[:st.D]))
	}
	if weighted || impossible > 0 {
		_, err := st.reweight(first, 0)
		return err
	}
	return nil
}

// learned is the Model if it has parameters that particles share, else nil.
func (s *Sampler) learned() mcmc.Partial {
	if model, ok := s.Model.(mcmc.Partial); ok && model.Learned() > 0 {
		return model
	}
	return nil
}

// model is the Model at the state's ψ. ψ moves, so nobody keeps what it returns beyond an iteration.
func (s *Sampler) model(st *State) mcmc.Model {
	if model := s.learned(); model != nil {
		return model.At(st.Psi)
	}
	return s.Model
}

// target is a stage as the move sees it, at the state's ψ.
func (s *Sampler) target(stage Stage, st *State) *mcmc.Target {
	t := &mcmc.Target{Model: s.model(st), Prior: s.Prior, Rows: s.rows(stage.Rows), Lambda: stage.Lambda, Mu: stage.Mu, Pool: s.Pool}
	if st.AnnealedLL != nil {
		t.Annealed = s.permutation(0)[:stage.Annealed] // not nil, where none is annealed in yet
	}
	return t
}

// rows returns the examples at some positions of the run's order, nil for all in their own order.
func (s *Sampler) rows(r Rows) []int32 {
	if r == (Rows{}) {
		return nil
	}
	n := s.Model.Examples()
	if r.To <= n {
		return s.permutation(0)[r.From:r.To]
	}
	rows := make([]int32, 0, r.To-r.From)
	for at := r.From; at < r.To; {
		end := min(r.To, (at/n+1)*n)
		rows = append(rows, s.permutation(at / n)[at%n:at%n+end-at]...)
		at = end
	}
	return rows
}

// permutation is permutation i of the run's order. Two are kept: a batch may reach from one into the next,
// and examples that are annealed in lie in the first.
func (s *Sampler) permutation(i int) []int32 {
	o := &s.orders[i%len(s.orders)]
	if o.rows == nil || o.of != i {
		o.of, o.rows = i, make([]int32, s.Model.Examples())
		rng.Key{Seed: s.Seed, Purpose: rng.Order, Island: s.Island, Iteration: i}.Stream().Perm(o.rows)
	}
	return o.rows
}

// order is one permutation of the examples.
type order struct {
	of   int
	rows []int32
}

// prepare checks that st is a state of this sampler and allocates scratch memory.
func (s *Sampler) prepare(st *State) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := st.check(); err != nil {
		return err
	}
	switch {
	case st.J != s.Particles || st.D != s.Model.Dim() || st.Examples != s.Model.Examples():
		return fmt.Errorf("state of %d particles of %d parameters and %d examples does not belong to a sampler of %d, %d and %d",
			st.J, st.D, st.Examples, s.Particles, s.Model.Dim(), s.Model.Examples())
	case st.Needs() != s.Move.Traits().Needs:
		return fmt.Errorf("the state carries %+v, the move needs %+v", st.Needs(), s.Move.Traits().Needs)
	case (st.AnnealedLL != nil) != s.Path.Traits().AnnealsIn:
		return errors.New("state and path differ in whether examples are annealed in")
	case s.Path.Done(st):
		return errors.New("the path is at its end")
	case st.K >= rng.MaxIterations:
		return fmt.Errorf("random streams are distinct for at most %d iterations", rng.MaxIterations)
	}
	if err := s.checkPsi(st); err != nil {
		return err
	}
	if err := s.checkTuning(st); err != nil {
		return err
	}
	s.waste.m = s.WasteFree
	s.work.Shape(&st.Population)
	if len(s.ancestors) != st.J {
		s.ancestors, s.place = make([]int32, st.J), make([]int32, st.J)
		s.lineage, s.inherited = make([]int32, st.J), make([]int32, st.J)
		s.change, s.energy, s.scratch = make([]float64, st.J), make([]float64, st.J), make([]float64, st.J)
		s.centre = make([]float64, st.D)
		if s.chains() {
			s.accepted = make([]float64, st.J)
		}
	}
	themselves(s.lineage)
	return nil
}

// themselves makes every particle its own ancestor.
func themselves(ancestors []int32) {
	for j := range ancestors {
		ancestors[j] = int32(j)
	}
}

// learners is the number of particles among which a move has to tell those that teach it from those that it moves. Chains learn together in
// their warm-up, before the states that count.
func (s *Sampler) learners() int {
	if s.Path.Traits().Epochs > 0 {
		return 1
	}
	return s.Particles
}

// checkTuning checks the number of values that the move tunes. It calls Tuning only once, because Tuning may read the whole
// prior.
func (s *Sampler) checkTuning(st *State) error {
	if !s.counted {
		tuning, err := s.Move.Tuning(s.target(st.Stage, st), s.learners())
		if err != nil {
			return err
		}
		s.tuned, s.counted = len(tuning), true
	}
	if len(st.Tuning) != s.tuned {
		return fmt.Errorf("state of a move that tunes %d numbers, not %d", len(st.Tuning), s.tuned)
	}
	return nil
}

// check lists all faults of the settings. A user's own parts are checked as far as they have a Check.
func (s *Sampler) check() error {
	if s.Model == nil || s.Prior == nil || s.Path == nil || s.Move == nil {
		return errors.New("sampler: Model, Prior, Path and Move must be set")
	}
	f := faults{s.checkWeighting(), rng.Key{Island: s.Island, Particle: max(0, s.Particles-1)}.Check()}
	f.part("path", s.Path)
	f.part("move", s.Move)
	f.part("resampling", s.Resample)
	f.part("weighting", s.weighting())
	j, d, n := s.Particles, s.Model.Dim(), s.Model.Examples()
	f.add(j < 1, "sampler: %d particles", j)
	f.add(d < 1 || s.Prior.Dim() != d, "sampler: model of %d parameters and prior of %d", d, s.Prior.Dim())
	f.add(n < 1, "sampler: model of %d examples", n)
	f.add(s.Start != nil && len(s.Start) != j*d, "sampler: start of %d numbers for %d particles of %d parameters", len(s.Start), j, d)
	path, moves, weights := s.Path.Traits(), s.Move.Traits(), s.weighting().Traits()
	f.add(LeavesOne(path.Share, j),
		"path: tempering at ESS %v of %d particles leaves at most one effective: take more particles or a larger ESS", path.Share, j)
	if errors.Join(f...) != nil {
		return errors.Join(f...)
	}
	f.add(path.Epochs > 0 && path.Epochs < moves.Fewest, "sampler: chains of %v learn their moves in the first half of at least %d epochs, and have %d: take more, or give the steps of a trajectory",
		s.Move, moves.Fewest, path.Epochs)
	if move, ok := s.Move.(mcmc.Move); ok && path.Epochs == 0 && j > 1 && !weights.Equal {
		f = append(f, refused(move, s.Learn != nil)...)
	}
	f.add(moves.Biased() && path.Epochs == 0 && !weights.Equal, "sampler: no weight corrects %v: take the weighting Unweighted", s.Move)
	s.checkLearn(&f)
	if s.WasteFree != 0 {
		for _, err := range []error{WasteFreeParticles(j, s.WasteFree), s.SuitsWasteFree()} {
			f.add(err != nil, "sampler: waste-free: %w", err)
		}
	}
	if s.Keep != nil {
		f.part("keep", s.Keep)
		if j > 0 && n > 0 {
			for _, err := range s.SuitsKeep(n) {
				f.add(true, "sampler: %w", err)
			}
		}
		f.add(s.Keep.Judged() && s.Judge == nil, "sampler: the best state needs a Judge, which has validation examples")
	}
	return errors.Join(f...)
}

// SuitsWasteFree says why the sampler's iterations cannot be waste-free, whatever its number of particles (WasteFreeParticles).
func (s *Sampler) SuitsWasteFree() error {
	if s.WasteFree == 0 {
		return nil
	}
	w, path, move := s.weighting().Traits(), s.Path.Traits(), s.Move.Traits()
	switch {
	case !w.Early || !move.Invariant():
		return errors.New("states on the way are draws of the target only by moves with accept or reject, and with weights that are known before them")
	case move.Repeats != (mcmc.Mutations{}):
		return errors.New("the number of particles says how often a move is made, J/m − 1 times: leave mutations out")
	case path.Batches || path.Epochs > 0:
		return errors.New("the path must be one of temperatures")
	case s.Learn != nil:
		return errors.New("layers that are learned change the target after the moves")
	case s.Resample.When != nil && s.Resample.When != Occasion(Always{}):
		return errors.New("the parents are drawn anew in every iteration: leave resample.when out")
	}
	return nil
}

// SuitsKeep says why the sampler cannot keep the states that it should of a run with n examples. It asks neither for a Model nor for a
// Judge.
func (s *Sampler) SuitsKeep(n int) []error {
	if s.Keep == nil {
		return nil
	}
	return s.Keep.suits(s.keeping(n))
}

// keeping is what a Keeper asks of the sampler, for n examples.
func (s *Sampler) keeping(n int) keeping {
	return keeping{
		path: s.Path, particles: s.Particles, examples: n, costs: s.costs(),
		varies: s.Move.Traits().Varies, weighs: !s.weighting().Traits().Equal, judge: s.Judge,
	}
}

// costs is the number of evaluations that bounds the number of iterations: the smallest one, 1, if moves vary.
func (s *Sampler) costs() int {
	move := s.Move.Traits()
	if move.Varies {
		return 1
	}
	repeats, _ := s.repeats()
	return repeats.Limit() * move.Evaluations()
}

// refused lists why a move is not for populations.
func refused(m mcmc.Move, learns bool) (f faults) {
	all := config.NewFaults()
	mcmc.CheckForPopulation(m, learns, all)
	for _, fault := range all.All() {
		f.add(true, "%v: %s", m, fault.Message)
	}
	return f
}

// weighting is the configured weighting, or the move's default. A row of Weightings has its defaults.
func (s *Sampler) weighting() Weigher {
	w := s.Weighting
	if w == nil {
		w = DefaultWeighting(s.Move)
	}
	if row, ok := w.(Weighting); ok {
		return row.ForPopulation(s.Learn != nil)
	}
	return w
}

// checkWeighting refuses a weighting that does not suit the move or the path.
func (s *Sampler) checkWeighting() error {
	err := SuitsWeighting(s.Path, s.weighting())
	if err == nil {
		err = SuitsMove(s.weighting(), s.Move)
	}
	if err != nil {
		return fmt.Errorf("weighting: %w; or take another weighting, or nil for the move's own", err)
	}
	return nil
}

// checkLearn notes what does not go with parameters that all particles share.
func (s *Sampler) checkLearn(f *faults) {
	learned := 0
	if model := s.learned(); model != nil {
		learned = model.Learned()
	}
	f.add(len(s.Psi) != learned, "sampler: model of %d learned parameters and a start of them (Psi) of %d numbers", learned, len(s.Psi))
	for i, x := range s.Psi {
		if learned == len(s.Psi) && (math.IsNaN(x) || math.IsInf(x, 0)) {
			f.add(true, "sampler: the learned parameter %s starts at %v: want a finite number", s.learned().LearnedName(i), x)
			break
		}
	}
	if s.Learn == nil {
		return
	}
	f.part("learn", s.Learn)
	f.add(learned == 0, "learn: the model has no parameters that all particles share: leave Learn out")
	f.add(s.Path.Traits().AnnealsIn, "learn: the path keeps the likelihood of examples that are annealed in, but that changes with the learned parameters: "+
		"take another path, or leave Learn out")
}

// checkPsi refuses a state whose ψ does not belong to the sampler.
func (s *Sampler) checkPsi(st *State) error {
	if len(st.Psi) != len(s.Psi) {
		return fmt.Errorf("state of %d learned parameters does not belong to a sampler of %d", len(st.Psi), len(s.Psi))
	}
	if s.Learn == nil && st.stale() {
		return errors.New("state whose learned parameters have moved does not belong to a sampler without Learn")
	}
	return nil
}
