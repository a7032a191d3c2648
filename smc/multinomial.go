package smc

// Multinomial draws J independent ancestors. They are in the order of the draws.
type Multinomial struct{}

// Ancestors draws.
func (Multinomial) Ancestors(w []float64, uniform func() float64, ancestors []int32) {
	find := newFinder(w)
	for i := range ancestors {
		ancestors[i] = find.at(uniform())
	}
}
