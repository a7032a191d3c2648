package smc

import "github.com/starling-smc/starling/internal/config"

// Occasion says at which iterations resampling takes place.
type Occasion interface {
	// Due reports whether to resample a population with this effective sample size.
	Due(ess float64, particles int) bool
	// Ratio is the share of the particles below which the effective sample size triggers resampling; 0 if it has no
	// influence.
	Ratio() float64
}

// Occasions lists when to resample.
var Occasions = config.Table[Occasion]{
	{Name: "always", Part: Always{}},
	{Name: "never", Part: Never{}},
	{Name: "ess", Part: BelowHalf},
}

// BelowHalf is an effective sample size below half the particles, the occasion of paths that name no other.
const BelowHalf = BelowRatio(0.5)

// Always is every iteration.
type Always struct{}

// Due is true.
func (Always) Due(float64, int) bool { return true }

// Ratio is 0.
func (Always) Ratio() float64 { return 0 }

// Never does not resample.
type Never struct{}

// Due is false.
func (Never) Due(float64, int) bool { return false }

// Ratio is 0.
func (Never) Ratio() float64 { return 0 }

// BelowRatio resamples if the effective sample size is below this share of the particles.
type BelowRatio float64

// Due is ESS < ratio·J, strictly.
func (r BelowRatio) Due(ess float64, particles int) bool { return ess < float64(r)*float64(particles) }

// Ratio is that share.
func (r BelowRatio) Ratio() float64 { return float64(r) }

// Check notes impossible settings.
func (r BelowRatio) Check(f *config.Faults) { f.Share("", float64(r)) }
