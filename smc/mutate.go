package smc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// mutate moves all particles, as often as the move's Repeats and the budget allow. Particles advance together, so a move
// spends the largest number of evaluations of any particle.
func (s *Sampler) mutate(ctx context.Context, st *State, target *mcmc.Target, info *Info) error {
	clear(s.energy)
	repeats := s.repeats()
	var spread spread
	for dist := 0.0; ; {
		now := s.stepContext(st, target)
		now.Key.Mutation = info.Mutations
		out, err := s.Move.Mutate(ctx, &s.work, target, &st.Population, st.Tuning, now)
		if err != nil {
			return err
		}
		info.Mutations++
		info.Divergent += out.Divergent
		info.Step = out.Step
		most := 0
		for j, a := range out.Probability {
			info.Acceptance += a
			s.energy[j] += out.Energy[j]
			spread.add(out.Energy[j])
			st.Gradients += out.Gradients[j]
			st.Values += out.Values[j]
			most = max(most, out.Gradients[j]+out.Values[j])
		}
		st.Spent += most

		last := dist
		if repeats.Eta > 0 {
			dist = s.displacement(st)
		}
		budget := s.Path.Budget(st)
		if repeats.Enough(info.Mutations, last, dist) || budget > 0 && st.Spent >= budget {
			info.Acceptance /= float64(st.J * info.Mutations)
			info.EnergySD = spread.sd()
			return nil
		}
	}
}

// repeats returns how often the move is made in an iteration: once, unless it has a method Repeats.
func (s *Sampler) repeats() mcmc.Mutations {
	if move, ok := s.Move.(interface{ Repeats() mcmc.Mutations }); ok {
		return move.Repeats()
	}
	return mcmc.Mutations{}
}

// stepContext returns the step context of a move.
func (s *Sampler) stepContext(st *State, target *mcmc.Target) mcmc.StepContext {
	now := mcmc.StepContext{Key: rng.Key{Seed: s.Seed, Island: s.Island, Iteration: st.K}}
	if budget := s.Path.Budget(st); budget > 0 {
		n := max(1, target.Examples())
		now.Progress = float64(st.Spent) / float64(budget)
		now.Left = max(1, (budget-st.Spent+n-1)/n)
	}
	return now
}

// displacement is dist_m: the mean distance of the particles from the positions of their parents at the start of the
// iteration.
func (s *Sampler) displacement(st *State) float64 {
	var sum float64
	for j, a := range s.ancestors {
		from := s.before.Theta[int(a)*st.D : (int(a)+1)*st.D]
		var square float64
		for i, x := range st.Theta[j*st.D : (j+1)*st.D] {
			square += float64((x - from[i]) * (x - from[i]))
		}
		sum += math.Sqrt(square)
	}
	return sum / float64(st.J)
}
