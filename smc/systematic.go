package smc

import "github.com/starling-smc/starling/internal/weights"

// Systematic draws one uniform number u: ancestors are at the positions (i+u)/J.
type Systematic struct{}

// Ancestors draws.
func (Systematic) Ancestors(w []float64, uniform func() float64, ancestors []int32) {
	weights.Systematic(w, uniform(), ancestors)
}
