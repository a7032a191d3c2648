package mcmc

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// Mutations is the number of moves in an iteration. In a config it is a number, or {eta: 0.05, max: 50}.
type Mutations struct {
	// Count is the number of moves; 0: 1, unless Eta is set.
	Count int `yaml:",short"`

	// Eta, if positive, makes the number adaptive (scalable-bayesian-monte-carlo, Appendix D): with
	//
	//	dist_m = (1/J) Σ_j |θ_j^m − θ_j^0|₂
	//
	// moves end at the smallest m ≥ 2 for which |dist_m − dist_{m−1}| ≤ Eta·dist_{m−1}.
	Eta float64 `yaml:"eta,omitempty,nonzero"`
	Max int     `yaml:"max,omitempty,nonzero"` // largest adaptive number; 0: 50
}

// mostMutations is the default of Max.
const mostMutations = 50

// Defaults makes the number adaptive with Eta .05 and Max 50 where one of the two is set.
func (m *Mutations) Defaults() {
	if m.Count != 0 || m.Eta == 0 && m.Max == 0 {
		return
	}
	def(&m.Eta, 0.05)
	def(&m.Max, mostMutations)
}

// forPopulation applies the default: 10 moves if nothing is set.
func (m Mutations) forPopulation() Mutations {
	if m == (Mutations{}) {
		return Mutations{Count: 10}
	}
	m.Defaults()
	return m
}

// Check notes impossible settings.
func (m Mutations) Check(f *config.Faults) {
	if m.Eta == 0 && m.Max == 0 {
		f.If(m.Count < 0, "", "want at least 1, have %d", m.Count)
		f.If(m.Count > rng.MaxMutations, "", "want below %d, have %d", rng.MaxMutations+1, m.Count)
		return
	}
	f.If(m.Count != 0, "", "a fixed number of %d excludes an adaptive one, eta and max: want one of them", m.Count)
	f.If(m.Eta != 0 && !(m.Eta > 0) || math.IsInf(m.Eta, 1), "eta", "want a number above 0, have %.12g", m.Eta)
	f.If(m.Eta == 0, "eta", "want a number above 0 beside max")
	f.If(m.Max != 0 && m.Max < 2, "max", "want at least 2, have %d", m.Max)
	f.If(m.Max > rng.MaxMutations, "max", "want below %d, have %d", rng.MaxMutations+1, m.Max)
}

// Limit is the largest number of moves.
func (m Mutations) Limit() int {
	switch {
	case m.Eta == 0:
		return max(1, m.Count)
	case m.Max == 0:
		return mostMutations
	}
	return m.Max
}

// Enough reports whether mutation made, counted from 1, is the last one, after displacements dist_{m−1} and dist_m.
func (m Mutations) Enough(made int, before, now float64) bool {
	if made >= m.Limit() {
		return true
	}
	return m.Eta > 0 && made >= 2 && math.Abs(now-before) <= m.Eta*before
}

// def sets a setting that is zero.
func def[T comparable](setting *T, value T) {
	var zero T
	if *setting == zero {
		*setting = value
	}
}

// checkNoMutations refuses Mutations for chains, which move until the run's budget is spent.
func checkNoMutations(f *config.Faults, m Mutations) {
	f.If(m != Mutations{}, "mutations", "belongs to smc; chains move for their epochs")
}
