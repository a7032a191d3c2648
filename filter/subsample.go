package filter

import (
	"cmp"

	"github.com/starling-smc/starling/internal/config"
)

// Subsample decides by some of the measurements, as many as it takes (AS-SMCMC; sequential-mcmc-massive-data, section 2.2, Algorithms 2 and 3
// corrected). With the Taylor series of the log-likelihood about x⁺ (ssm.Expandable), whose sums over all measurements are known, it accepts
// x* if
//
//	Σ_i d_i/n > ψ,   ψ = (log u − rest − proxy(x*) + proxy(x))/n,   proxy(x) = g·δ [+ δᵀ H δ/2],   δ = x − x⁺,
//
// where d_i = l_i(x*) − l_i(x) − proxy_i(x*) + proxy_i(x) are the residuals of n rows. They are drawn without replacement until the stopping rule
// (bernstein.go) knows on which side of ψ their mean is, anew for each decision. It is wrong with a probability of at most delta.
//
// With r = |x − x⁺|, r* = |x* − x⁺|, s = |x* − x|, and Y the bound on the derivatives of order + 1 of each l_i, no two residuals differ by
// more than R, in units of the likelihood's own where it has some (ssm.Scaled). Each of two bounds is that of the remainder at both ends (eq. 19), and that of its slope on the way:
//
//	order 1: R = min(Y (r² + r*²), Y s (r + r*)),   order 2: R = min(Y/3 (r³ + r*³), Y/3 s (r² + r r* + r*²)).
//
// A decision with few rows to draw is no cheaper than the sum over all of them, which vector instructions make fast. So one that does not
// end within the share give_up of its rows is made by that sum. One that would need more even if all residuals were alike goes there at once:
// |m − ψ| is below c of the last round with V = 0, for the mean residual m that the quadratic term gives, which is 0 for order 2. So do most
// draws from the prediction, whose range is large.
//
// The sum is that of AllRows: Try of the same likelihood at the same state. Which of the two makes a decision depends on neither the proposals'
// random numbers nor on log u's: where all decisions agree, the chains have the same bits. Only a walk that learns its steps has others, since it
// learns from log r, of which a decision by some rows has an estimate.
type Subsample struct {
	Order  int     `yaml:"order"`   // of the series: 1, the paper's, or 2, which has the quadratic term
	Rows   Rows    `yaml:"rows"`    // rows that are drawn: near, those within reach of what moves, or all
	Delta  float64 `yaml:"delta"`   // δ, the probability of a decision that all measurements would not make
	Power  float64 `yaml:"power"`   // p, by which δ is shared out among the rounds
	Growth float64 `yaml:"growth"`  // γ, by which a round looks at more rows than the one before
	GiveUp float64 `yaml:"give_up"` // share of the rows after which the sum over all of them decides
}

// Rows says which rows a decision draws from.
type Rows string

const (
	NearRows Rows = "near" // those of the neighbourhood of the block that moves, where the likelihood knows it (ssm.Localised)
	EveryRow Rows = "all"  // all
)

// Defaults implements config.Defaulter.
func (m *Subsample) Defaults() {
	m.Order, m.Rows = cmp.Or(m.Order, 2), cmp.Or(m.Rows, NearRows)
	m.Delta, m.Power, m.Growth, m.GiveUp = cmp.Or(m.Delta, 0.1), cmp.Or(m.Power, 2), cmp.Or(m.Growth, 1.2), cmp.Or(m.GiveUp, 0.01)
}

// Check implements config.Checker.
func (m Subsample) Check(f *config.Faults) {
	f.If(m.Order != 1 && m.Order != 2, "order", "want 1 or 2, have %d", m.Order)
	f.OneOf("rows", string(m.Rows), string(NearRows), string(EveryRow))
	f.If(!(m.Delta > 0 && m.Delta < 1), "delta", "want a probability above 0 and below 1, have %.12g", m.Delta)
	f.If(!(m.Power > 1 && m.Power <= 100), "power", "want a number above 1 and up to 100, have %.12g", m.Power)
	f.If(!(m.Growth >= 1.01 && m.Growth <= 100), "growth", "want a number from 1.01 to 100, have %.12g", m.Growth)
	f.If(!(m.GiveUp > 0 && m.GiveUp <= 1), "give_up", "want a share above 0 and up to 1, have %.12g", m.GiveUp)
}

// Examples implements config.Exampler.
func (Subsample) Examples() []string { return []string{"{order: 1, rows: all, give_up: 1}"} }

func (m Subsample) order() int { return m.Order }

func (m Subsample) begin(c *chain) decider {
	return &subsampling{Subsample: m, c: c, rule: bernstein{delta: m.Delta, power: m.Power, growth: m.Growth}}
}
