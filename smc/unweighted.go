package smc

// Unweighted keeps the weights of all particles equal. It is for moves that no weight corrects, such as mcmc.SVGD, and for chains.
type Unweighted struct{}

// Early is false.
func (Unweighted) Early() bool { return false }

// After returns nil.
func (Unweighted) After(Moved) []float64 { return nil }

// Afresh is true.
func (Unweighted) Afresh() bool { return true }

// Weighs is false.
func (Unweighted) Weighs() bool { return false }
