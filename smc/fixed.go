package smc

import (
	"github.com/starling-smc/starling/internal/config"
)

// Fixed is the path of chains: one target, the posterior, until every particle has spent its budget.
type Fixed struct {
	Epochs int     // passes over all examples, for each particle
	Power  float64 // λ of the target: 0 or 1, the posterior, or that of a cold posterior (Cooled)
}

var _ Path = Fixed{}

// Trajectories returns the path of chains that make the given number of moves of steps leapfrogs each: an epoch is one
// gradient of all examples, and a leapfrog costs one. HMC that adapts its step spends a part of the first tenth on trials and makes
// shorter moves there, so that the number of its moves is another.
func Trajectories(moves, steps int) Fixed { return Fixed{Epochs: moves * steps} }

// Start is the posterior; the first states are not weighted for it.
func (f Fixed) Start(int) (Stage, bool) { return Stage{Lambda: powerOf(f.Power)}, false }

// Next is the posterior.
func (f Fixed) Next(*State) (Stage, error) { return Stage{Lambda: powerOf(f.Power)}, nil }

// Cooled stays at the cold posterior.
func (f Fixed) Cooled(t float64) Path {
	f.Power = 1 / t
	return f
}

// Done is true when the budget is spent.
func (f Fixed) Done(st *State) bool { return st.Spent >= budgetOf(f, st) }

// Remember keeps the number of iterations of the warm-up, once it has ended.
func (f Fixed) Remember(st *State) []int {
	if len(st.Memory) > 0 || warmsUp(f, st) {
		return st.Memory
	}
	return []int{st.K}
}

// WarmedUp is the number of iterations of the warm-up; 0 while it lasts.
func (Fixed) WarmedUp(st *State) int {
	if len(st.Memory) == 0 {
		return 0
	}
	return st.Memory[0]
}

// Progress is the share of the budget that is spent.
func (f Fixed) Progress(st *State) float64 { return min(1, float64(st.Spent)/float64(budgetOf(f, st))) }

// Traits say that moves have a budget, and that the particles, which may begin anywhere, are neither weighted nor resampled.
func (f Fixed) Traits() PathTraits {
	return PathTraits{Epochs: f.Epochs, Resampling: Never{}, Evidence: Evidence{Unsure: "weights no particles", Cold: powerOf(f.Power) != 1}}
}

// Check notes impossible settings.
func (f Fixed) Check(faults *config.Faults) {
	faults.If(f.Epochs < 1, "", "%d epochs; chains need at least one", f.Epochs)
	checkPower(f.Power, faults)
}

// String is the title.
func (f Fixed) String() string { return "chains" }

// Curves is nil: the target does not change.
func (Fixed) Curves(int) []Curve { return nil }

// Work is measured in shares of the budget.
func (Fixed) Work(info Info, _ float64, _ int) (done, all float64) { return info.Progress, 1 }
