package smc

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
)

// Step makes one iteration. After an error, also of a cancelled context, st is unchanged.
func (s *Sampler) Step(ctx context.Context, st *State) (Info, error) { return s.Steps(ctx, st, 1) }

// Steps makes n iterations as one: with one Info, and one copy of the state to go back to. They are fewer at the end of the path,
// and where a chain's warm-up ends (mcmc.WarmUp). Steps is for chains of many short moves and for many small batches, which would
// spend their time on diagnostics. The states are those of n calls of Step. The Info has the present state at their end and, of all
// iterations together,
//
//	Mutations, Divergent         the sums
//	Acceptance, ESS, LogWeightVar the means
//	EnergySD                     over all moves
//	Resampled, Stuck, ScaleKept  whether any was
//	Parents, Displacement        counted and measured from the particles at the beginning, through all resampling
//	Loss                         the last that was judged
//
// Dead, Step and Leapfrogs are the last iteration's.
//
// Where moves left the numbers, the error is a *mcmc.Diverged. After an error, which counts iterations from 1 as the trace does, also of a cancelled context, st is as it was before the first of them.
func (s *Sampler) Steps(ctx context.Context, st *State, n int) (all Info, err error) {
	if err := s.prepare(st); err != nil {
		return Info{}, err
	}
	s.several = n > 1
	s.before.copy(st)
	clear(s.accepted)
	var energies spread
	warm := warmsUp(s.Path, st)
	for i := 0; i < n && !s.Done(st) && warmsUp(s.Path, st) == warm; i++ {
		k := st.K
		themselves(s.ancestors)
		one, err := s.step(ctx, st)
		if err != nil {
			*st, s.before = s.before, *st
			return Info{}, fmt.Errorf("%s %d, iteration %d: %w", s.unit(st), s.Island, k+1, err)
		}
		all = s.join(all, one, i, &energies)
	}
	s.record(st, &all)
	return all, nil
}

// warmsUp reports whether a chain is in its warm-up.
func warmsUp(path Targets, st *State) bool {
	all := budgetOf(path, st)
	return all > 0 && float64(st.Spent) < mcmc.WarmUp*float64(all)
}

// Calls is the number of calls of Steps, of n iterations each, that lead to st. A path with a budget must know where the warm-up
// ended: see WarmedUp.
func Calls(path Targets, st *State, n int) int {
	warm := 0
	if path, ok := path.(WarmedUp); ok {
		warm = path.WarmedUp(st)
	}
	return (warm+n-1)/n + (st.K-warm+n-1)/n
}

// Undo takes back the last Step or Steps: st is as it was before. It must be called at most once after a Step that succeeded on
// st, and before Release.
func (s *Sampler) Undo(st *State) { *st, s.before = s.before, *st }

// join adds iteration i to the Info of those before it.
func (s *Sampler) join(all, one Info, i int, energies *spread) Info {
	for _, e := range s.energy {
		energies.add(e)
	}
	if i == 0 {
		return one
	}
	one.Mutations += all.Mutations
	one.Stuck, one.ScaleKept = one.Stuck || all.Stuck, one.ScaleKept || all.ScaleKept
	one.Divergent += all.Divergent
	one.ESS = all.ESS + (one.ESS-all.ESS)/float64(i+1)
	one.LogWeightVar = all.LogWeightVar + (one.LogWeightVar-all.LogWeightVar)/numeral.Number(i+1)
	one.Resampled = one.Resampled || all.Resampled
	if one.Loss == nil {
		one.Loss = all.Loss
	}
	one.Acceptance = all.Acceptance + (one.Acceptance-all.Acceptance)/numeral.Number(i+1)
	one.EnergySD = energies.sd()
	return one
}
