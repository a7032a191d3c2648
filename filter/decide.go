package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

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

// decider decides on the proposals of one chain.
type decider interface {
	// decide decides on the chain's proposal y, which differs from x in a block alone. logR is the right side, or what is known of it.
	decide(c *chain, b ssm.Block, logU, rest float64) (ok bool, logR float64)
	// keep makes the proposal that was accepted last the state of the likelihood.
	keep(c *chain)
	// expanded says that the likelihood has a new x⁺.
	expanded(c *chain)
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

// decide decides on the proposal y, which differs from x in a block alone. rest is the logarithm of the ratio without the
// measurements. NaN and −Inf are refused: a proposal without a likelihood, or without a density.
func (c *chain) decide(s *ssm.Stream, b ssm.Block, rest float64, r *rate) (ok bool, logR float64) {
	logU := rng.Log(s.Float64()) // drawn in any case, so that all Decisions see the same numbers
	if logR = math.Inf(-1); rest > logR {
		ok, logR = c.decider.decide(c, b, logU, rest)
	}
	c.count(ok, r)
	return ok, logR
}

// accepts decides on log r without the measurements.
func (c *chain) accepts(s *ssm.Stream, logR float64, r *rate) bool {
	ok := logR >= 0 || rng.Log(s.Float64()) < logR
	c.count(ok, r)
	return ok
}

// count counts a decision.
func (c *chain) count(accepted bool, r *rate) {
	if c.burning {
		return
	}
	r.made++
	if accepted {
		r.accepted++
	}
}

// move makes the proposal y, which was accepted, the state.
func (c *chain) move() {
	c.x, c.y = c.y, c.x
	c.decider.keep(c)
}
