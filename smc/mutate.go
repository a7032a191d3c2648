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

// displacement is dist_m of mcmc.Mutations: the mean distance of the particles from where the iteration's moves began.
func (s *Sampler) displacement(st *State) float64 {
	var sum float64
	for j := range s.ancestors {
		sum += math.Sqrt(s.carried(st, j))
	}
	return sum / float64(st.J)
}

// relativeDisplacement is the root mean square of the same distances, in units of the particles' spread: the root mean square
// of their distances from their mean. A single particle has no spread; its unit is its own length |θ|. Where nothing moved
// it is 0, whatever the spread. It tells moves that are accepted without going anywhere, which acceptance cannot.
func (s *Sampler) relativeDisplacement(st *State) float64 {
	var moved float64
	for j := range s.ancestors {
		moved += s.carried(st, j)
	}
	if moved == 0 {
		return 0
	}
	clear(s.centre)
	if st.J > 1 {
		for j := range st.J {
			add(s.centre, st.Theta[j*st.D:(j+1)*st.D])
		}
		for i := range s.centre {
			s.centre[i] /= float64(st.J)
		}
	}
	var spread float64
	for j := range st.J {
		spread += squaredDistance(st.Theta[j*st.D:(j+1)*st.D], s.centre)
	}
	return math.Sqrt(moved / spread)
}

// carried is the square of the distance that the iteration's moves carried particle j.
func (s *Sampler) carried(st *State, j int) float64 {
	a := int(s.ancestors[j])
	return squaredDistance(st.Theta[j*st.D:(j+1)*st.D], s.before.Theta[a*st.D:(a+1)*st.D])
}

func squaredDistance(x, y []float64) (square float64) {
	for i, v := range x {
		square += float64((v - y[i]) * (v - y[i]))
	}
	return square
}
