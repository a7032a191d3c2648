package smc

import "github.com/starling-smc/starling/internal/config"

// Ladder is tempering by fixed, increasing inverse temperatures, the last of which is 1. The estimate of the evidence is
// unbiased if the moves are fixed too.
type Ladder []float64

// Start is the prior.
func (Ladder) Start(int) (Stage, bool) { return Stage{}, true }

// Next is the next rung.
func (l Ladder) Next(st *State) (Stage, error) { return Stage{Lambda: l[st.K]}, nil }

// Done is true on the last rung.
func (l Ladder) Done(st *State) bool { return st.K >= len(l) }

// Progress is λ.
func (Ladder) Progress(st *State) float64 { return st.Lambda }

// Budget is 0.
func (Ladder) Budget(*State) int { return 0 }

// AnnealsIn is false.
func (Ladder) AnnealsIn() bool { return false }

// Check notes impossible settings.
func (l Ladder) Check(f *config.Faults) {
	last := 0.0
	for i, lambda := range l {
		f.If(!(lambda > last && lambda <= 1), "", "inverse temperature %d is %v, not above %v and at most 1", i, lambda, last)
		last = lambda
	}
	f.If(last != 1, "", "the last inverse temperature is %v, not 1", last)
}
