package smc

import "github.com/starling-smc/starling/internal/config"

// Fixed is the path of chains: one target, the posterior, until every particle has spent its budget.
type Fixed struct {
	Epochs int // passes over all examples, a particle
}

// Start is the posterior, whatever the first states.
func (Fixed) Start(int) (Stage, bool) { return Stage{Lambda: 1}, false }

// Next is the posterior.
func (Fixed) Next(*State) (Stage, error) { return Stage{Lambda: 1}, nil }

// Done is true when the budget is spent.
func (f Fixed) Done(st *State) bool { return st.Spent >= f.Budget(st) }

// Progress is the share of the budget that is spent.
func (f Fixed) Progress(st *State) float64 { return min(1, float64(st.Spent)/float64(f.Budget(st))) }

// Budget is the number of epochs times the number of examples.
func (f Fixed) Budget(st *State) int { return f.Epochs * st.Examples }

// AnnealsIn is false.
func (Fixed) AnnealsIn() bool { return false }

// Check notes impossible settings.
func (f Fixed) Check(faults *config.Faults) {
	faults.If(f.Epochs < 1, "", "%d epochs; chains need at least one", f.Epochs)
}
