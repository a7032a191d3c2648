package smc

import (
	"context"
	"errors"
	"fmt"
	"math"

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
		Population: mcmc.NewPopulation(j, d, s.Move.NeedsGradient()),
		Stage:      stage, Examples: s.Model.Examples(),
		LogW: make([]float64, j), Roots: make([]int32, j),
	}
	if s.Path.Settles() {
		st.LetSettle()
	}
	for i := range j {
		theta := st.Theta[i*d : (i+1)*d]
		if s.Start != nil {
			copy(theta, s.Start[i*d:])
		} else {
			s.Prior.Sample(rng.Key{Seed: s.Seed, Purpose: rng.Init, Island: s.Island, Particle: i}.Stream(), theta)
		}
		st.LogW[i], st.Roots[i] = -rng.Log(float64(j)), int32(i)
	}
	target := s.target(stage, st)
	var err error
	if st.Tuning, err = s.Move.Tuning(target); err != nil { // before anything is paid for
		return nil, err
	}
	if err = target.Evaluate(ctx, &st.Population); err != nil {
		return nil, err
	}
	for i := range j {
		if l := st.LL[i]; math.IsNaN(l) || math.IsInf(l, 1) || math.IsNaN(st.LP[i]) || math.IsInf(st.LP[i], 0) {
			return nil, fmt.Errorf("island %d: particle %d starts with log-likelihood %v and log-prior %v", s.Island, i, l, st.LP[i])
		}
	}
	s.countEvaluation(st, j*target.Examples())
	if weigh && s.Start == nil {
		first := make([]float64, j)
		for i := range first {
			first[i] = stage.logLik(&st.Population, i)
		}
		if _, err = st.reweight(first); err != nil {
			return nil, fmt.Errorf("island %d: at the start: %w", s.Island, err)
		}
	}
	return st, nil
}

func (s *Sampler) target(stage Stage, st *State) *mcmc.Target {
	t := &mcmc.Target{Model: s.Model, Prior: s.Prior, Rows: s.rows(stage.Rows), Lambda: stage.Lambda, Mu: stage.Mu, Pool: s.Pool}
	if st.SettledLL != nil {
		t.Settled = s.permutation(0)[:stage.Settled] // not nil, where none has settled yet
	}
	return t
}

// rows are the examples at some positions of the run's order, nil for all as they stand.
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

// permutation is number i of those that make up the run's order. Two are kept: a batch may reach from one into the next,
// and what has settled lies in the first.
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

// prepare checks that st is a state of this sampler, sets what was left out and makes room.
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
	case (st.GradLL != nil) != s.Move.NeedsGradient():
		return errors.New("state and move differ in whether they need gradients")
	case (st.SettledLL != nil) != s.Path.Settles():
		return errors.New("state and path differ in whether examples settle")
	case s.Path.Done(st):
		return errors.New("the path is at its end")
	case st.K >= rng.MaxIterations:
		return fmt.Errorf("random streams cannot tell more than %d iterations apart", rng.MaxIterations)
	}
	s.work.Fit(&st.Population)
	if len(s.ancestors) != st.J {
		s.ancestors, s.place = make([]int32, st.J), make([]int32, st.J)
		s.change, s.energy, s.scratch = make([]float64, st.J), make([]float64, st.J), make([]float64, st.J)
	}
	for j := range s.ancestors {
		s.ancestors[j] = int32(j)
	}
	return nil
}

// check lists all faults of the settings.
func (s *Sampler) check() error {
	if s.Model == nil || s.Prior == nil || s.Path == nil || s.Move == nil {
		return errors.New("sampler: Model, Prior, Path and Move must be set")
	}
	f := faults{s.Mutations.check(), s.checkWeighting(), checkPath(s.Path, s.Particles),
		rng.Key{Island: s.Island, Particle: max(0, s.Particles-1)}.Check()}
	j, d := s.Particles, s.Model.Dim()
	f.add(j < 1, "sampler: %d particles", j)
	f.add(d < 1 || s.Prior.Dim() != d, "sampler: model of %d parameters and prior of %d", d, s.Prior.Dim())
	f.add(s.Model.Examples() < 1, "sampler: model of %d examples", s.Model.Examples())
	f.add(s.Start != nil && len(s.Start) != j*d, "sampler: start of %d numbers for %d particles of %d parameters", len(s.Start), j, d)
	f.add(!(s.Resample.Ratio >= 0 && s.Resample.Ratio <= 1), "resampling: ratio %v is not between 0 and 1", s.Resample.Ratio)
	f.add(s.Resample.Scheme < Multinomial || s.Resample.Scheme > Residual || s.Resample.When < BelowRatio || s.Resample.When > Never,
		"resampling: unknown scheme %d or time %d", int(s.Resample.Scheme), int(s.Resample.When))
	if path, fixed := s.Path.(Fixed); s.Keep != 0 {
		most := j * path.Epochs / (2 * s.Mutations.limit() * s.Move.Evaluations())
		f.add(!fixed, "sampler: only a Fixed path keeps states along the way")
		f.add(s.Keep < 0 || j > 0 && s.Keep%j != 0, "sampler: %d states to keep are not a multiple of %d particles", s.Keep, j)
		f.add(fixed && s.Keep > most, "sampler: %d states to keep, but the second half of %d epochs has moves for %d", s.Keep, path.Epochs, most)
	}
	return f.err()
}

// checkPath lists the faults of a path for that many particles. Of a user's own path nothing is known, unless it embeds
// one of these.
func checkPath(p Path, particles int) error {
	if p, ok := p.(interface{ check(particles int) error }); ok {
		return p.check(particles)
	}
	return nil
}

// faults collects what is wrong with settings.
type faults []error

func (f *faults) add(bad bool, format string, args ...any) {
	if bad {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// sizes looks at what all paths of batches have.
func (f *faults) sizes(iterations, batch, grow int) {
	f.add(iterations < 1, "path: want at least 1 iteration, have %d", iterations)
	f.add(batch < 0, "path: want a first batch of at least 1 example, or 0 for the default, have %d", batch)
	f.add(grow < 0, "path: want batches to grow by at least 1 example, or 0 for the default, have %d", grow)
}

func (f faults) err() error { return errors.Join(f...) }
