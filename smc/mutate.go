package smc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// begin lets the move prepare for a new target, if it is a mcmc.Beginner.
func (s *Sampler) begin(ctx context.Context, st *State, target *mcmc.Target, last Stage, info *Info) error {
	move, ok := s.Move.(mcmc.Beginner)
	if !ok || st.K > 0 && st.Stage == last {
		return nil
	}
	now := s.stepContext(st, target)
	now.Related = st.K > 0 && st.Parted == 0 && s.survivors(st) == 1 // before the weights: it uses the same scratch memory
	weights.Exp(st.LogW, s.scratch)
	trials, err := move.Begin(ctx, &s.work, target, &st.Population, s.scratch, st.Tuning, now)
	if err != nil {
		return err
	}
	st.Gradients += trials.Gradients
	st.Values += trials.Values
	st.Spent += (trials.Gradients + trials.Values) / st.J
	info.ScaleKept = trials.Kept
	return nil
}

// mutate moves all particles, as often as the move's Repeats and the budget allow, or the parents (Sampler.WasteFree). Particles advance
// together, so a move spends the largest number of evaluations of any particle.
func (s *Sampler) mutate(ctx context.Context, st *State, target *mcmc.Target, info *Info) error {
	clear(s.energy)
	repeats, travels := s.repeats()
	var travel *mcmc.Travel
	if travels {
		travel = mcmc.NewTravel(st.J, s.variances(st))
	}
	if s.origin = s.origin[:0]; s.several && st.J > 1 && (repeats.Eta > 0 || s.Move.Traits().Invariant()) {
		s.origin = append(s.origin, st.Theta...)
	}
	var spread spread
	arrived := !travels
	moving, work := s.waste.moving(&st.Population, &s.work)
	for dist := 0.0; ; {
		now := s.stepContext(st, target)
		now.Key.Mutation = info.Mutations
		out, err := s.Move.Mutate(ctx, work, target, moving, st.Tuning, now)
		if err != nil {
			return err
		}
		info.Mutations++
		first := s.waste.put(&st.Population, info.Mutations)
		info.Divergent += out.Divergent
		info.Step, info.Leapfrogs = out.Step, out.Leapfrogs
		most := 0
		for j, a := range out.Probability {
			info.Acceptance += numeral.Number(a)
			if s.chains() {
				s.accepted[j] += a
			}
			s.energy[first+j] += out.Energy[j]
			spread.add(out.Energy[j])
			st.Gradients += out.Gradients[j]
			st.Values += out.Values[j]
			most = max(most, out.Gradients[j]+out.Values[j]-out.Shown)
		}
		st.Spent += most * moving.J / st.J

		last := dist
		if repeats.Eta > 0 {
			dist = s.displacement(st)
		}
		if travels {
			travel.Moved(st.J, func(j int) []float64 { return s.away(st, j) })
			arrived = travel.Arrived()
		}
		budget := budgetOf(s.Path, st)
		if travels && arrived || repeats.Enough(info.Mutations, last, dist) || info.Mutations >= repeats.Limit() || budget > 0 && st.Spent >= budget {
			info.Acceptance /= numeral.Number(moving.J * info.Mutations)
			info.EnergySD = spread.sd()
			if st.Parted = 0; travels && arrived {
				st.Parted = 1
			}
			healthy := arrived && info.Acceptance >= StuckBelow
			info.Stuck = s.Move.Traits().Invariant() && st.J > 1 && budget == 0 && !healthy && !s.carriedFar(st)
			return nil
		}
	}
}

// Moves that are accepted seldom, or whose number ended before the particles stopped drawing away from their start, may still have
// carried them far enough: pCN in 50 dimensions has a log evidence without error after fifty moves under way. So the distance decides.
const (
	// StuckBelow is the mean acceptance, of the moves of an iteration or of several, below which they are suspected.
	StuckBelow = 0.1

	// CarriedFrom is the distance, in spreads of the particles, from which moves have carried them all the same: their correlation with
	// where they began is at most 7/8. docs/adr/0014-scales-steps-moves.md has what was measured.
	CarriedFrom = 0.5
)

// carriedFar reports whether the iteration's moves carried the particles by CarriedFrom. Where all are copies of one, their spread is
// nothing but what the moves have made of it, and does not tell.
func (s *Sampler) carriedFar(st *State) bool {
	if s.places(s.ancestors) == 1 {
		return false
	}
	n, travel := s.waste.ends(st.J), mcmc.NewTravel(st.J, s.variances(st))
	travel.Moved(n, func(j int) []float64 { return s.away(st, st.J-n+j) })
	return travel.Far(n, CarriedFrom)
}

// repeats returns how often the move is made in an iteration, and whether moves end when the particles have travelled. It is as often as
// the parents fill the population, or the move's Repeats if they are set, else the path's, else one move.
func (s *Sampler) repeats() (m mcmc.Mutations, travels bool) {
	if s.WasteFree > 0 {
		return chainMoves(s.Particles, s.WasteFree), false
	}
	move := s.Move.Traits()
	if m = move.Repeats; m == (mcmc.Mutations{}) && move.Invariant() {
		m = s.Path.Traits().Mutations
	}
	return m, m.Eta == 0 && m.Max > 0
}

// away is the vector that the iteration's moves carried particle j along.
func (s *Sampler) away(st *State, j int) []float64 {
	from := s.from(st, j)
	for i, x := range st.Theta[j*st.D : (j+1)*st.D] {
		s.centre[i] = x - from[i]
	}
	return s.centre
}

// from is where the iteration's moves of particle j began.
func (s *Sampler) from(st *State, j int) []float64 {
	if len(s.origin) > 0 {
		return s.origin[j*st.D : (j+1)*st.D]
	}
	a := int(s.ancestors[j])
	return s.before.Theta[a*st.D : (a+1)*st.D]
}

// variances are those of the particles' coordinates.
func (s *Sampler) variances(st *State) []float64 {
	v := make([]float64, st.D)
	s.findCentre(st)
	for j := range st.J {
		for i, x := range st.Theta[j*st.D : (j+1)*st.D] {
			v[i] += float64((x-s.centre[i])*(x-s.centre[i])) / float64(st.J)
		}
	}
	return v
}

// findCentre sets s.centre to the particles' mean, without their weights.
func (s *Sampler) findCentre(st *State) {
	clear(s.centre)
	for j := range st.J {
		add(s.centre, st.Theta[j*st.D:(j+1)*st.D])
	}
	for i := range s.centre {
		s.centre[i] /= float64(st.J)
	}
}

// stepContext returns the step context of a move.
func (s *Sampler) stepContext(st *State, target *mcmc.Target) mcmc.StepContext {
	now := mcmc.StepContext{Key: rng.Key{Seed: s.Seed, Island: s.Island, Iteration: st.K}, Chains: s.waste.chains(st.K)}
	if budget := budgetOf(s.Path, st); budget > 0 {
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
		sum += math.Sqrt(squaredDistance(st.Theta[j*st.D:(j+1)*st.D], s.from(st, j)))
	}
	return sum / float64(st.J)
}

// relativeDisplacement is the root mean square of the distances from where the step began, in units of the particles' spread: the root mean square
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
		s.findCentre(st)
	}
	var spread float64
	for j := range st.J {
		spread += squaredDistance(st.Theta[j*st.D:(j+1)*st.D], s.centre)
	}
	return math.Sqrt(moved / spread)
}

// carried is the square of the distance that all moves since the state before carried particle j.
func (s *Sampler) carried(st *State, j int) float64 {
	a := int(s.lineage[j])
	return squaredDistance(st.Theta[j*st.D:(j+1)*st.D], s.before.Theta[a*st.D:(a+1)*st.D])
}

func squaredDistance(x, y []float64) (square float64) {
	for i, v := range x {
		square += float64((v - y[i]) * (v - y[i]))
	}
	return square
}
