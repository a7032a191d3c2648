package method

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
)

const (
	mixed    = 1.1 // split R-hat above which chains do not agree
	outlying = 10  // distance of a chain's end from the median of all, in median absolute deviations, above which it is an outlier
)

// chainFindings reports where chains end, the share of moves that they accepted after their step was frozen, which chains
// hardly moved, and whether the chains agree.
func (s *Sampling) chainFindings(trace []TraceLine) (found []finding.Finding) {
	chains := byIsland(trace)
	if len(chains) == 0 {
		return nil
	}
	var ends []float64
	var late [][]float64 // log-likelihoods of the second half
	least, last := newExtent(), newExtent()
	for _, lines := range chains {
		half, second := secondHalf(lines), []float64(nil)
		for _, l := range half {
			second = append(second, float64(l.LogLikelihood))
		}
		accepted := acceptance(half)
		end := float64(lines[len(lines)-1].LogLikelihood)
		ends, late = append(ends, end), append(late, second)
		least.add(accepted)
		last.add(end)
	}
	found = append(found, finding.ChainsEnd(last.low, last.high, least.low, least.high))
	m := s.motion(trace)
	for _, c := range m.stuck {
		at := slices.IndexFunc(chains, func(lines []TraceLine) bool { return lines[0].Island == c })
		found = append(found, finding.ChainStuck(c, acceptance(secondHalf(chains[at])), ends[at], s.Step))
	}
	if m.still != nil {
		found = append(found, finding.ChainsStill(m.still, chainStillBelow, s.Step))
	}
	if odd := outliers(ends); odd != nil {
		found = append(found, finding.ChainsOutlying(odd))
	}
	switch r := mcmc.SplitRHat(late); {
	case math.IsNaN(r): // too short for an R-hat
	case r > mixed:
		found = append(found, finding.ChainsDisagree(r))
	default:
		found = append(found, finding.ChainsAgree(r))
	}
	return found
}

// outliers lists the chains that end far from the median of all.
func outliers(ends []float64) (odd []int) {
	if len(ends) < 4 {
		return nil
	}
	middle := numeral.Median(ends)
	away := make([]float64, len(ends))
	for i, e := range ends {
		away[i] = math.Abs(e - middle)
	}
	typical := numeral.Median(away)
	for i, d := range away {
		if d > outlying*typical {
			odd = append(odd, i)
		}
	}
	return odd
}
