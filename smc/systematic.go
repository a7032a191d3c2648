package smc

// Systematic draws one uniform number u: ancestors are at the positions (i+u)/J.
type Systematic struct{}

// Ancestors draws.
func (Systematic) Ancestors(w []float64, uniform func() float64, ancestors []int32) {
	u, n := uniform(), float64(len(ancestors))
	find := newFinder(w)
	for i := range ancestors {
		ancestors[i] = find.at((float64(i) + u) / n)
	}
}
