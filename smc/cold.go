package smc

import (
	"cmp"
	"math"

	"github.com/starling-smc/starling/internal/config"
)

// A cold posterior of temperature T < 1 has likelihood and prior both to the power 1/T (scalable-bayesian-monte-carlo, section 2):
//
//	π(θ) ∝ (L(θ) p(θ))^{1/T}.
//
// A sampler takes it as L^λ × prior like any target: the prior is p^{1/T}, normalised (bnn.Cold), and the path ends at λ = 1/T. The product of the
// weights on the way is then no evidence of a model.

// Coolable is a path that can lead to a cold posterior.
type Coolable interface {
	// Cooled is the path to the cold posterior of a temperature. The sampler's prior must be that of the cold posterior.
	Cooled(temperature float64) Path
}

// Cooled is a path to the posterior of a temperature; 0 and 1 are the posterior, and the path as it is. ok is false for one that leads to no
// other.
func Cooled(path Path, temperature float64) (cooled Path, ok bool) {
	if temperature == 0 || temperature == 1 {
		return path, true
	}
	if path, ok := path.(Coolable); ok {
		return path.Cooled(temperature), true
	}
	return path, false
}

// powerOf is λ at the end of a path that is set to a power.
func powerOf(power float64) float64 { return cmp.Or(power, 1) }

// checkPower refuses what is no power of a cold posterior.
func checkPower(power float64, f *config.Faults) {
	f.If(power != 0 && !(power >= 1) || math.IsInf(power, 1), "", "want a power of at least 1 at the end, have %v", power)
}
