package smc

import "github.com/starling-smc/starling/mcmc"

// Stage is one target of a path: the likelihood of the examples in Rows to the power Lambda, times the likelihood of the
// annealed examples to the power Mu, times the prior.
type Stage struct {
	Lambda   float64 // λ: an inverse temperature 0…1, or the scale N/n of a batch
	Mu       float64 // μ: 1, or the scale of a batch; 0 switches annealed examples off
	Rows     Rows
	Annealed int // examples 0…Annealed−1 of the order count with power Mu; none of them is in Rows
}

// logLik returns the logarithm of particle j's likelihood to the powers of the stage, from the cache of p.
func (s Stage) logLik(p *mcmc.Population, j int) float64 { return p.LogLik(s.Lambda, s.Mu, j) }

// Rows are the examples at positions From to To−1 of the run's order: an endless sequence of random permutations of all
// examples. The zero value is all examples in their own order.
type Rows struct{ From, To int }

// size returns the number of examples; n is the number of all examples.
func (r Rows) size(n int) int {
	if r == (Rows{}) {
		return n
	}
	return r.To - r.From
}
