package filter

import "github.com/starling-smc/starling/ssm"

// Decision says how a chain decides on a proposal x*: it accepts if
//
//	log u < Σ_i [log p(z_i | x*) − log p(z_i | x)] + rest,   u uniform,
//
// where rest is what does not depend on the measurements.
type Decision interface {
	// begin returns the decider of a chain, whose likelihood has the chain's state.
	begin(c *chain) decider
	// order is that of the series about x⁺ that decisions need; 0: none.
	order() int
}

// AllRows evaluates all measurements for each decision, but for those that a likelihood knows to change nothing.
type AllRows struct{}

func (AllRows) begin(*chain) decider { return AllRows{} }

func (AllRows) order() int { return 0 }

func (AllRows) decide(c *chain, b ssm.Block, logU, rest float64) (bool, float64) {
	logR := c.try(b) + rest
	return logU < logR, logR // NaN is refused
}

func (AllRows) keep(c *chain) { c.like.Keep() }

func (AllRows) expanded(*chain) {}
