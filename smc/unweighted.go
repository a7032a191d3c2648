package smc

// Unweighted keeps the weights of all particles equal. It is for moves that no weight corrects, such as mcmc.SVGD, and for chains.
type Unweighted struct{}

// Traits say that weights are equal.
func (Unweighted) Traits() WeightTraits {
	return WeightTraits{Afresh: true, Equal: true, Untargeted: true}
}

// After returns nil.
func (Unweighted) After(Moved) []float64 { return nil }
