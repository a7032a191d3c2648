package mcmc

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Mutations is the number of moves in an iteration. In a config it is a number, {max: 50} or {eta: 0.05, max: 50}.
//
// With Eta the moves end at the smallest m ≥ 2 for which |dist_m − dist_{m−1}| ≤ Eta·dist_{m−1} and dist_m > 0, where
//
//	dist_m = (1/J) Σ_j |θ_j^m − θ_j^0|₂
//
// (scalable-bayesian-monte-carlo, Appendix D). The zero value is one move; under adaptive tempering, with moves that accept or reject, it is
// {Max: 50}.
type Mutations struct {
	// Count is the number of moves; 0: 1, unless Max or Eta is set.
	Count int `yaml:",short"`

	// Max is the most moves. Alone it makes the number adaptive: moves end when the particles are far enough
	// from where the iteration began.
	Max int `yaml:"max,omitempty,nonzero"` // 0 with Eta: 50

	// Eta makes the number adaptive, too: moves end when one more changes the particles' mean distance from where the iteration began by no
	// more than this share.
	Eta float64 `yaml:"eta,omitempty,nonzero"` // scalable-bayesian-monte-carlo, Appendix D
}

const (
	mostMutations   = 50 // the default of Max
	fewestMutations = 4  // of an adaptive number that ends with travel
)

// UntilTravelled is the adaptive number of moves of which adaptive tempering makes the default.
var UntilTravelled = Mutations{Max: mostMutations}

// Defaults sets Max to 50 beside Eta.
func (m *Mutations) Defaults() {
	if m.Eta != 0 {
		def(&m.Max, mostMutations)
	}
}

// Check notes impossible settings.
func (m Mutations) Check(f *config.Faults) {
	if !m.Adaptive() {
		f.If(m.Count < 0, "", "want at least 1, have %d", m.Count)
		f.If(m.Count > rng.MaxMutations, "", "want below %d, have %d", rng.MaxMutations+1, m.Count)
		return
	}
	f.If(m.Count != 0, "", "a fixed number of %d excludes an adaptive one, eta and max: want one of them", m.Count)
	f.If(m.Eta != 0 && !(m.Eta > 0) || math.IsInf(m.Eta, 1), "eta", "want a number above 0, have %.12g", m.Eta)
	least := 2
	if m.Eta == 0 {
		least = fewestMutations
	}
	f.If(m.Max != 0 && m.Max < least, "max", "want at least %d, have %d", least, m.Max)
	f.If(m.Max > rng.MaxMutations, "max", "want below %d, have %d", rng.MaxMutations+1, m.Max)
}

// Adaptive reports whether the number depends on how far particles go.
func (m Mutations) Adaptive() bool { return m.Eta != 0 || m.Max != 0 }

// Limit is the largest number of moves.
func (m Mutations) Limit() int {
	switch {
	case !m.Adaptive():
		return max(1, m.Count)
	case m.Max == 0:
		return mostMutations
	}
	return m.Max
}

// Enough reports whether mutation made, counted from 1, is the last one by Eta, after displacements dist_{m−1} and dist_m.
func (m Mutations) Enough(made int, before, now float64) bool {
	return m.Eta > 0 && made >= 2 && now > 0 && math.Abs(now-before) <= m.Eta*before
}

// def sets a setting that is zero.
func def[T comparable](setting *T, value T) {
	var zero T
	if *setting == zero {
		*setting = value
	}
}
