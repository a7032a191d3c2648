package bnn

import "slices"

// Combination is a weighting of islands; nil is Equal.
type Combination interface {
	// LogWeights returns the log-weight log ω_p of every island, up to a constant, from the islands' log evidences.
	LogWeights(logEvidence []float64) []float64
	// NeedsEvidence reports whether the islands need comparable estimates of the evidence.
	NeedsEvidence() bool
	// String describes the weighting: "equally".
	String() string
}

// Equal gives all islands the same weight, ω_p = 1/P.
type Equal struct{}

// Evidence weights each island by its evidence, ω_p ∝ Z_p. It is also consistent as the number of islands grows.
type Evidence struct{}

// LogWeights returns zeros.
func (Equal) LogWeights(logEvidence []float64) []float64 { return make([]float64, len(logEvidence)) }

// NeedsEvidence is false.
func (Equal) NeedsEvidence() bool { return false }

func (Equal) String() string { return "equally" }

// LogWeights returns the log evidences.
func (Evidence) LogWeights(logEvidence []float64) []float64 { return slices.Clone(logEvidence) }

// NeedsEvidence is true.
func (Evidence) NeedsEvidence() bool { return true }

func (Evidence) String() string { return "by evidence" }
