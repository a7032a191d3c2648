package smc

import "github.com/starling-smc/starling/internal/weights"

// Stratified draws a uniform number u_i for each ancestor, which is at the position (i+u_i)/J.
type Stratified struct{}

// Ancestors draws.
func (Stratified) Ancestors(w []float64, uniform func() float64, ancestors []int32) {
	n, find := float64(len(ancestors)), weights.NewFinder(w)
	for i := range ancestors {
		ancestors[i] = find.At((float64(i) + uniform()) / n)
	}
}
