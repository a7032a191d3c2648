package smc

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
)

// Ladder is tempering by given temperatures: the target of iteration k is likelihood^λ_k × prior, with 0 < λ_1 < … < λ_K = 1.
//
// The particles have no say in the targets. If the moves are fixed as well, the estimate of the evidence is unbiased for any number of
// particles: the mean of Z over runs is Z. Tempering chooses its temperatures by the particles that it weighs, which biases log Z by the
// order of 1/J (Beskos, Jasra, Kantas, Thiery 2016). A ladder that comes from a separate run is free of this bias.
type Ladder struct {
	Temperatures []float64 `yaml:"temperatures,short,required"` // the powers of the likelihood, one an iteration: increasing, above 0, the last 1
}

var _ Path = Ladder{}

func (l Ladder) String() string {
	return fmt.Sprintf("SMC on a ladder of %d temperatures", len(l.Temperatures))
}

// Check notes impossible settings.
func (l Ladder) Check(f *config.Faults) {
	last := 0.0
	for i, lambda := range l.Temperatures {
		f.If(!(lambda > last), fmt.Sprint("temperatures.", i), "temperatures must increase: want a number above %v, have %v", last, lambda)
		last = lambda
	}
	f.If(!(last == 1), "temperatures", "want 1 at the end, as in [0.01, 0.1, 1]: there the target is the posterior")
}

// Start is the prior.
func (Ladder) Start(int) (Stage, bool) { return Stage{}, true }

// Next is the next temperature.
func (l Ladder) Next(st *State) (Stage, error) { return Stage{Lambda: l.Temperatures[st.K]}, nil }

// Done is true at the last temperature.
func (l Ladder) Done(st *State) bool { return st.K >= len(l.Temperatures) }

// Progress is the share of the temperatures that are done.
func (l Ladder) Progress(st *State) float64 { return float64(st.K) / float64(len(l.Temperatures)) }

// Traits are those of Tempering, but no step asks for particles, and one may cost much or little: so they are resampled below half of them.
func (Ladder) Traits() PathTraits { return PathTraits{Gradual: true, Mutations: mcmc.UntilTravelled} }

// Curves is λ.
func (Ladder) Curves(n int) []Curve {
	curves := Tempering{}.Curves(n)
	curves[0].Caption = "The power rises from the prior, near 0, to the posterior at 1, by temperatures that were given."
	return curves
}

// Work counts temperatures.
func (l Ladder) Work(info Info, _ float64, _ int) (done, all float64) {
	return float64(info.K), float64(len(l.Temperatures))
}
