package smc

import "github.com/starling-smc/starling/internal/weights"

// Multinomial draws J independent ancestors. They are in the order of the draws.
type Multinomial struct{}

// Ancestors draws.
func (Multinomial) Ancestors(w []float64, uniform func() float64, ancestors []int32) {
	find := weights.NewFinder(w)
	for i := range ancestors {
		ancestors[i] = find.At(uniform())
	}
}
