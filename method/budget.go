package method

import (
	"math"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/mcmc"
)

// Chains whose budget makes few trajectories end close to where they began, whatever else is right. Where a trajectory has a given
// number of leapfrogs, the settings tell. Where its length is adapted, they tell the least number of leapfrogs that can be expected;
// how many it took is known after the run.

// fewTrajectories is the number of trajectories below which a chain cannot leave its start. Half of them are its warm-up.
const fewTrajectories = 20

// Foresee returns a finding if the budget of a chain cannot be enough on a model of d parameters; nil if it may be. It is for a user who
// has not waited for the run yet.
func (s *Sampling) Foresee(d int) []finding.Finding {
	if !s.counted() {
		return nil
	}
	return s.few(float64(mcmc.Shortest(s.Move, d)), 0, s.Move.Traits().Varies)
}

// counted reports whether trajectories are what a chain needs: its moves accept or reject. Mini-batches make many steps in an epoch.
func (s *Sampling) counted() bool { return s.Chains() && !s.Move.Traits().Biased() }

// budgetFindings reports chains whose budget was too small for the trajectories that they made after their warm-up.
func (s *Sampling) budgetFindings(trace []TraceLine) []finding.Finding {
	if !s.counted() {
		return nil
	}
	if !s.Move.Traits().Varies {
		return s.few(float64(s.Move.Traits().Evaluations()), 0, false)
	}
	longest, few := 0.0, 0
	for _, lines := range s.each(trace) {
		took := meanLeapfrogs(lines)
		longest = max(longest, took)
		if s.trajectories(took) < fewTrajectories {
			few++
		}
	}
	return s.few(longest, few, false)
}

// trajectories is the number of trajectories of so many leapfrogs in the budget of a chain.
func (s *Sampling) trajectories(leapfrogs float64) int {
	return int(math.Floor(float64(s.budget) / max(1, leapfrogs)))
}

// few is the finding that trajectories of so many leapfrogs are too few; nil if they are enough. chains is the number of chains that
// had too few; 0: all. least: no chain can be expected to need fewer leapfrogs.
func (s *Sampling) few(leapfrogs float64, chains int, least bool) []finding.Finding {
	n := s.trajectories(leapfrogs)
	if n >= fewTrajectories {
		return nil
	}
	if chains == 0 {
		chains = s.Islands * s.Particles
	}
	return []finding.Finding{finding.Of(finding.FewTrajectories{
		Chains: s.Islands * s.Particles, Few: chains, Epochs: s.budget, Trajectories: n, Leapfrogs: leapfrogs, Least: least,
		Enough: fewTrajectories, Need: s.enough(leapfrogs), Field: s.at + ".epochs",
	})}
}

// enough is the number of epochs that would do for trajectories of so many leapfrogs. Where the leapfrogs depend on what the chains learn,
// those of a longer run are others, often more: then there is room for half as many again.
func (s *Sampling) enough(leapfrogs float64) int {
	need := math.Ceil(fewTrajectories * leapfrogs)
	if s.Move.Traits().Varies {
		const round = 100
		need = round * math.Ceil(1.5*need/round)
	}
	return int(need)
}

// meanLeapfrogs is the mean number of leapfrogs of a chain's moves after its warm-up.
func meanLeapfrogs(lines []TraceLine) float64 {
	late, began, moves := secondHalf(lines), 0, 0
	if len(late) == 0 { // the warm-up took all
		late = lines
	}
	if early := len(lines) - len(late); early > 0 {
		began = lines[early-1].Gradients
	}
	for _, l := range late {
		moves += l.Mutations
	}
	last := late[len(late)-1]
	return float64(last.Gradients-began) / float64(last.Examples*moves)
}
