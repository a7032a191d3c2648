package smc

import "math"

// Residual makes ⌊J·W_j⌋ copies deterministically and draws the rest as Multinomial does.
type Residual struct{}

// Ancestors draws.
func (Residual) Ancestors(w []float64, uniform func() float64, ancestors []int32) {
	certain, rest := residual(w, len(ancestors))
	i := 0
	for j, copies := range certain {
		for range copies {
			ancestors[i] = int32(j)
			i++
		}
	}
	Multinomial{}.Ancestors(rest, uniform, ancestors[i:])
}

// residual splits n·w into whole copies and the probabilities of the remaining draws.
func residual(w []float64, n int) (copies []int, rest []float64) {
	copies, rest = make([]int, len(w)), make([]float64, len(w))
	left := n
	for j, v := range w {
		whole := math.Floor(float64(n) * v)
		copies[j] = min(int(whole), left) // weights that add up to a little more than 1 must not give n+1 copies
		left -= copies[j]
		rest[j] = max(0, float64(float64(n)*v)-whole)
	}
	for j := range rest {
		rest[j] /= float64(max(1, left))
	}
	return copies, rest
}
